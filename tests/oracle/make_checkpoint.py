"""Trains a small BFS network with dm-clrs and saves it as dm-clrs does, for the example.

Needs `pip install dm-clrs==2.0.3`:

    python tests/oracle/make_checkpoint.py [STEPS]
"""

import logging
import pathlib
import sys

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "bfs_dm_clrs.pkl"
WIDTH = 16


def main() -> None:
    import clrs
    import jax
    from clrs._src import processors

    logging.disable(logging.WARNING)
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    sampler, spec = clrs.build_sampler(
        "bfs", num_samples=-1, length=16, seed=1, p=(0.1, 0.3, 0.5, 0.7, 0.9)
    )
    model = clrs.models.BaselineModel(
        spec=[spec],
        dummy_trajectory=[sampler.next(16)],
        processor_factory=processors.get_processor_factory(
            "gatv2", use_ln=True, nb_triplet_fts=8, nb_heads=1
        ),
        hidden_dim=WIDTH,
        encode_hints=True,
        decode_hints=True,
        encoder_init="xavier_on_scalars",
        use_lstm=False,
        learning_rate=3e-3,
        grad_clip_max_norm=1.0,
        checkpoint_path=str(EXAMPLE.parent),
        freeze_processor=False,
        dropout_prob=0.0,
        hint_teacher_forcing=0.0,
        hint_repred_mode="soft",
        nb_msg_passing_steps=1,
    )
    model.init(sampler.next(16).features, 1)
    key = jax.random.PRNGKey(1)
    for step in range(steps):
        key, now = jax.random.split(key)
        loss = model.feedback(now, sampler.next(16))
        if step % 200 == 0:
            print(step, float(loss), flush=True)
    model.save_model(EXAMPLE.name)
    print(f"{EXAMPLE}: {EXAMPLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
