"""Reports: what was found out about a run, as a page that one can open, send and put on a website.

from algoscope import report, runs

report.report([runs.open("runs/bfs")])  # the path of runs/bfs/report.html
report.findings(runs.open("runs/bfs"), "bfs").words  # {"seed 0": "shortcut", …}
"""

from algoscope.report.examine import findings
from algoscope.report.findings import Findings
from algoscope.report.page import report

__all__ = ["Findings", "findings", "report"]
