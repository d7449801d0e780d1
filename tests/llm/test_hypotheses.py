"""Traces of the candidates, against networkx; and what heuristics are worth on matched items."""

import networkx as nx
import numpy as np
import pytest

from algoscope.llm.hypotheses import CANDIDATES, by_name, from_program, trace
from algoscope.llm.prompts import navigation

ITEMS = [
    *navigation(12, families=("random_tree", "random"), seed=1),
    *navigation(8, families=("random",), directed=False, seed=2),
]


def _graph(item):
    graph = nx.DiGraph() if item.directed else nx.Graph()
    graph.add_nodes_from(range(item.nodes))
    graph.add_edges_from(item.edges)
    return graph


def _sets(steps):
    return [set(np.flatnonzero(step).tolist()) for step in steps]


def test_bfs_visits_levels():
    for item in ITEMS:
        levels = list(nx.bfs_layers(_graph(item), [item.source]))[1:]
        assert _sets(trace(by_name("BFS"), item)) == [set(level) for level in levels]


def test_backward_search_visits_levels_towards_the_goal():
    for item in ITEMS:
        graph = _graph(item)
        graph = graph.reverse() if item.directed else graph
        levels = list(nx.bfs_layers(graph, [item.goal]))[1:]
        assert _sets(trace(by_name("backward search"), item)) == [set(level) for level in levels]


@pytest.mark.parametrize("name", ["DFS", "DFS, last first"])
def test_dfs_visits_a_node_a_step_next_to_the_latest_with_unvisited_neighbours(name):
    for item in ITEMS:
        steps = _sets(trace(by_name(name), item))
        assert all(len(step) == 1 for step in steps)
        order = [item.source, *(step.pop() for step in steps)]
        graph = _graph(item)
        assert set(order) == nx.descendants(graph, item.source) | {item.source}
        for position in range(1, len(order)):
            stack = [n for n in order[:position] if set(graph[n]) - set(order[:position])]
            assert order[position] in graph[stack[-1]]


def test_dfs_takes_the_first_edge_of_the_text_first():
    item = next(i for i in ITEMS if i.family == "random_tree")
    children = [b for a, b in item.edges if a == item.source]
    assert _sets(trace(by_name("DFS"), item))[0] == {children[0]}
    assert _sets(trace(by_name("DFS, last first"), item))[0] == {children[-1]}


def test_dijkstra_settles_nodes_by_distance():
    for item in ITEMS:
        distance = nx.single_source_shortest_path_length(_graph(item), item.source)
        order = [step.pop() for step in _sets(trace(by_name("Dijkstra"), item))]
        assert set(order) == set(distance) - {item.source}
        assert [distance[n] for n in order] == sorted(distance[n] for n in order)


def test_bidirectional_search_unites_both_ends():
    for item in ITEMS:
        both = trace(by_name("bidirectional search"), item)
        assert (both.sum(0) <= 1).all()
        forth, back = trace(by_name("BFS"), item), trace(by_name("backward search"), item)
        assert np.array_equal(both.any(0), forth.any(0) | back.any(0))
        assert np.array_equal(both[0], forth[0] | back[0])


def test_a_graph_program_is_a_hypothesis():
    with pytest.raises(ValueError, match="needed directed=False"):
        from_program("bfs").steps(ITEMS[0])
    for item in ITEMS[-4:]:
        steps = from_program("bfs").steps(item)
        assert np.array_equal(steps, trace(by_name("BFS"), item))
        assert from_program("bfs").answer(item) == item.reachable


def test_algorithms_are_right_and_heuristics_on_matched_items_hardly_better_than_chance():
    items = navigation(400, depths=(1, 2, 3), seed=5)
    chance = 3 * 0.5 / np.sqrt(len(items))
    expected = {candidate.name: (1, 0) for candidate in CANDIDATES if candidate.algorithm} | {
        "one hop": (1 / 2 + 1 / 6, 0.01),
        "two hops": (1 / 2 + 2 / 6, 0.01),
        "goal's sibling": (1 / 2, 0),
        "most mentioned": (1 / 2, 0),
        "last mentioned": (1 / 2, chance),
    }
    assert {candidate.name for candidate in CANDIDATES} == {*expected, "nearest by position"}
    for name, (share, margin) in expected.items():
        right = np.mean([by_name(name).answer(item) == item.reachable for item in items])
        assert right == pytest.approx(share, abs=margin), name


def test_nearness_in_the_text_tells_neighbours_alone():
    """A sentence mentions both ends of an edge."""
    near = by_name("nearest by position").answer
    assert all(near(item) for item in navigation(200, depths=(1,), seed=5) if item.reachable)
    items = navigation(400, depths=(2, 3), seed=5)
    right = np.mean([near(item) == item.reachable for item in items])
    assert right == pytest.approx(1 / 2, abs=3 * 0.5 / np.sqrt(len(items)))


def test_unknown_hypotheses_are_refused_with_a_guess():
    with pytest.raises(ValueError, match="did you mean BFS"):
        by_name("BSF")
