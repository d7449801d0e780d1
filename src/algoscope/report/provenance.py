"""How a run was made: where, with what, for how long, and by which commands."""

import dataclasses
import json
import shlex
from typing import Any

from algoscope import training
from algoscope.configuration import TrainingOptions
from algoscope.markup import element, escape
from algoscope.networks import NetworkConfig
from algoscope.report.findings import Findings
from algoscope.report.html import facts, table
from algoscope.runs import Run
from algoscope.table import Table
from algoscope.tasks import Recipe


def section(run: Run, findings: Findings) -> str:
    """HTML."""
    place, then = run.description["environment"], findings.environment
    versions = {name: version for name, version in place["packages"].items() if version}
    return "".join(
        [
            facts(
                {
                    "run": run.name,
                    "created": run.created,
                    "training took": f"{run.seconds:.0f} s for all seeds",
                    "examination took": f"{findings.seconds:.0f} s",
                    "device": f"{place['device']} ({place['platform']}, {place['devices']})",
                    "system": f"{place['system']}, Python {place['python']}",
                    "Algoscope": f"{place['algoscope']}, commit {place['commit']}",
                    "examined by": _if_other(then, place),
                    "versions": ", ".join(f"{name} {v}" for name, v in versions.items()),
                    "seeds": f"{_span(findings.seeds)} of networks, {findings.problem_seed} of the "
                    "examination's problems",
                    "notes": "; ".join(run.notes),
                }
            ),
            element("pre", escape("\n".join(commands(run, findings))), tabindex="0"),
            element(
                "details",
                element("summary", "The whole configuration"),
                table(
                    Table(
                        "",
                        ["option", "value"],
                        [[name, json.dumps(value)] for name, value in run.options.items()],
                    )
                ),
            ),
        ]
    )


def commands(run: Run, findings: Findings) -> list[str]:
    """What to type to have the same again."""
    path = shlex.quote(str(run.path))
    judged = [f"algoscope judge {path}"] if findings.program else []
    return [training_command(run), *judged, f"algoscope report {path}"]


def training_command(run: Run) -> str:
    """The options that differ from the defaults."""
    config = training.config_of(run)
    recipe = Recipe()
    options: dict[str, Any] = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(TrainingOptions)
        if field.name != "tasks" and getattr(config, field.name) != field.default
    }
    if config.recipe.sizes != recipe.sizes:
        options["sizes"] = config.recipe.sizes
    if config.recipe.count != recipe.count:
        options["batch"] = config.recipe.count
    network = [
        f"{name}={json.dumps(value)}"
        for name, value in vars(config.network).items()
        if value != getattr(NetworkConfig(), name)
    ]
    if network:
        options["network"] = network
    words = ["algoscope", "train", *config.tasks]
    for name, value in options.items():
        values = value if isinstance(value, (tuple, list)) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join([*words, "--out", str(run.path)])


def _if_other(then: dict[str, Any], before: dict[str, Any]) -> str | None:
    """Where the measuring was done, if that is not where the training was."""
    same = ("commit", "device", "system")
    if not then or all(then[name] == before[name] for name in same):
        return None
    return f"commit {then['commit']}, {then['device']}, {then['system']}"


def _span(seeds: tuple[int, ...]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
