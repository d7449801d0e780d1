"""How far what a subject does is from the algorithm, and a verdict.

from algoscope import measures

measures.judge(network, task="bfs").verdict          # runs bfs, shortcut, fails …
measures.judge(lambda batch: recording, task="bfs")  # any model that gives recordings
measures.judge(lambda batch: outputs, task="bfs")    # or answers alone
measures.judge_all(ensemble.network, task="bfs")  # every seed of an ensemble, in one pass

One module a subject: `attention_match`, `trace_match`, `probes` (hidden states),
`counterfactual`, `interchange` and `state_match` (interventions), `nulls` (what the numbers are
worth), `across` (many solutions), `landscape` (the loss around one). They are pure functions of
recordings. Which numbers decide is in `thresholds`.
"""

from algoscope.falsify import Subject
from algoscope.measures.ensembles import judge_all
from algoscope.measures.evidence import Evidence
from algoscope.measures.references import NoReferenceError
from algoscope.measures.verdict import Judgement, judge

__all__ = ["Evidence", "Judgement", "NoReferenceError", "Subject", "judge", "judge_all"]
