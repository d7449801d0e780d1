"""Reports: what was found out about a run, as a page that one can open, send and put on a website.

from algoscope import report, runs

report.report([runs.open("runs/bfs")])  # the path of runs/bfs/report.html
report.findings(runs.open("runs/bfs"), "bfs").words  # {"seed 0": "shortcut", …}
report.report_own({pathlib.Path("my_model.py"): record}, "bfs")  # the page of one's own model
"""

from algoscope.report.examine import findings
from algoscope.report.findings import Findings
from algoscope.report.page import report, report_own

__all__ = ["Findings", "findings", "report", "report_own"]
