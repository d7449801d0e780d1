"""Objectives: weights, targets, losses and their gradients, teachers, what is refused."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs.comparing import QUICK
from small import CONFIG, changed

from algoscope import networks, programs, tasks, training
from algoscope.measures.interchange import partners
from algoscope.networks import PLAIN, PROCESSORS, ConfigError, NetworkConfig, to_device
from algoscope.networks.running import start_at
from algoscope.programs import Role
from algoscope.programs.exchange import resume
from algoscope.programs.interpreter import interpret
from algoscope.programs.precision import SCALAR_TOLERANCE
from algoscope.tasks.transforms import as_sampled
from algoscope.training import objectives, pool
from algoscope.training.config import check
from algoscope.training.ensemble import start_learners
from algoscope.training.learning import Lesson
from algoscope.training.objectives import OBJECTIVES, Attempt, Weight, exchange
from algoscope.training.objectives.weight import parse_weight
from algoscope.training.plan import plan_training
from algoscope.training.teacher import demonstrate, teacher_for

ALL = ("hints", "outputs", "attention=0.5", "exchange=0:1@10")
RECIPE = tasks.Recipe(sizes=(5,), count=4, p=(0.8,))
WITH_PROGRAM = sorted({programs.get(name).task.name for name in programs.names()})
GEOMETRY = ("graham_scan", "jarvis_march", "segments_intersect")
WITH_QUICK_PROGRAM = sorted({program.task.name for program in QUICK})
ATTENDING = [name for name, processor in PROCESSORS.items() if processor.attends]


def material(config: training.TrainingConfig) -> tuple[pool.TaskPlan, pool.Material]:
    plan = pool.make_plan(config, config.tasks[0])
    return plan, pool.draw_generation(config, (plan,), 0, (0,)).pools[0][0]


def first_batch(pooled: pool.Material) -> pool.Material:
    return jax.tree.map(lambda array: array[0], pooled)


def attempt(network, one: pool.Material, name: str) -> Attempt:
    batch = to_device(network, one.batch)
    run = networks.trajectories(network, batch, training=True, path=PLAIN)
    target = jax.tree.map(jnp.asarray, one.targets.get(name))
    return Attempt(network, batch, run, target, PLAIN)


def loss_of(name: str, one: pool.Material):
    return lambda network: sum(OBJECTIVES[name].terms(attempt(network, one, name)))


def same_gradients(one, other, network) -> None:
    value, gradient = jax.jit(jax.value_and_grad(one))(network)
    expected, expected_gradient = jax.jit(jax.value_and_grad(other))(network)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    assert max(float(jnp.abs(g).max()) for g in jax.tree.leaves(gradient)) > 1e-4
    for result, wanted in zip(
        jax.tree.leaves(gradient), jax.tree.leaves(expected_gradient), strict=True
    ):
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-6)


@pytest.fixture(scope="module")
def taught() -> pool.Material:
    """Four problems of five nodes, in two pairs."""
    return first_batch(material(changed(steps=2, objective=ALL, recipe=RECIPE))[1])


@pytest.fixture(scope="module")
def network(taught):
    return networks.build(taught.batch.features, NetworkConfig(width=6), key=jax.random.key(1))


def test_the_default_is_the_loss_of_dm_clrs_to_the_last_bit():
    plan = plan_training(CONFIG)
    pooled = material(CONFIG)[1]
    weights = jax.tree.map(lambda stacked: stacked[0], start_learners(plan).weights)
    lesson = Lesson(CONFIG, plan.layout, "bfs", 4, pooled.batch.hints["pi_h"].shape[2], PLAIN)
    one, step = first_batch(pooled), jnp.int32(0)

    @jax.jit
    def both(weights):
        loss, gradient = lesson._gradient(weights, one, step, jax.random.key(0))
        model = plan.layout.unpack(weights)
        arrays = to_device(model.network("bfs"), one.batch)
        return (loss, gradient), jax.value_and_grad(
            lambda model: networks.loss(model.network("bfs"), arrays, path=PLAIN)
        )(model)

    (loss, gradient), (expected, expected_gradient) = both(weights)
    assert loss == expected
    packed = plan.layout.pack(expected_gradient)
    assert all((gradient[name] == packed[name]).all() for name in gradient)


@pytest.mark.parametrize(
    ("text", "step", "expected"),
    [
        ("1.0", 7, 1.0),
        ("0.25", 0, 0.25),
        ("0:1@1000", 0, 0.0),
        ("0:1@1000", 250, 0.25),
        ("0:1@1000", 4000, 1.0),
        ("1:0.5@10-20", 9, 1.0),
        ("1:0.5@10-20", 15, 0.75),
        ("1:0.5@10-20", 30, 0.5),
        ("0:1@5-5", 4, 0.0),
        ("0:1@5-5", 5, 1.0),
        ("1e-3", 5, 1e-3),
    ],
)
def test_weights_over_training(text, step, expected):
    weight = parse_weight(text)
    assert float(weight.at(jnp.int32(step))) == pytest.approx(expected)
    weighted = weight.times(jnp.float32(2.0), jnp.int32(step))
    assert float(weighted) == pytest.approx(2 * expected)


def test_a_weight_of_one_leaves_a_term_alone():
    term = jnp.float32(0.1)
    assert Weight().times(term, jnp.int32(0)) is term


def test_the_loss_of_a_step_is_the_weighted_sum(taught, network):
    plan = plan_training(changed(objective=ALL, recipe=RECIPE, network=network.config))
    lesson = Lesson(plan.config, plan.layout, "bfs", 5, taught.batch.time, PLAIN)
    weights = jax.tree.map(lambda stacked: stacked[0], start_learners(plan).weights)
    start = plan.layout.unpack(weights).network("bfs")
    parts = jax.jit(lambda start: {name: loss_of(name, taught)(start) for name in OBJECTIVES})(
        start
    )
    one = jax.tree.map(jnp.asarray, taught)
    gradient = jax.jit(lambda step: lesson._gradient(weights, one, step, jax.random.key(0)))
    for step, share in ((0, 0.0), (4, 0.4), (12, 1.0)):
        total, _ = gradient(jnp.int32(step))
        expected = parts["hints"] + parts["outputs"] + 0.5 * parts["attention"]
        np.testing.assert_allclose(total, expected + share * parts["exchange"], rtol=1e-5)


def test_attention_is_the_cross_entropy_to_the_interpreter_s_choices(taught, network):
    batch = taught.batch
    expected = np.asarray(interpret(programs.get("bfs"), as_sampled(batch)).attention)

    def by_rows(network):
        run = networks.trajectories(network, to_device(network, batch), training=True, path=PLAIN)
        rows = [
            -jnp.log(run.attention[sample, step, 0, node, expected[sample, step, 0, node].argmax()])
            for sample in range(len(batch))
            for step in range(max(1, int(batch.lengths[sample]) - 1))
            for node in range(batch.nodes)
        ]
        return sum(rows) / len(rows)

    same_gradients(loss_of("attention", taught), by_rows, network)


def test_exchange_is_the_loss_of_what_the_program_does_next(taught, network):
    batch, steps = taught.batch, taught.targets["exchange"].steps
    program = programs.get("bfs")
    states = np.asarray(interpret(program, as_sampled(batch)).hidden)
    samples, half = np.arange(4), 2

    def one_by_one(network):
        run = networks.trajectories(network, to_device(network, batch), training=True, path=PLAIN)
        losses = {"reach_h": [], "pi_h": []}
        for sample in samples:
            other = (sample + half) % 4
            if min(batch.lengths[sample], batch.lengths[other]) < 2:
                continue
            own = dataclasses.replace(as_sampled(batch.take([sample])), lengths=np.array([3]))
            state = states[[other], steps[other]]
            by_name = {v.name: state[..., k] for k, v in enumerate(program.variables)}
            after = resume(program, own, by_name, 2)
            assert after.kept.all()
            places = (jnp.array([other]), jnp.array([steps[other]]))
            start = start_at(network, run.hidden, run.hints, places, training=True)
            hints = {name: jnp.zeros((1, 3, 5), int) for name in losses}
            three = to_device(network, dataclasses.replace(batch.take([sample]), hints=hints))
            later = networks.trajectories(network, three, training=True, start=start, path=PLAIN)
            reach = jax.nn.sigmoid(later.hints["reach_h"])
            truth = after.hints["reach_h"]
            losses["reach_h"].append(-jnp.log(jnp.where(truth > 0, reach, 1 - reach)))
            pointers = jax.nn.log_softmax(later.hints["pi_h"])
            chosen = jnp.asarray(after.hints["pi_h"], int)[..., None]
            losses["pi_h"].append(-jnp.take_along_axis(pointers, chosen, -1))
        return sum(jnp.concatenate(each).mean() for each in losses.values())

    same_gradients(loss_of("exchange", taught), one_by_one, network)


def test_partners_share_source_and_positions_and_have_other_graphs(taught):
    inputs = taught.batch.inputs
    for name in ("s", "pos"):
        assert (inputs[name][:2] == inputs[name][2:]).all()
    assert (inputs["A"][:2] != inputs["A"][2:]).any((1, 2)).all()
    drawn = as_sampled(taught.batch.take(slice(2)))
    assert (partners(drawn).inputs["A"] == inputs["A"][2:]).all()


@pytest.mark.parametrize("task", WITH_PROGRAM)
def test_batches_of_training_go_back_to_the_form_of_programs(task):
    batch = next(tasks.stream(task, tasks.Recipe(sizes=(least_size(task, 5),), count=3)))
    sampled = as_sampled(batch)
    assert set(sampled.features) == set(tasks.get(task).features)
    for program in programs.of_task(task, Role.REFERENCE):
        shown = demonstrate(program, batch, replaces=True).batch
        # Angles and products are computed by halving, to within what verification calls exact.
        atol = SCALAR_TOLERANCE if task in GEOMETRY else 1e-9
        for name, hint in batch.hints.items():
            np.testing.assert_allclose(shown.hints[name], hint, atol=atol, err_msg=name)
        for name, output in batch.outputs.items():
            np.testing.assert_allclose(shown.outputs[name], output, atol=atol, err_msg=name)


def test_a_wrong_teacher_gives_its_own_trace():
    recipe = tasks.Recipe(sizes=(8,), count=8)
    right = material(changed(steps=2, recipe=recipe))[1].batch
    wrong = material(changed(steps=2, recipe=recipe, teacher=("bfs_highest",)))[1].batch
    assert (right.inputs["A"] == wrong.inputs["A"]).all()
    assert (right.hints["pi_h"] != wrong.hints["pi_h"]).any()
    one = jax.tree.map(lambda array: array[0], wrong)
    run = interpret(programs.get("bfs_highest"), as_sampled(one))
    for name in one.hints:
        hint = np.asarray(run.hints[name])
        counted = np.arange(1, one.time) < one.lengths[:, None]
        assert (one.hints[name][:, 1:][counted] == hint[counted]).all()
    assert (one.outputs["pi"] == np.asarray(run.outputs["pi"])).all()
    config = changed(recipe=recipe, teacher=("bfs_highest",))
    drawn = pool.validation_batch(config, "bfs").outputs["pi"]
    assert (drawn != pool.validation_batch(changed(recipe=recipe), "bfs").outputs["pi"]).any()


def test_problems_on_which_a_teacher_breaks_a_promise_give_way():
    """A path as long as the graph is more than `dist: Float(6)` promises."""
    line = np.zeros((9, 9))
    for node in range(8):
        line[node, node + 1] = line[node + 1, node] = 1.0
    long = tasks.run("bellman_ford", line, source=0)
    short = tasks.sample("bellman_ford", 9, 3, seed=1)
    batch = tasks.Batch.join([long, short])
    program = dataclasses.replace(
        programs.get("bellman_ford"),
        variables=tuple(
            dataclasses.replace(v, bound=dataclasses.replace(v.bound, constant=6.0))
            if v.name == "dist"
            else v
            for v in programs.get("bellman_ford").variables
        ),
    )
    shown = demonstrate(program, batch, count=4)
    assert (shown.partners == [2, 3, 0, 1]).all()
    names = [
        int(np.flatnonzero((batch.inputs["A"] == a).all((1, 2)))[0])
        for a in shown.batch.inputs["A"]
    ]
    assert names == [1, 1, 3, 3]
    with pytest.raises(ValueError, match="breaks a promise on all problems of a batch"):
        demonstrate(program, long)


def test_a_reference_teaches_where_none_is_named():
    assert teacher_for((), "bfs").name == "bfs"
    assert teacher_for(("dijkstra_tilted", "bfs_self"), "bfs").name == "bfs_self"
    assert teacher_for(("bfs_self",), "dijkstra").name == "dijkstra"


SMALLEST = tasks.Recipe(sizes=(4,), count=2)


def least_size(task: str, size: int) -> int:
    """Needles of up to 8 characters, as training draws them, need a haystack that is longer."""
    return max(size, 17) if "length_needle" in tasks.get(task).options else size


def takes_a_step(task: str, processor: str) -> None:
    """One step of all objectives on the smallest problems, from random weights."""
    network = NetworkConfig(width=4, processor=processor)
    recipe = dataclasses.replace(SMALLEST, sizes=(least_size(task, SMALLEST.sizes[0]),))
    config = training.TrainingConfig(
        (task,), steps=1, objective=ALL, recipe=recipe, network=network
    )
    plan, pooled = material(config)
    whole = plan_training(config, plans=(plan,))
    lesson = Lesson(config, whole.layout, task, 4, plan.buckets[0][-1])

    @jax.jit
    def step(pooled):
        learner = jax.tree.map(lambda stacked: stacked[0], start_learners(whole))
        return lesson(learner, jnp.uint32(0), jnp.int32(0), jnp.int32(0), pooled)

    learner, loss = step(pooled)
    assert np.isfinite(loss)
    assert all(np.isfinite(vector).all() for vector in learner.weights.values())


@pytest.mark.parametrize("task", WITH_QUICK_PROGRAM)
def test_every_task_with_a_quick_program_takes_a_step(task):
    takes_a_step(task, "gatv2")


@pytest.mark.parametrize("processor", sorted(set(ATTENDING) - {"gatv2"}))
def test_every_processor_with_attention_takes_a_step(processor):
    takes_a_step("bfs", processor)


def test_kinds_of_graphs_come_in_turn():
    recipe = tasks.Recipe(sizes=(4, 8), count=6, graphs=("clrs", "tree", "clrs", "dense"))
    config = changed(steps=8, recipe=recipe)
    assert pool.steps_per_generation(config) == 8
    drawn = tasks.stream("bfs", recipe, seed=1)
    edges = [next(drawn).inputs["A"].sum((1, 2)) / 2 for _ in range(8)]
    for batch in (2, 3):
        assert (edges[batch] == recipe.sizes[batch % 2] - 1).all()
    assert edges[7].mean() > 0.6 * 28
    ordinary = next(tasks.stream("bfs", dataclasses.replace(recipe, graphs=("clrs",)), seed=1))
    assert (next(tasks.stream("bfs", recipe, seed=1)).inputs["A"] == ordinary.inputs["A"]).all()


def test_a_training_with_all_objectives_goes_on_and_keeps_the_last_weights(tmp_path):
    config = changed(
        steps=6,
        objective=ALL,
        teacher=("bfs_locked",),
        keep="last",
        scored_on=("seen",),
        recipe=tasks.Recipe(sizes=(4,), count=4, graphs=("clrs", "deep")),
    )
    run = training.train(config, tmp_path / "run")
    again = training.train(config, tmp_path / "again")
    assert training.config_of(run) == config
    assert np.isfinite(run.metrics.loss).all()
    best = training.train(dataclasses.replace(config, keep="best"), tmp_path / "best")
    weights = [networks.arrays(r.ensemble()[0])["processor.value.weight"] for r in (run, again)]
    assert (weights[0] == weights[1]).all()
    if best.results["best_step"][0] != 5:
        kept = networks.arrays(best.ensemble()[0])["processor.value.weight"]
        assert (kept != weights[0]).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": ("atention",)}, "unknown objective: 'atention'; did you mean attention"),
        ({"objective": ()}, "objective: got none, needed at least one"),
        ({"objective": ("hints", "hints=2")}, "objective: got hints twice"),
        ({"objective": ("hints=much",)}, "objective hints: got the weight 'much', needed a number"),
        ({"objective": ("hints=0:1@9-3",)}, "whose last step is before the first"),
        (
            {"objective": ("attention",), "network": NetworkConfig(processor="mpnn")},
            "got the processor mpnn, which has no attention, needed gat, gat_full, gatv2",
        ),
        (
            {"objective": ("exchange",), "recipe": tasks.Recipe(count=3)},
            "got batches of 3 problems, needed an even number",
        ),
        (
            {
                "objective": ("exchange",),
                "network": NetworkConfig(encode_hints=False, decode_hints=False),
            },
            "predict no hints",
        ),
        (
            {"objective": ("attention",), "tasks": ("optimal_bst",)},
            "got none for optimal_bst, which has no program, needed one",
        ),
        ({"teacher": ("bsf",)}, "teacher: unknown program: 'bsf'; did you mean bfs"),
        ({"teacher": ("dfs",)}, "got dfs, a program for dfs, needed one for bfs"),
        ({"teacher": ("bfs", "bfs_self")}, "got two for bfs, needed at most one"),
        ({"recipe": tasks.Recipe(graphs=("treee",))}, "unknown kind of graphs: 'treee'"),
        ({"recipe": tasks.Recipe(graphs=())}, "recipe.graphs: got none"),
        (
            {"tasks": ("minimum",), "recipe": tasks.Recipe(graphs=("tree",))},
            "got tree for minimum, whose problems are no graphs",
        ),
        ({"keep": "bets"}, "keep: got 'bets', needed one of best, last"),
    ],
)
def test_what_cannot_be_learnt_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        check(dataclasses.replace(training.TrainingConfig(("bfs",)), **changes))


def test_objectives_say_how_many_steps_are_exchanged():
    assert exchange.STEPS == 2
    assert list(objectives.OBJECTIVES) == ["outputs", "hints", "attention", "exchange"]
