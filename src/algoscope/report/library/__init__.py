"""The library of programs as a page: texts, runs step by step, weights and certificates."""

from algoscope.report.library.page import write_library

__all__ = ["write_library"]
