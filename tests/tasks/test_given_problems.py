"""Problems of a user: every form is read alike, traced as sampled ones are, and answered right."""

import bisect

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from drawing import Sample, samples_of
from hypothesis import given
from hypothesis import strategies as st

from algoscope import tasks

NUMBERS = st.lists(st.integers(-9, 9) | st.floats(-9, 9), min_size=2, max_size=9)
LETTERS = st.text("acgt", min_size=1, max_size=12)


def inputs_of(name: str, sample: Sample) -> dict:
    """What a user would give to have this sample's problem traced."""
    problem = {key: sample.inputs[key] for key in tasks.get(name).problem}
    if "A" in problem:
        source = {"source": int(problem["s"].argmax())} if "s" in problem else {}
        return {"graph": problem["A"]} | source
    if "string" in problem:
        codes = problem["key"].argmax(axis=1)
        first, second = codes[problem["string"] == 0], codes[problem["string"] == 1]
        names = ("first", "second") if name == "lcs_length" else ("haystack", "needle")
        return dict(zip(names, (first, second), strict=True))
    if name == "optimal_bst":
        return {"p": problem["p"][:-1], "q": problem["q"]}
    return {key: value if value.ndim else float(value) for key, value in problem.items()}


@pytest.mark.parametrize("name", tasks.names(variants=True))
def test_a_sampled_problem_given_by_a_user_has_the_same_trace(name):
    batch = tasks.sample(name, max(8, tasks.get(name).smallest), 3, 4)
    for sample in samples_of(batch):
        [trace] = samples_of(tasks.run(name, **inputs_of(name, sample)))
        for ours, theirs in zip((trace.inputs, trace.hints, trace.outputs), sample, strict=True):
            assert ours.keys() == theirs.keys()
            for key, value in theirs.items():
                assert np.array_equal(ours[key], value), key
                assert ours[key].dtype == value.dtype


ROADS = [("Basel", "Olten", 39.0), ("Olten", "Bern", 66.0), ("Bern", "Thun", 31.0)]
ROADS += [("Basel", "Bern", 98.0), ("Olten", "Luzern", 55.0), ("Luzern", "Thun", 104.0)]


def roads() -> nx.Graph:
    graph = nx.Graph()
    graph.add_weighted_edges_from(ROADS)
    return graph


def test_every_form_of_a_graph_gives_the_same_trace():
    graph = roads()
    A = nx.to_numpy_array(graph)
    senders, receivers = np.nonzero(A)
    weights = A[senders, receivers]
    forms = [
        tasks.run("dijkstra", graph, source="Olten"),
        tasks.run("dijkstra", graph.to_directed(), source="Olten"),
        tasks.run("dijkstra", nx.MultiGraph(graph), source="Olten"),
        tasks.run("dijkstra", {"graph": graph, "source": "Olten"}),
        tasks.run("dijkstra", A, source=1),
        tasks.run("dijkstra", A.tolist(), source=np.int64(1)),
        tasks.run("dijkstra", scipy.sparse.csr_array(A), source=1),
        tasks.run("dijkstra", scipy.sparse.coo_matrix(A), source=1),
        tasks.run("dijkstra", edge_index=[senders, receivers], edge_weight=weights, source=1),
        tasks.run("dijkstra", (senders, receivers), edge_weight=weights[:, None], source=1),
        tasks.run(
            "dijkstra", np.array([senders, receivers]), edge_weight=weights, num_nodes=5, source=1
        ),
    ]
    first, *others = forms
    for other in others:
        for ours, theirs in (
            (first.inputs, other.inputs), (first.hints, other.hints), (first.outputs, other.outputs)
        ):  # fmt: skip
            for key, value in ours.items():
                assert np.array_equal(value, theirs[key]), key


def test_every_form_of_a_graph_keeps_the_direction_of_its_edges():
    A = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]])
    edges = np.array(np.nonzero(A))
    graph = nx.from_numpy_array(A, create_using=nx.DiGraph)
    for form in (graph, A, A.astype(bool), scipy.sparse.csc_array(A), edges, tuple(edges)):
        assert np.array_equal(tasks.run("dfs", form).inputs["A"][0], A)


def test_a_two_by_two_array_is_a_matrix_and_a_tuple_of_two_an_edge_index():
    matrix, edges = [[0, 1], [1, 0]], ([0, 1], [1, 0])
    assert len(tasks.run("dfs", matrix).labels) == len(tasks.run("dfs", edges).labels) == 2
    loops = [[0, 1], [0, 1]]
    assert np.array_equal(tasks.run("dfs", loops).inputs["A"][0], loops)
    assert np.array_equal(tasks.run("dfs", edge_index=loops).inputs["A"][0], np.eye(2))
    assert np.array_equal(tasks.run("dfs", tuple(loops)).inputs["A"][0], np.eye(2))


def test_isolated_nodes_count():
    trace = tasks.run("bfs", edge_index=[[0], [1]], num_nodes=4, source=0)
    assert trace.answer["pi"] == {0: 0, 1: 0, 2: 2, 3: 3}
    alone = tasks.run("bfs", edge_index=np.empty((2, 0)), num_nodes=2, source=1)
    assert alone.answer["pi"] == {0: 0, 1: 1}


def test_an_answer_is_in_the_users_labels():
    graph = roads()
    trace = tasks.run("dijkstra", graph, source="Basel")
    tree = nx.DiGraph((parent, node) for node, parent in trace.answer["pi"].items())
    tree.remove_edges_from([("Basel", "Basel")])
    for place, distance in nx.single_source_dijkstra_path_length(graph, "Basel").items():
        path = nx.shortest_path(tree, "Basel", place)
        assert nx.path_weight(graph, path, "weight") == distance
        assert trace.named("d")[-1][place] == pytest.approx(distance)
    assert trace.named("s") == "Basel"
    assert trace.named("u")[0] == "Basel"
    assert trace.named("mark")[1] == {"Basel"}
    assert trace.named("A")["Bern", "Thun"] == 31.0
    assert ("Thun", "Bern") in trace.named("adj")
    assert tasks.run("segments_intersect", [(0, 0), (1, 1), (0, 1), (1, 0)]).answer == {
        "intersect": 1
    }
    assert set(tasks.run("dfs", graph).named("color")[0].values()) == {0}
    bridges = tasks.run("bridges", nx.lollipop_graph(3, 1)).answer["is_bridge"]
    assert bridges == {(2, 3), (3, 2)}
    with pytest.raises(ValueError, match="unknown feature of dijkstra: 'pie'; did you mean pi"):
        trace.named("pie")


def test_a_trace_prints_as_a_table_of_labels():
    lines = str(tasks.run("bfs", nx.path_graph(["x", "why", "z"]), source="why")).splitlines()
    assert lines == [
        "bfs: pi = why why why",
        "step  reach_h    pi_h",
        "0     {why}      x why z",
        "1     {x why z}  why why why",
    ]


def test_a_problem_of_ones_own_is_a_batch_of_one():
    batch = tasks.run("insertion_sort", [3, 1, 2])
    assert len(batch) == 1
    assert batch.lengths.tolist() == [batch.time] == [3]
    assert np.array_equal(batch.inputs["key"], [[3, 1, 2]])
    assert tasks.text.write(batch).answer == "[1.0 2.0 3.0]\n\n"


def test_a_notebook_shows_the_steps_of_a_trace_in_labels():
    html = tasks.run("bfs", nx.path_graph(["x", "<why>", "z"]), source="x")._repr_html_()
    assert html.count("<tr>") == 1 + 3, "a heading and three steps"
    assert "<td>{x &lt;why&gt; z}</td>" in html


def test_labels_stay_with_the_samples_that_are_taken():
    batch = tasks.run("bfs", nx.path_graph(["x", "y"]), source="x")
    assert batch.take(np.array([0, 0])).named("pi", sample=1) == {"x": "x", "y": "x"}


def test_the_weight_of_a_networkx_graph_can_be_named_or_left_out():
    graph = nx.Graph()
    graph.add_weighted_edges_from(ROADS, weight="minutes")
    named = tasks.run("dijkstra", graph, weight="minutes", source="Bern")
    assert np.array_equal(named.inputs["A"][0], nx.to_numpy_array(graph, weight="minutes"))
    unweighted = tasks.run("dijkstra", graph, weight=None, source="Bern")
    assert np.array_equal(unweighted.inputs["A"][0], nx.to_numpy_array(graph, weight=None))
    nx.set_edge_attributes(graph, True, "paved")
    nx.set_edge_attributes(graph, 2.5, "weight")
    assert set(tasks.run("dijkstra", graph, source="Bern").inputs["A"][0].flat) == {0, 2.5}


def test_weights_do_not_matter_where_the_task_has_none():
    graph = roads()
    graph["Basel"]["Olten"]["weight"] = 0
    plain = nx.to_numpy_array(graph, weight=None)
    for form, source in ((graph, "Bern"), (plain * -2.5, 2)):
        assert np.array_equal(tasks.run("bfs", form, source=source).inputs["A"][0], plain)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_bellman_ford_and_floyd_warshall_take_negative_weights_without_negative_cycles(seed, size):
    """Weights w + h_i - h_j have w's cycles: none of them negative, though half the weights are."""
    random = np.random.RandomState(seed)
    heights = random.randint(-4, 5, size)
    A = random.randint(0, 4, (size, size)) * random.binomial(1, 0.5, (size, size))
    A = np.where(A > 0, A + heights[:, None] - heights, 0)
    np.fill_diagonal(A, 0)
    graph = nx.from_numpy_array(A, create_using=nx.DiGraph)
    source = int(random.randint(size))
    lengths = dict(nx.all_pairs_bellman_ford_path_length(graph))
    [trace] = samples_of(tasks.run("bellman_ford", graph, source=source))
    reached = trace.hints["msk"][-1].astype(bool)
    assert set(np.flatnonzero(reached)) == set(lengths[source])
    assert all(trace.hints["d"][-1, v] == d for v, d in lengths[source].items())
    [pairs] = samples_of(tasks.run("floyd_warshall", graph))
    between = {(i, j) for i in graph for j in graph if pairs.hints["msk"][-1, i, j]}
    assert between <= {(i, j) for i in lengths for j in lengths[i]}
    for i, j in np.argwhere(pairs.outputs["Pi"] != np.arange(size)[:, None]):
        before = int(pairs.outputs["Pi"][i, j])
        assert lengths[i][before] + A[before, j] == lengths[i][j]


def test_bellman_ford_goes_on_through_a_node_at_distance_zero():
    trace = tasks.run("bellman_ford", ([0, 1, 2], [1, 2, 3]), edge_weight=[1, -1, 5], source=0)
    assert trace.answer["pi"] == {0: 0, 1: 0, 2: 1, 3: 2}
    assert trace.hints["d"][0, -1].tolist() == [0, 1, 0, 5]


@pytest.mark.parametrize("name", ["insertion_sort", "bubble_sort", "heapsort", "quicksort"])
@given(keys=NUMBERS)
def test_lists_are_sorted(name, keys):
    before = tasks.run(name, keys).answer["pred"]
    [first] = [node for node, other in before.items() if node == other]
    after = {other: node for node, other in before.items() if node != other}
    order = [first]
    while order[-1] in after:
        order.append(after[order[-1]])
    assert [keys[node] for node in order] == sorted(keys)


@given(NUMBERS)
def test_the_minimum_and_the_median_are_found(keys):
    assert keys[tasks.run("minimum", keys).answer["min"]] == min(keys)
    assert keys[tasks.run("quickselect", keys).answer["median"]] == sorted(keys)[len(keys) // 2]


@given(NUMBERS, st.floats(-10, 10))
def test_binary_search_finds_the_first_key_not_below_the_target(keys, target):
    keys = sorted(keys)
    place = tasks.run("binary_search", keys, target=target).answer["return"]
    assert place == min(bisect.bisect_left(keys, target), len(keys) - 1)


@pytest.mark.parametrize("name", ["naive_string_matcher", "kmp_matcher"])
@given(
    haystack=st.text("acgt", min_size=2, max_size=12),
    needle=st.text("acgt", min_size=1, max_size=3),
)
def test_a_needle_is_found_where_python_finds_it(name, haystack, needle):
    if len(needle) > len(haystack):
        needle = needle[: len(haystack)]
    place = haystack.find(needle)
    match = tasks.run(name, haystack, needle=needle).answer["match"]
    assert match == (len(haystack) if place < 0 else place)


def longest_common(first: str, second: str) -> int:
    if not first or not second:
        return 0
    if first[-1] == second[-1]:
        return longest_common(first[:-1], second[:-1]) + 1
    return max(longest_common(first[:-1], second), longest_common(first, second[:-1]))


@given(st.text("acgt", min_size=1, max_size=5), st.text("acgt", min_size=1, max_size=5))
def test_the_longest_common_subsequence_is_as_long_as_it_can_be(first, second):
    trace = tasks.run("lcs_length", (first, second))
    lengths = trace.hints["c"][0, -1][: len(first), len(first) :]
    assert lengths[-1, -1] == longest_common(first, second)


def test_characters_are_coded_by_their_place_in_the_alphabet():
    codes = [[0, 3, 0], [3]]
    for given_ in (
        {"haystack": "tat", "needle": "a", "alphabet": "tgca"},
        {"haystack": ["t", "a", "t"], "needle": ["a"], "alphabet": "tgca"},
        {"haystack": codes[0], "needle": codes[1]},
        {"haystack": np.array(codes[0]), "needle": np.array(codes[1])},
    ):
        trace = tasks.run("kmp_matcher", **given_)
        assert trace.inputs["key"].argmax(axis=-1).tolist() == [[0, 3, 0, 3]]
        assert trace.inputs["string"].tolist() == [[0, 0, 0, 1]]
    codes = tasks.run("kmp_matcher", "xyzx", needle="zx").inputs["key"].argmax(axis=-1)
    assert codes.tolist() == [[0, 1, 2, 0, 2, 0]]


def test_points_may_be_pairs_or_coordinates_or_two_segments():
    points = [(0.0, 0.0), (4.0, 1.0), (1.0, 5.0), (1.5, 1.0), (5.0, 6.0)]
    x, y = zip(*points, strict=True)
    for name in ("graham_scan", "jarvis_march"):
        for trace in (tasks.run(name, points), tasks.run(name, x=x, y=y)):
            assert trace.answer["in_hull"] == {0, 1, 2, 4}
    crossing = [[(0, 0), (2, 2)], [(0, 2), (2, 0)]]
    assert tasks.run("segments_intersect", crossing).answer["intersect"] == 1
    apart = [[(0, 0), (2, 2)], [(3, 2), (5, 0)]]
    assert tasks.run("segments_intersect", points=apart).answer["intersect"] == 0


def test_tasks_are_scheduled_in_order_of_value_while_their_deadlines_last():
    unit = tasks.run("task_scheduling", d=[4, 2, 4, 3, 1, 4, 6], w=[70, 60, 50, 40, 30, 20, 10])
    assert unit.answer["selected"] == {0, 1, 2, 5, 6}


def test_examples_of_the_textbook():
    """Introduction to Algorithms: a chain of matrices, a search tree, activities, a subarray."""
    split = tasks.run("matrix_chain_order", [30, 35, 15, 5, 10, 20, 25]).answer["s"]
    assert (split[1, 6], split[1, 3], split[4, 6]) == (3, 1, 5)
    tree = tasks.run(
        "optimal_bst", p=[0.15, 0.1, 0.05, 0.1, 0.2], q=[0.05, 0.1, 0.05, 0.05, 0.05, 0.1]
    )
    assert tree.hints["e"][0, -1, 0, 5] == pytest.approx(2.75)
    assert tree.answer["root"][0, 5] == 1
    starts, finishes = [1, 3, 0, 5, 3, 5, 6, 8, 8, 2, 12], [4, 5, 6, 7, 9, 9, 10, 11, 12, 14, 16]
    assert tasks.run("activity_selector", s=starts, f=finishes).answer["selected"] == {0, 3, 7, 10}
    best = tasks.run("find_maximum_subarray_kadane", [-2, 1, -3, 4, -1, 2, 1, -5, 4]).answer
    assert best == {"start": 3, "end": 6}
