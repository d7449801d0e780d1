"""`algoscope llm train-navigator` and `train-learner`: small language models that navigate."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Any

from algoscope.configuration import shared_fields
from algoscope.llm.navigator_config import FORM, LearnerConfig, NavigatorConfig
from algoscope.verbs.output import Answer, Verb

if TYPE_CHECKING:
    from algoscope.llm.prompts import Item


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainNavigator(NavigatorConfig, Verb):
    """Train a small Llama that really navigates, and save it in Hugging Face's format."""

    out: pathlib.Path
    """Write the model to this new folder."""
    items: int = 600
    """Number of unseen questions that it is tested on."""

    def __post_init__(self) -> None:
        """Options are checked when a configuration is made of them, which gives a plain error."""

    def run(self) -> Answer:
        from algoscope import files

        files.check_new(self.out)
        from algoscope.llm import navigator

        config = NavigatorConfig(**shared_fields(NavigatorConfig, self))

        def report(progress: navigator.Progress, _model: Any) -> None:
            self.output.step(
                progress.step,
                self.steps,
                f"loss {progress.loss:.4f}, right Yes and No {progress.accuracy:.3f}, "
                f"right last hops {progress.hops:.3f}, {progress.seconds:.0f} s",
            )

        self.output.report(f"training a navigator on {self.device} into {self.out}")
        model, tokenizer, history = navigator.train(config, report)
        navigator.save(model, tokenizer, config, history, self.out)
        items = navigator.evaluation_items(self.items, config, seed=self.seed + 1_000_000)
        return _graded(self.out, items)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainLearner(LearnerConfig, Verb):
    """Teach a small GPT-2 to navigate by questions and answers alone, and save it in Hugging Face's
    format."""

    out: pathlib.Path
    """Write the model to this new folder."""
    items: int = 600
    """Number of unseen questions that it is tested on."""

    def __post_init__(self) -> None:
        """Options are checked when a configuration is made of them, which gives a plain error."""

    def run(self) -> Answer:
        from algoscope import files

        files.check_new(self.out)
        from algoscope.llm import learner, navigation

        config = LearnerConfig(**shared_fields(LearnerConfig, self))
        depths = tuple(range(1, self.depth + 1))
        size, seed = max(self.sizes), self.seed + 1_000_000
        items = navigation(self.items, form=FORM, size=size, depths=depths, seed=seed)

        def report(progress: learner.Progress, _model: Any) -> None:
            self.output.step(
                progress.step,
                self.steps,
                f"lesson {progress.lesson} of {config.lessons}, trees of up to {progress.size} "
                f"nodes, loss {progress.loss:.4f}, right answers {progress.learned:.3f}, "
                f"{progress.seconds:.0f} s",
            )

        self.output.report(f"training a learner on {self.device} into {self.out}")
        learner.save(learner.train(config, report), config, self.out)
        return _graded(self.out, items)


def _graded(folder: pathlib.Path, items: "list[Item]") -> Answer:
    """How good a model that was just saved is on unseen questions."""
    from algoscope import llm
    from algoscope.llm.behaviour import behaviour
    from algoscope.llm.observe import observe

    cells = behaviour(observe(llm.load(folder), items)).cells
    lines = []
    for cell in cells:
        depth = "all depths" if cell.depth is None else f"depth {cell.depth}"
        truth = "reachable" if cell.reachable else "unreachable"
        lines.append(f"{depth}, {truth}: {cell.accuracy}, n = {cell.count}")
    return Answer({"out": str(folder), "accuracy": cells}, tuple(lines))
