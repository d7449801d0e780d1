"""How a run, or the page of a user's own models, was made: where, with what, for how long, and by
which commands."""

import dataclasses
import json
import shlex
from collections.abc import Mapping
from typing import Any

from algoscope import falsify, training
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
    moved = then and any(then[name] != place[name] for name in ("commit", "device", "system"))
    examined_by = f"commit {then['commit']}, {then['device']}, {then['system']}" if moved else ""
    seeds = " to ".join(map(str, dict.fromkeys((findings.seeds[0], findings.seeds[-1]))))
    path = shlex.quote(str(run.path))
    judged = [f"algoscope judge {path}"] if findings.program else []
    commands = [training_command(run), *judged, f"algoscope report {path}"]
    options = [[name, json.dumps(value)] for name, value in run.options.items()]
    return (
        facts(
            {
                "run": run.name,
                "created": run.created,
                "training took": f"{run.seconds:.0f} s for all seeds",
                "examination took": f"{findings.seconds:.0f} s",
                "device": f"{place['device']} ({place['platform']}, {place['devices']})",
                "system": _system(place),
                "Algoscope": f"{run.description['version']}, commit {place['commit']}",
                "examined by": examined_by,
                "versions": ", ".join(f"{name} {v}" for name, v in versions.items()),
                "seeds": f"{seeds} of networks, {findings.problem_seed} of the examination's "
                "problems",
                "notes": "; ".join(run.notes),
            }
        )
        + element("pre", escape("\n".join(commands)), tabindex="0")
        + element(
            "details",
            element("summary", "The whole configuration"),
            table(Table("", ["option", "value"], options)),
        )
    )


def own_section(files: str, findings: Findings) -> str:
    """The same of a user's own models, which the files define. HTML."""
    place = findings.environment
    versions = {name: version for name, version in place["packages"].items() if version}
    command = f"algoscope report {files} --task {shlex.quote(findings.task)}"
    if findings.problems != falsify.PROBLEMS:
        command += f" --problems {findings.problems}"
    if findings.problem_seed:
        command += f" --problem-seed {findings.problem_seed}"
    return facts(
        {
            "files": files,
            "examination took": f"{findings.seconds:.0f} s",
            "device": f"{place['device']} ({place['platform']}, {place['devices']})",
            "system": _system(place),
            "Algoscope": f"{place['algoscope']}, commit {place['commit']}",
            "versions": ", ".join(f"{name} {v}" for name, v in versions.items()),
        }
    ) + element("pre", escape(command), tabindex="0")


def _system(place: Mapping[str, Any]) -> str:
    vectors = f", {place['vectors']}" if "vectors" in place else ""
    return f"{place['system']}{vectors}, Python {place['python']}"


def training_command(run: Run) -> str:
    """The options that differ from the defaults."""
    config, recipe = training.config_of(run), Recipe()
    options: dict[str, Any] = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(TrainingOptions)
        if field.name != "tasks" and getattr(config, field.name) != field.default
    }
    if config.recipe.sizes != recipe.sizes:
        options["sizes"] = config.recipe.sizes
    if config.recipe.count != recipe.count:
        options["batch"] = config.recipe.count
    if config.network != NetworkConfig():
        options["network"] = [
            f"{name}={json.dumps(value)}"
            for name, value in vars(config.network).items()
            if value != getattr(NetworkConfig(), name)
        ]
    words = ["algoscope", "train", *config.tasks]
    for name, value in options.items():
        values = value if isinstance(value, (tuple, list)) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join([*words, "--out", str(run.path)])
