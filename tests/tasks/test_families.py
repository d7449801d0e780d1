"""Graph families: each has its family's structure, and each task gets graphs as it needs them."""

import collections

import networkx as nx
import numpy as np
import pytest
from drawing import samples_of

from algoscope import tasks
from algoscope.tasks import families, mersenne
from algoscope.tasks.compilation import in_python
from algoscope.tasks.families import FAMILIES, draw_delaunay

GRAPH_TASKS = [name for name in tasks.names(variants=True) if "A" in tasks.get(name).problem]


def graphs(family: str, size: int, count: int, seed: int = 0, **options) -> list[nx.Graph]:
    batch = tasks.sample("bfs", size, count, seed, family=family, **options)
    for A in batch.inputs["A"]:
        assert np.array_equal(A, A.T)
        assert not A.diagonal().any()
        assert set(np.unique(A)) <= {0, 1}
    return [nx.from_numpy_array(A) for A in batch.inputs["A"]]


def edge_counts(some: list[nx.Graph]) -> list[int]:
    return [graph.number_of_edges() for graph in some]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 9, 10, 33])
def test_a_graph_of_a_family_is_connected_at_every_size(family, size):
    assert all(map(nx.is_connected, graphs(family, size, 4)))


def test_every_tree_on_four_nodes_is_equally_likely():
    counts = collections.Counter(frozenset(g.edges) for g in graphs("tree", 4, 3200))
    assert len(counts) == 16
    assert all(150 < count < 250 for count in counts.values())


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_trees_are_trees(size):
    assert all(map(nx.is_tree, graphs("tree", size, 5)))


@pytest.mark.parametrize("branching", [1, 2, 3])
def test_a_tree_with_branching_is_the_complete_one(branching):
    for graph in graphs("tree", 20, 3, branching=branching):
        assert nx.is_isomorphic(graph, nx.full_rary_tree(branching, 20))


@pytest.mark.parametrize(
    ("size", "options", "shape"),
    [(16, {}, (4, 4)), (20, {"columns": 5}, (4, 5)), (7, {"columns": 1}, (7, 1)), (6, {}, (2, 3))],
)
def test_a_grid_is_a_rectangle(size, options, shape):
    for graph in graphs("grid", size, 3, **options):
        assert nx.is_isomorphic(graph, nx.grid_2d_graph(*shape))


def test_the_last_row_of_a_grid_may_be_shorter():
    [graph] = graphs("grid", 11, 1)
    full = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4), ordering="sorted")
    assert nx.is_isomorphic(graph, full.subgraph(range(11)))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_barabasi_albert_joins_each_new_node_to_m_others(m):
    some = graphs("barabasi_albert", 60, 40, attachments=m)
    theirs = [nx.barabasi_albert_graph(60, m, seed=seed) for seed in range(40)]
    assert set(edge_counts(some)) == set(edge_counts(theirs)) == {m + (60 - m - 1) * m}
    hubs, their_hubs = (
        np.mean([max(degree for _, degree in g.degree) for g in s]) for s in (some, theirs)
    )
    assert hubs == pytest.approx(their_hubs, rel=0.1)


def test_attachments_are_chosen_anew_for_each_graph():
    assert set(edge_counts(graphs("barabasi_albert", 20, 30))) == {36, 51, 64}


@pytest.mark.parametrize("size", [5, 12, 31])
def test_watts_strogatz_without_rewiring_is_a_ring(size):
    for graph in graphs("watts_strogatz", size, 2, neighbours=4, rewiring=0):
        assert nx.is_isomorphic(graph, nx.watts_strogatz_graph(size, 4, 0))


def test_watts_strogatz_rewires_as_many_edges_as_networkx():
    for p in (0.1, 0.5, 1.0):
        some = graphs("watts_strogatz", 60, 40, neighbours=6, rewiring=p)
        theirs = [nx.connected_watts_strogatz_graph(60, 6, p, seed=seed) for seed in range(40)]
        assert set(edge_counts(some)) == {180}
        clustering, theirs_clustering = (
            np.mean([*map(nx.transitivity, s)]) for s in (some, theirs)
        )
        assert clustering == pytest.approx(theirs_clustering, abs=0.02)


def test_watts_strogatz_by_default_chooses_four_six_or_eight_neighbours():
    assert set(edge_counts(graphs("watts_strogatz", 20, 30))) == {40, 60, 80}


def _delaunay(points: np.ndarray) -> np.ndarray:
    """Pairs p, q on a circle with nobody inside: bool [point, point]. Its centre is the pair's
    middle + t u, with u at right angles to q - p; that k lies outside says

        2 t u · (k - p) < (k - p) · (k - q)

    which bounds t from above or from below.
    """
    joined = np.zeros((len(points), len(points)), bool)
    for p, point in enumerate(points):
        x, y = (points - point).T
        slopes = 2 * (x[:, None] * y - y[:, None] * x)
        products = ((points - point) * (points - points[:, None])).sum(-1)
        bounds = np.divide(products, slopes, where=slopes != 0, out=np.zeros_like(slopes))
        lowest = bounds.max(1, where=slopes < 0, initial=-np.inf)
        joined[p] = lowest < bounds.min(1, where=slopes > 0, initial=np.inf)
    np.fill_diagonal(joined, False)
    return joined


@pytest.mark.parametrize("size", [3, 4, 5, 8, 14, 200])
def test_delaunay_joins_pairs_on_an_empty_circle(size):
    for seed in range(3):
        A = np.zeros((size, size))
        draw_delaunay(mersenne.stream_from(np.random.RandomState(seed)), A)
        points = np.random.RandomState(seed).uniform(0, 1, (size, 2))
        assert np.array_equal(A, _delaunay(points))


def test_sparse_erdos_renyi_has_the_density_asked_for():
    size, density = 200, 3.0
    counts = edge_counts(graphs("sparse_erdos_renyi", size, 20, density=density))
    expected = density * np.log(size) / size * size * (size - 1) / 2
    assert np.mean(counts) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_nodes_number_does_not_tell_its_place(family):
    degrees = np.mean(
        [[degree for _, degree in graph.degree] for graph in graphs(family, 12, 400)], axis=0
    )
    assert degrees == pytest.approx(np.full(12, degrees.mean()), rel=0.15)


@pytest.mark.parametrize("name", GRAPH_TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_graph_task_takes_every_family(name, family):
    """And traces it as it would the same graph from a user, who may give none it does not allow."""
    batch = tasks.sample(name, 9, 3, 1, family=family)
    for sample in samples_of(batch):
        given = {"source": int(sample.inputs["s"].argmax())} if "s" in sample.inputs else {}
        [trace] = samples_of(tasks.run(name, sample.inputs["A"], **given))
        for key, value in (sample.inputs | sample.hints | sample.outputs).items():
            assert np.array_equal(value, (trace.inputs | trace.hints | trace.outputs)[key]), key
        weighted = "low" in tasks.get(name).options
        assert (len(np.unique(sample.inputs["A"])) > 2) == weighted


def test_an_acyclic_graph_has_every_edge_of_its_family_in_one_direction():
    A = tasks.sample("topological_sort", 9, 5, 0, family="grid").inputs["A"]
    for matrix in A:
        assert nx.is_isomorphic(nx.from_numpy_array(matrix + matrix.T), nx.grid_2d_graph(3, 3))


@pytest.mark.parametrize(("reciprocity", "directions"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_reciprocity_is_how_many_edges_go_both_ways(reciprocity, directions):
    batch = tasks.sample("dfs", 40, 20, 0, family="tree", reciprocity=reciprocity)
    assert batch.inputs["A"].sum() / (20 * 39) == pytest.approx(directions, rel=0.05)
    assert (batch.inputs["A"] + batch.inputs["A"].swapaxes(1, 2) > 0).sum() == 20 * 39 * 2
    upwards = np.triu(batch.inputs["A"]).sum() / batch.inputs["A"].sum()
    assert upwards == pytest.approx(0.5, abs=0.05)


def test_components_are_communities_of_the_family():
    options = {"family": "grid", "eps": 0.0}
    whole, none = (
        tasks.sample("strongly_connected_components", 18, 5, 0, reciprocity=r, k=2, **options)
        for r in (1.0, 0.0)
    )
    for A, component in zip(whole.inputs["A"], whole.outputs["scc_id"], strict=True):
        assert sorted(np.unique(component, return_counts=True)[1]) == [9, 9]
        for node in np.unique(component):
            inside = np.flatnonzero(component == node)
            community = nx.from_numpy_array(A[np.ix_(inside, inside)])
            assert nx.is_isomorphic(community, nx.grid_2d_graph(3, 3))
    assert none.inputs["A"].sum() * 2 == whole.inputs["A"].sum()


def test_a_longer_batch_of_a_family_begins_as_a_shorter_one():
    few, many = (tasks.sample("dijkstra", 10, count, 3, family="delaunay") for count in (2, 9))
    for key in few.inputs:
        assert np.array_equal(few.inputs[key], many.inputs[key][:2])
    assert np.array_equal(few.outputs["pi"], many.outputs["pi"][:2])


def test_erdos_renyi_is_the_default_and_draws_as_ever():
    default, named = tasks.sample("bfs", 8), tasks.sample("bfs", 8, family="erdos_renyi")
    assert np.array_equal(default.inputs["A"], named.inputs["A"])


@pytest.mark.parametrize("family", FAMILIES)
def test_sixteen_hundred_nodes(family):
    batch = tasks.sample("bfs", 1600, 1, 0, family=family)
    reached = batch.hints["reach_h"][0, batch.lengths[0] - 1]
    assert reached.shape == (1600,)
    assert reached.all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "delauney"}, "unknown family: 'delauney'; did you mean delaunay"),
        ({"family": 3}, "unknown family: 3; there is barabasi_albert, delaunay, erdos_renyi, "),
        ({"family": None}, "unknown family: None"),
        ({"family": "grid", "p": 0.5}, "p: got 0.5 with family='grid', needed family='erdos_reny"),
        ({"columns": 3}, "columns: got 3 with family='erdos_renyi', needed family='grid'"),
        ({"family": "tree", "columns": 3}, "columns: got 3 with family='tree', needed family='gr"),
        ({"family": "grid", "columns": 0}, "columns: got 0, needed an integer of at least 1"),
        ({"family": "tree", "branching": 1.5}, "branching: got 1.5, needed an integer"),
        (
            {"family": "barabasi_albert", "attachments": []},
            "attachments: got an empty list, needed",
        ),
        ({"family": "barabasi_albert", "attachments": [2, 0]}, "attachments: got 0, needed an int"),
        ({"family": "watts_strogatz", "neighbours": 3}, "neighbours: got 3, needed an even number"),
        ({"family": "watts_strogatz", "rewiring": 1.5}, "rewiring: got 1.5, needed a probability"),
        ({"family": "watts_strogatz", "rewiring": (0.2, 0.1)}, r"rewiring: got \(0.2, 0.1\), need"),
        ({"family": "watts_strogatz", "rewiring": (0.1,)}, "the lowest and the highest of a range"),
        ({"family": "sparse_erdos_renyi", "density": 0}, "density: got 0, needed a number above 0"),
        ({"family": "sparse_erdos_renyi", "density": 0.1}, "density: needed a higher one"),
        ({"reciprocity": 0.5}, "unknown option of bfs: 'reciprocity'"),
    ],
)
def test_a_bad_option_of_a_family_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        tasks.sample("bfs", **options)


def test_rewiring_is_refused_if_no_attempt_gives_a_connected_graph(monkeypatch):
    monkeypatch.setattr(families, "_ATTEMPTS", 1)
    stream = mersenne.stream_from(np.random.RandomState(2))
    neighbours, rewiring = np.array([2]), np.array([1.0, 1.0])
    with pytest.raises(ValueError, match="rewiring: needed less of it, or more neighbours"):
        in_python(families.draw_watts_strogatz)(stream, neighbours, rewiring, np.zeros((50, 50)))


def test_reciprocity_means_nothing_in_the_graphs_of_clrs():
    with pytest.raises(
        ValueError, match=r"reciprocity: got 0\.5 with family='erdos_renyi', needed"
    ):
        tasks.sample("dfs", reciprocity=0.5)
