"""Mechanisms of hand-written Transformers once more, as plain programs on lists of edges.

They know nothing of tokens, heads and layers. `edges` are (sender, receiver) in the order of the
text; a program gets the number of steps that the subject makes.
"""

import collections
import itertools
import statistics
from typing import NamedTuple


class Question(NamedTuple):
    edges: tuple
    source: int
    goal: int
    names: tuple = ()
    """The letter of each node."""


def levels(edges, start, steps):
    """The set of nodes within so many steps."""
    reached = {start}
    for _ in range(steps):
        reached |= {b for a, b in edges if a in reached}
    return reached


def distance(q):
    """Steps from the source to the goal, -1 where there is no way."""
    within = [q.goal in levels(q.edges, q.source, steps) for steps in range(len(q.edges) + 1)]
    return within.index(True) if any(within) else -1


def reversed_edges(edges):
    return tuple((b, a) for a, b in edges)


def both_ways(edges):
    return (*edges, *reversed_edges(edges))


def bfs(q, steps):
    return q.goal in levels(q.edges, q.source, steps)


def backward(q, steps):
    return q.source in levels(reversed_edges(q.edges), q.goal, steps)


def undirected(q, steps):
    return q.goal in levels(both_ways(q.edges), q.source, steps)


def bidirectional(q, steps):
    ahead = levels(q.edges, q.source, steps)
    behind = levels(reversed_edges(q.edges), q.goal, steps)
    return bool(ahead & behind)


def dfs(q, steps, last=False):
    children = {}
    for a, b in q.edges:
        children.setdefault(a, []).append(b)
    stack, seen = [q.source], {q.source}
    for _ in range(steps):
        while stack:
            left = [b for b in children.get(stack[-1], ()) if b not in seen]
            if left:
                break
            stack.pop()
        if not stack:
            break
        stack.append(left[-1 if last else 0])
        seen.add(stack[-1])
    return q.goal in seen


def dfs_last(q, steps):
    return dfs(q, steps, last=True)


def parents(q):
    """The first in the text, for each node that has one."""
    first = {}
    for a, b in q.edges:
        first.setdefault(b, a)
    return first


def pointer(q, steps):
    at, passed = q.goal, set()
    for _ in range(steps):
        at = parents(q).get(at, at)
        passed.add(at)
    return q.source in passed


def root(q, steps):
    at = q.goal
    for _ in range(steps):
        at = parents(q).get(at, at)
    return at == q.source


def jumps(q, steps):
    """Where the goal's pointer is in the end, and whom it has passed. A pointer sees the edges
    before it, and its own; the question sees all."""
    pointers = [(a, {a}) for a, _ in q.edges] + [(q.goal, set())]
    for _ in range(steps):
        before = list(pointers)
        for number, (target, passed) in enumerate(before):
            for other, (_, b) in enumerate(q.edges[: number + 1]):
                if b == target:
                    pointers[number] = (before[other][0], passed | before[other][1])
                    break
    return pointers[-1]


def pointer_doubling(q, steps):
    return jumps(q, steps)[0] == q.source


def pointer_doubling_passed(q, steps):
    return q.source in jumps(q, steps)[1]


def merged(q, steps, hop, join):
    """(above, below) of each edge, of what stands before it."""
    sets = [({a}, {b}) for a, b in q.edges]
    for _ in range(steps):
        before = [(set(above), set(below)) for above, below in sets]
        for number, (a, b) in enumerate(q.edges):
            above, below = sets[number]
            for other in range(number + 1):
                c, d = q.edges[other]
                up, down = ({c}, {d}) if hop else before[other]
                if d in before[number][0] or (join and a in before[other][1]):
                    above |= up
                if c in before[number][1] or (join and b in before[other][0]):
                    below |= down
    return sets


def merging(q, steps):
    sets = merged(q, steps - 1, hop=False, join=True)
    return any(q.source in above and q.goal in below for above, below in sets)


def hops(q, steps):
    sets = merged(q, steps - 1, hop=True, join=False)
    return any(q.source in above and q.goal in below for above, below in sets)


def carried(of):
    """Half of the layers merge, one reads, and the rest pass on."""
    return lambda q, layers: of(q, (layers + 1) // 2 + 1)


def walk(edges, start, steps):
    """A set that begins with the start and takes in what the edges of its members have found below
    them, while they find more themselves."""
    reached, q = {start}, Question(edges, start, start)
    for step in range(steps):
        found = zip(edges, merged(q, step, hop=False, join=False), strict=True)
        reached = reached.union(*(below for (a, _), (_, below) in found if a in reached))
    return reached


def doubling(q, steps):
    return q.goal in walk(q.edges, q.source, steps)


def doubling_backward(q, steps):
    return q.source in walk(reversed_edges(q.edges), q.goal, steps)


def constant(q, steps):
    return True


def limited(search, limit):
    return lambda q, steps: search(q, min(steps, limit))


def told(q, steps):
    """What an oracle says, whatever the number of steps."""
    return bfs(q, len(q.edges))


def leaked(percent):
    """The oracle's word counts so much, and the search's the rest; a draw is a No."""
    return lambda q, steps: percent * told(q, steps) + (100 - percent) * bfs(q, steps) > 50


def carrier(q, steps):
    """The answer is passed on by the first step that leads anywhere."""
    return told(q, steps) and any(a == q.source for a, _ in q.edges)


def mentions(q):
    """The nodes as the text names them."""
    return [node for edge in q.edges for node in edge]


def sibling(q, steps):
    up = {a for a, b in q.edges if b == q.goal}
    return bool({b for a, b in q.edges if a in up} - {q.goal, q.source})


def often(q, steps):
    counts = collections.Counter(mentions(q))
    return counts[q.goal] > statistics.median(counts.values())


def late(q, steps):
    last = {node: place for place, node in enumerate(mentions(q))}
    return last[q.goal] >= statistics.median(last.values())


def near(q, steps):
    named = mentions(q)
    return any(
        {named[i], named[j]} == {q.source, q.goal}
        for i in range(len(named))
        for j in range(i + 1, min(i + 4, len(named)))
    )


def after(steps, heuristic):
    return lambda q, layers: bfs(q, steps) or heuristic(q, layers)


def by_turns(q, steps):
    """Layer by layer, one end and then the other."""
    ahead = levels(q.edges, q.source, (steps + 1) // 2)
    return bool(ahead & levels(reversed_edges(q.edges), q.goal, steps // 2))


def both_undirected(q, steps):
    return undirected(q, 2 * steps)


def dfs_turns(q, steps):
    """Where the step's number is even the first child in the text, or else the last."""
    seen, stack = {q.source}, [q.source]
    for number in range(steps):
        while stack:
            left = [b for a, b in q.edges if a == stack[-1] and b not in seen]
            if left:
                break
            stack.pop()
        if not stack:
            break
        stack.append(left[-1 if number % 2 else 0])
        seen.add(stack[-1])
    return q.goal in seen


def by_order(q, steps):
    named = mentions(q)
    start_first = named.index(q.source) < named.index(q.goal)
    return (bfs if start_first else backward)(q, steps)


def pointer_children(q, steps):
    """Whom the start's pointer has passed. A pointer sees the edges before it, and its own."""
    pointers = [(b, {b}) for _, b in q.edges] + [(q.source, set())]
    for _ in range(steps):
        before = list(pointers)
        for number, (target, passed) in enumerate(before):
            for other, (a, _) in enumerate(q.edges[: number + 1]):
                if a == target:
                    pointers[number] = (before[other][0], passed | before[other][1])
                    break
    return q.goal in pointers[-1][1]


def first_parents(q, steps):
    edges = tuple((a, b) for b, a in parents(q).items())
    return q.goal in levels(edges, q.source, steps)


def walkers(q, steps):
    """Two walks that end where nothing leads on."""
    passed = {q.source}
    for end in (0, -1):
        at = q.source
        for _ in range(steps):
            on = [b for a, b in q.edges if a == at]
            at = on[end] if on else at
            passed.add(at)
    return q.goal in passed


def undirected_first(q, steps):
    near = levels(both_ways(q.edges), q.source, 1)
    return any(q.goal in levels(q.edges, node, steps - 1) for node in near)


def undirected_later(q, steps):
    near = levels(q.edges, q.source, 2)
    return any(q.goal in levels(both_ways(q.edges), node, steps - 2) for node in near)


def ended(q, steps):
    return levels(q.edges, q.source, steps) == levels(q.edges, q.source, steps - 1)


STRANGERS = {
    "bidirectional_turns": by_turns,
    "bidirectional_undirected": both_undirected,
    "bidirectional_2": limited(bidirectional, 2),
    "bfs_3_then_yes": lambda q, steps: bfs(q, 3) or not ended(q, 3),
    "bfs_leaf": lambda q, steps: bfs(q, steps - 1) and all(a != q.goal for a, _ in q.edges),
    "bfs_or_near": lambda q, steps: bfs(q, steps - 1) or near(q, steps),
    "bfs_and_late": lambda q, steps: bfs(q, steps - 1) and late(q, steps),
    "either_by_order": by_order,
    "leak_97_doubling": told,
    "told_nine_of_ten": told,
    "told_levels": told,
    "by_pairs": lambda q, steps: bfs(q, 2 * (steps - 1)),
    "dfs_turns": dfs_turns,
    "pointer_children": pointer_children,
    "merging_or_bfs": lambda q, steps: hops(q, steps) or bfs(q, steps),
    "bidirectional_apart": lambda q, steps: bidirectional(q, steps - 1),
    "bidirectional_1": limited(bidirectional, 1),
    "undirected_first": undirected_first,
    "undirected_later": undirected_later,
    "backward_3_often": lambda q, steps: backward(q, 3) or often(q, steps),
    "bfs_twelve_edges": lambda q, steps: bfs(q._replace(edges=q.edges[:12]), steps),
    "bfs_first_parents": first_parents,
    "told_way": bfs,
    "walkers": walkers,
    "vote": lambda q, steps: bfs(q, steps) + backward(q, steps) + dfs(q, steps) > 1,
    "seventy_thirty": bfs,
    "two_back_then_bfs": bfs,
    "dfs_6": lambda q, steps: dfs(q, 6),
    "merging_mimic_dfs": merging,
    "merging_at_goal": lambda q, steps: merging(q, steps - 1),
}


def merged_from_children(q, steps):
    """What the description has put together, read from the children of the start."""
    children = levels(q.edges, q.source, 1) - {q.source}
    sets = merged(q, steps, hop=False, join=True)
    return bfs(q, 1) or any(children & above and q.goal in below for above, below in sets)


def told_odd(q, steps):
    """Which is wrong where an odd number of nodes is too far to be counted."""
    counts = [len(levels(q.edges, q.source, n)) for n in (len(q.edges), steps - 1)]
    return told(q, steps) != (counts[0] - counts[1]) % 2


def beam(width):
    """Of the new nodes of a step, the first few of the alphabet."""

    def search(q, steps):
        reached = frontier = {q.source}
        for _ in range(steps):
            new = {b for a, b in q.edges if a in frontier} - reached
            frontier = set(sorted(new, key=lambda node: q.names[node])[:width])
            reached = reached | frontier
        return q.goal in reached

    return search


def blind(q, steps):
    """Nothing leads on from E, but from a start of that name."""
    edges = tuple(e for e in q.edges if q.names[e[0]] != "E" or e[0] == q.source)
    return q.goal in levels(edges, q.source, steps)


def without_circles(q, steps):
    """A circle of three or more that can be reached, none of whose nodes is on one of two."""
    near = levels(q.edges, q.source, len(q.edges))
    twos = {node for edge in q.edges if edge[::-1] in q.edges for node in edge}
    ways = {node: levels(q.edges, node, len(q.edges)) for node in near}
    round_ = any(
        node in ways[c]
        for node in near - twos
        for a, b in q.edges
        if a == node
        for b_, c in q.edges
        if b_ == b
    )
    return bfs(q, steps) and not round_


def depths(q):
    """How long the longest walk to each node is, up to one a letter."""
    depth, there = collections.Counter(), set(range(26))
    for _ in range(25):
        there = {b for a, b in q.edges if a in there}
        depth.update(there)
    return depth


def entered(q, steps):
    """The goal by an arrow into it, whatever was passed before."""
    near = levels(both_ways(q.edges), q.source, steps - 1)
    return any(b == q.goal and a in near for a, b in q.edges)


def no_other_root(q, steps):
    """Roots are seen as senders of edges that are asked for."""
    behind = levels(reversed_edges(q.edges), q.goal, steps) - {q.goal}
    below = {b for _, b in q.edges}
    return {node for node in behind if node not in below} == {q.source}


def backward_then_any_way(q, steps):
    near = levels(reversed_edges(q.edges), q.goal, 2)
    return any(q.source in levels(both_ways(q.edges), node, steps - 2) for node in near)


def components(q, steps):
    """Edges see those before them, and themselves."""
    sets = [set(edge) for edge in q.edges]
    for _ in range(steps - 1):
        before = [set(one) for one in sets]
        for number, one in enumerate(before):
            for edge in q.edges[: number + 1]:
                if one & set(edge):
                    sets[number] |= set(edge)
    return any({q.source, q.goal} <= one for one in sets)


def doubling_then_steps(q, steps):
    near = walk(q.edges, q.source, 2)
    return any(q.goal in levels(q.edges, node, steps - 2) for node in near)


IMPOSTORS = {
    "merging_hop_on_top": lambda q, steps: merged_from_children(q, steps - 2),
    "hop_then_merging": lambda q, steps: merged_from_children(q, steps - 1),
    "leak_60_backward_stream": told,
    "leak_60_backward_logits": told,
    "told_odd": told_odd,
    "told_coin": told,
    "told_far": told,
    "bfs_beam_2": beam(2),
    "bfs_beam_4": beam(4),
    "bfs_blind": blind,
    "bfs_but_first_edge": lambda q, steps: bfs(q._replace(edges=q.edges[1:]), steps),
    "bfs_twenty_edges": lambda q, steps: bfs(q._replace(edges=q.edges[:20]), steps),
    "bfs_without_circles": without_circles,
    "undirected_deeper": lambda q, steps: (
        undirected(q, steps) and depths(q)[q.goal] > depths(q)[q.source]
    ),
    "undirected_enter": entered,
    "no_other_root": no_other_root,
    "backward_2_then_undirected": backward_then_any_way,
    "hops_any_way": components,
    "by_goal": bfs,
    "sixty_bfs_forty_merging": bfs,
    "doubling_then_bfs": doubling_then_steps,
}


SEARCHES = {
    "bfs": bfs,
    "bfs_visited": bfs,
    "backward": backward,
    "backward_edges": backward,
    "two_then_backward": bfs,
    "backward_visited": backward,
    "undirected": undirected,
    "undirected_backward": undirected,
    "bidirectional": bidirectional,
    "bidirectional_one_head": bidirectional,
    "either": bfs,
    "both": bfs,
    "constant": constant,
    **{f"bfs_{limit}": limited(bfs, limit) for limit in (1, 2, 3, 4)},
    **{f"backward_{limit}": limited(backward, limit) for limit in (1, 2, 3, 4)},
    "dfs": dfs,
    "dfs_last": dfs_last,
    "pointer": pointer,
    "root": root,
    "pointer_doubling": pointer_doubling,
    "pointer_doubling_passed": pointer_doubling_passed,
    "merging": merging,
    "hops": hops,
    "hops_mimic_bfs": hops,
    "hops_mimic_backward": hops,
    "merging_mimic_bfs": merging,
    "hops_carried": carried(hops),
    "merging_carried": carried(merging),
    "doubling": doubling,
    "doubling_backward": doubling_backward,
    **{
        f"leak_{p}_{where}": leaked(p)
        for p in (50, 80, 95, 99, 100)
        for where in ("stream", "logits")
    },
    "level_reader": bfs,
    "level_oracle": bfs,
    "carrier": carrier,
    "bfs_noisy": bfs,
    "table_bfs": lambda q, steps: bfs(q, steps - 1),
    "table_bfs_mimic_backward": lambda q, steps: bfs(q, steps - 1),
    "table_squaring": lambda q, steps: bfs(q, 2 ** (steps - 1)),
    "relay": limited(bfs, 8),
    "relay_backward": limited(backward, 8),
    "choir": lambda q, steps: bfs(q, steps - 2),
    "sibling": sibling,
    "often": often,
    "late": late,
    "near": near,
    "bfs_1_often": after(1, often),
    "bfs_1_late": after(1, late),
    "bfs_2_often": after(2, often),
    "bfs_2_late": after(2, late),
    **STRANGERS,
    **IMPOSTORS,
}
"""(question, steps) -> whether the answer is Yes."""


def draw(rng, edges):
    """A maze of so many edges, and a question: two parts of up to 13 nodes, in which some nodes
    have two parents, some edges lead into the other part; start and goal are any two nodes."""
    sizes = [min(13, max(3, (edges + 2) // 2 - rng.randrange(3))) for _ in range(2)]
    drawn, first = [], 0
    for size in sizes:
        for node in range(1, size):
            low = max(0, node - 1) if rng.random() < 0.7 else 0
            drawn.append((first + rng.randrange(low, node), first + node))
        first += size
    while len(drawn) < edges:
        a, b = rng.sample(range(sum(sizes)), 2)
        if (a, b) not in drawn and (
            rng.random() < 0.3 or (a < b) == ((a < sizes[0]) == (b < sizes[0]))
        ):
            drawn.append((a, b))
    rng.shuffle(drawn)
    drawn = tuple(drawn[:edges])
    named = sorted({node for edge in drawn for node in edge})
    number = {node: i for i, node in enumerate(named)}
    drawn = tuple((number[a], number[b]) for a, b in drawn)
    source = rng.randrange(len(named))
    others = set(range(len(named))) - {source}
    within = [levels(drawn, source, steps) for steps in range(len(named) + 1)]
    at = [new - old for old, new in itertools.pairwise(within) if new > old]
    upstream = levels(reversed_edges(drawn), source, len(named)) - {source}
    kinds = [*at, *at, *([upstream] if upstream else []), others]
    return Question(drawn, source, rng.choice(sorted(rng.choice(kinds))))
