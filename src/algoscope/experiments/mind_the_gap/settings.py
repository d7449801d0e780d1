"""Tables 3 to 8: the paper's settings, each beside the option that it is here.

Nothing is trained: what is compared are the configurations of the other experiments.
"""

import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from algoscope.experiments.experiment import Claim, Experiment, Report, Result
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import BASELINES, WITHOUT_TRACES, Arm, plan_of
from algoscope.experiments.mind_the_gap.score_tables import TABLE_9, TABLE_13, TABLE_15
from algoscope.table import Table


class Setting(NamedTuple):
    published: str
    option: str | None
    """By its dotted name in a TrainingConfig; None if we have none."""
    value: Any
    """That which is the paper's."""
    why: str = ""


TABLE_8 = {
    "algorithms": Setting("bellman_ford", "tasks", ["bellman_ford"]),
    "train_lengths": Setting("4, 7, 11, 13, 16", "recipe.sizes", [4, 7, 11, 13, 16]),
    "random_pos": Setting("True", "recipe.random_positions", True),
    "enforce_permutations": Setting("True", "recipe.permutations", "line"),
    "enforce_pred_as_input": Setting("True", "recipe.predecessors_as_inputs", True),
    "batch_size": Setting("32", "recipe.count", 32),
    "train_steps": Setting("10000", "steps", 10_000),
    "eval_every": Setting("50", "evaluate_every", 50),
    "test_every": Setting("500", None, None, "tested once, at the end, as dm-clrs 2.0.3 does"),
    "hidden_size": Setting("128", "network.width", 128),
    "nb_heads": Setting("1", "network.heads", 1),
    "nb_msg_passing_steps": Setting("1", "network.rounds", 1),
    "learning_rate": Setting("1.0000e-4", "learning_rate", 1e-4),
    "grad_clip_max_norm": Setting("1.0000", "clip", 1.0),
    "dropout_prob": Setting("0.0000", "network.dropout", 0.0),
    "hint_teacher_forcing": Setting("0.0000", "teacher_forcing", 0.0),
    "hint_mode": Setting("encoded_decoded", "network.encode_hints", True),
    "hint_repred_mode": Setting("soft", "network.hint_repred_mode", "soft"),
    "use_ln": Setting("True", "network.layer_norm", True),
    "use_lstm": Setting("False", None, None, "there is no LSTM to be switched on"),
    "encoder_init": Setting("xavier_on_scalars", "network.encoder_start", "xavier_on_scalars"),
    "processor_type": Setting("gatv2", "network.processor", "gatv2"),
    "freeze_processor": Setting("False", "freeze", []),
    "simplify_decoders": Setting("False", "network.simple_decoders", False),
    "use_edge_info": Setting("False", "network.edge_information", False),
    "use_pre_att_bias": Setting("False", "network.attention_bias", None),
    "length_generalize": Setting("True", "test_size", None),
    "regularization": Setting("False", "regularisation", 0.0),
    "regularization_weight": Setting("1.0000e-4", None, None, "the weight itself is the option"),
    "optimizer": Setting("Adam", None, None, "there is no other"),
}
_BOTH = TABLE_13.rows[1].arm
OTHERS: dict[int, tuple[Arm, tuple[str, ...], str]] = {
    3: (WITHOUT_TRACES["bfs"], ("network.encode_hints", "network.decode_hints"), "hint_mode none"),
    4: (TABLE_15.rows[0].arm, ("network.width",), "hidden_size 4"),
    5: (TABLE_9.rows[0].arm, ("regularisation",), "regularization_weight 1e-3 (and 1e-4)"),
    6: (TABLE_9.rows[4].arm, ("steps", "learning_rate"), "train_steps 50000, learning_rate 5e-5"),
    7: (
        _BOTH,
        (
            *("recipe.sizes", "network.simple_decoders", "network.edge_information"),
            *("network.attention_bias", "test_size"),
        ),
        "train_lengths 16, simplify_decoders, edge info, bias, no length_generalize",
    ),
}
"""By number of the table: an arm with its settings, in which options it differs from table 8, and
what the table says."""


def _reproduce(_preset: str, _out: pathlib.Path, _report: Report, _only: Sequence[str]) -> Result:
    return summary()


def summary() -> Result:
    ours = _flat(BASELINES["bellman_ford"])
    rows, equal = [], 0
    for name, setting in TABLE_8.items():
        value = ours.get(setting.option or "")
        same = setting.option is not None and _plain(value) == _plain(setting.value)
        equal += same
        shown = [str(setting.option or "–"), "–" if setting.option is None else _plain(value)]
        rows.append([name, setting.published, *shown, "yes" if same else setting.why or "NO"])
    known = [s for s in TABLE_8.values() if s.option is not None]
    claims = [
        Claim(
            "every setting of table 8 that is an option here has the paper's value",
            equal == len(known),
            f"{equal} of {len(known)}; {len(TABLE_8) - len(known)} more are no options",
        )
    ]
    others = []
    for number, (arm, differing, said) in OTHERS.items():
        base, mine = _flat(BASELINES[arm.task]), _flat(arm)
        found = {name: mine[name] for name in mine if mine[name] != base.get(name)}
        found = {name: value for name, value in found.items() if name != "seeds"}
        text = ", ".join(f"{name} {_plain(value)}" for name, value in found.items())
        others.append([str(number), said, arm.name, text])
        claims.append(
            Claim(
                f"{arm.name} differs from table 8 in what table {number} says, and in nothing else",
                set(found) == set(differing),
                text,
            )
        )
    return Result(
        [
            Table("Table 8: settings", ["paper", "value", "option", "ours", "same"], rows),
            Table("Tables 3 to 7", ["table", "paper", "ensemble", "differs in"], others),
        ],
        claims,
        {"table_8": {row[0]: row[-1] for row in rows}},
    )


def _flat(arm: Arm) -> dict[str, Any]:
    """The arm's configuration by dotted names."""
    flat: dict[str, Any] = {}
    for name, value in dataclasses.asdict(plan_of("full", arm).training).items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def _plain(value: Any) -> str:
    return json.dumps(value)


EXPERIMENT = Experiment(
    "mind-the-gap-settings",
    "the paper's settings beside ours",
    SOURCE,
    dict.fromkeys(("smoke", "full"), "nothing is trained: a second"),
    _reproduce,
    "mind-the-gap",
    tuple(f"table {number}" for number in range(3, 9)),
)
