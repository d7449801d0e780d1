"""Algoscope: does this model run the algorithm, or a shortcut?"""

__version__ = "0.1.0"
