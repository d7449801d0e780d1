"""Writes tests/oracle/networks/*.npz: what dm-clrs's networks predict, lose and differentiate to.

Needs `pip install dm-clrs==2.0.3`; run from the repository's root with src and tests/oracle on
PYTHONPATH. Cases that exist already are left alone; name cases to make only those.

Two things are changed in dm-clrs: the Sinkhorn noise is given instead of drawn, and in the float64
cases its cast of all features to float32 is undone.
"""

import logging
import pathlib
import sys

import cases
import clrs
import jax
import jax.numpy as jnp
import numpy as np
import packed
import rule
from clrs._src import (
    baselines,
    decoders,
    encoders,
    losses,
    probing,
    processors,
    samplers,
    specs,
)

from algoscope import networks
from algoscope.networks import dm_clrs

FOLDER = pathlib.Path(__file__).parent / "networks"


def feedback_of(case: cases.Case):
    sampler, spec = clrs.build_sampler(
        case.task, num_samples=cases.COUNT, length=case.size, seed=cases.SEED
    )
    spec, stream = samplers.process_permutations(spec, iter([sampler.next()]), True)
    return spec, next(stream)


def model_of(case: cases.Case, spec, feedback) -> baselines.BaselineModel:
    config = case.config
    kind = {("mpnn", True): "gmpnn", ("pgn", True): "gpgn"}.get(
        (config.processor, config.gated), config.processor
    )
    return baselines.BaselineModel(
        [spec],
        dummy_trajectory=[feedback],
        processor_factory=processors.get_processor_factory(
            kind, config.layer_norm, config.triplet_width, config.heads
        ),
        hidden_dim=config.width,
        encode_hints=config.encode_hints,
        decode_hints=config.decode_hints,
        hint_repred_mode=config.hint_repred_mode,
        nb_msg_passing_steps=config.rounds,
    )


def golden(case: cases.Case) -> dict[str, np.ndarray]:
    spec, feedback = feedback_of(case)
    model = model_of(case, spec, feedback)
    model.init(feedback.features, 0)
    batch = cases.batch(case)
    network = networks.build(batch.task, case.config, key=jax.random.key(0))
    noise = None

    def sinkhorn(x, steps, temperature, zero_diagonal, noise_rng_key):
        if noise_rng_key is not None:
            x = x + noise
        return original_sinkhorn(x, steps, temperature, zero_diagonal, None)

    original_sinkhorn, decoders.log_sinkhorn = decoders.log_sinkhorn, sinkhorn
    original_preprocess = encoders.preprocess
    if case.x64:
        encoders.preprocess = preprocess_without_cast

    def predict(parameters, repred: bool):
        return model.net_fn.apply(
            parameters, jax.random.PRNGKey(0), [feedback.features], repred=repred,
            algorithm_index=0, return_hints=True, return_all_outputs=False,
        )  # fmt: skip

    def loss_and_predictions(parameters, given):
        nonlocal noise
        noise = given
        outputs, hints = predict(parameters, repred=False)
        nodes = batch.inputs["pos"].shape[1]
        total = sum(losses.output_loss(t, outputs[t.name], nodes) for t in feedback.outputs)
        if case.config.decode_hints:
            for truth in feedback.features.hints:
                predicted = [h[truth.name] for h in hints]
                total += losses.hint_loss(truth, predicted, feedback.features.lengths, nodes)
        return total, (outputs, hints)

    training = jax.jit(jax.value_and_grad(loss_and_predictions, has_aux=True))
    evaluation = jax.jit(lambda parameters: predict(parameters, repred=True))
    arrays: dict[str, np.ndarray] = {}
    for draw in cases.DRAWS:
        parameters = dm_clrs.to_parameters(rule.with_rule(network, draw))
        made = {k: set(v) for k, v in parameters.items()}
        assert made == {k: set(v) for k, v in model.params.items()}, set(model.params) ^ set(made)
        given = rule.gumbel(cases.COUNT, batch.inputs["pos"].shape[1], draw)
        (loss, (outputs, hints)), gradient = training(parameters, given)
        found = {"loss": loss, **{f"output.{k}": v for k, v in outputs.items()}}
        found |= stacked(hints, "hint")
        gradient = networks.arrays(dm_clrs.from_parameters(network, jax.device_get(gradient)))
        found |= rule.gradient_entries(gradient)
        if case.config.hint_repred_mode == "hard_on_eval" or "sort" in case.task:
            outputs, hints = evaluation(parameters)
            found |= {f"evaluation.{k}": v for k, v in outputs.items()}
            found |= stacked(hints, "evaluation")
        arrays |= {f"{draw}.{k}": np.asarray(v) for k, v in found.items()}
    decoders.log_sinkhorn, encoders.preprocess = original_sinkhorn, original_preprocess
    return arrays


def stacked(hints, prefix: str) -> dict:
    """[{name: [batch, …]} per step] -> {name: [batch, step, …]}"""
    return {f"{prefix}.{k}": jnp.stack([h[k] for h in hints], 1) for k in (hints or [{}])[0]}


def preprocess_without_cast(dp, nb_nodes):
    kind = dp.type_
    if kind == specs.Type.POINTER:
        data = jax.nn.one_hot(dp.data, nb_nodes, dtype=jnp.float64)
    else:
        data = dp.data.astype(jnp.float64)
        kind = specs.Type.POINTER if kind == specs.Type.SOFT_POINTER else kind
    return probing.DataPoint(name=dp.name, location=dp.location, type_=kind, data=data)


def main() -> None:
    logging.disable(logging.WARNING)
    FOLDER.mkdir(exist_ok=True)
    for case in cases.CASES:
        path = FOLDER / f"{case.name}.npz"
        if (sys.argv[1:] and case.name not in sys.argv[1:]) or path.exists():
            continue
        jax.config.update("jax_enable_x64", case.x64)
        arrays = golden(case)
        packed.save(path, arrays, np.float64 if case.x64 else np.float32)
        print(case.name, f"{path.stat().st_size / 1024:.0f} KiB", flush=True)


if __name__ == "__main__":
    main()
