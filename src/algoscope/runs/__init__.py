"""Run folders: what was trained, with everything that is needed to know how.

from algoscope import runs

run = runs.open("runs/bfs")
run.config, run.metrics.loss, run.results["test"]["bfs"]
ensemble = runs.load_ensemble("runs/bfs")  # ensemble[k] is an ordinary network
"""

from algoscope.files import RunError
from algoscope.runs.description import State
from algoscope.runs.folder import Metrics, Run, has_begun, list_runs, load_ensemble, survey
from algoscope.runs.folder import open_run as open

__all__ = [
    "Metrics",
    "Run",
    "RunError",
    "State",
    "has_begun",
    "list_runs",
    "load_ensemble",
    "open",
    "survey",
]
