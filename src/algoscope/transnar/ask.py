"""Asking: one prompt, the model's answer, and what a solver says of it."""

from typing import Any, NamedTuple

import jax
import numpy as np

from algoscope.tasks import Batch, text
from algoscope.tasks.text import Example, PromptError, Reading, Scores
from algoscope.transnar.generation import check_room, generate
from algoscope.transnar.mechanism import TokenReads, token_reads
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import reason
from algoscope.transnar.scores import FIELDS
from algoscope.transnar.text_dataset import written
from algoscope.transnar.tokenizer import tokenizer
from algoscope.transnar.tower_training import TrainedTower, view_of

_ROOM = 256
"""Tokens that an answer to a prompt of unknown form may have."""
_SPARE = 16


class Answer(NamedTuple):
    text: str
    """What the model wrote."""
    fault: str | None
    """What is wrong with the prompt; then nothing can be read or checked."""
    right: str | None
    """The reference algorithm's answer."""
    reading: Reading | None
    scores: Scores | None
    problem: Batch | None = None
    """The prompt's, solved by the reference algorithm."""
    reads: TokenReads | None = None
    """A hybrid's, if asked for."""

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {"answer": self.text, "fault": self.fault, "right": self.right}
        if self.reading is not None and self.scores is not None:
            content["arrays"] = {name: a.tolist() for name, a in self.reading.arrays.items()}
            content["scores"] = {name: getattr(self.scores, name) for name in FIELDS}
        return content


def ask(trained: TrainedTower, prompt: str, seed: int = 0, *, reads: bool = False) -> Answer:
    """A base Transformer answers any text; a hybrid needs a problem that has a graph. `reads` asks
    what a hybrid reads while it writes each token, too."""
    tokens = tokenizer().encode(prompt)
    if not tokens:
        raise PromptError("prompt: got an empty text, needed a problem of CLRS-Text")
    check_room(trained.tower, len(tokens), 1)
    key = jax.random.key(seed)
    try:
        problem = text.parse(prompt)
    except PromptError as error:
        if trained.reasoner is not None:
            raise
        room = min(_ROOM, trained.tower.config.context - len(tokens))
        [answered] = generate(trained.tower, [tokens], room, key=key)
        return Answer(tokenizer().decode(answered), str(error), None, None, None)
    batch = problem.solved()
    right = text.write(batch, 0, problem.traces).answer
    graph = None
    if trained.reasoner is not None:
        dataset = written(batch, problem.nodes)
        [states] = reason(trained.reasoner, [dataset], view_of(trained.config))
        graph = graph_of([(states, np.arange(1))], dataset.nodes)
    room = len(tokenizer().encode(right)) + _SPARE
    [answered] = generate(trained.tower, [tokens], room, graph, key=key)
    answer = tokenizer().decode(answered)
    example = Example(problem.task.name, problem.nodes, problem.traces, prompt, right)
    reading = text.read(example.task, answer, example.nodes, example.traces)
    scores = text.score(example, answer)
    kept = None
    if reads and graph is not None and answered:
        kept = token_reads(trained.tower, tokens, answered, room, graph, key=key)
    return Answer(answer, None, right, reading, scores, batch, kept)
