"""Geometry in the plane: crossing segments and convex hulls."""

import math

import numpy as np

from algoscope.tasks import mersenne, needs
from algoscope.tasks.compilation import cached, compiled, order, record
from algoscope.tasks.graphs import start_at_self
from algoscope.tasks.options import RANGE, Option, integer, number, positive
from algoscope.tasks.sequences import chain
from algoscope.tasks.task import Task


@compiled
def _direction(x, y, i, j, k):
    """Positive if k lies to the right of the line from i to j, zero if on it."""
    return (x[k] - x[i]) * (y[j] - y[i]) - (x[j] - x[i]) * (y[k] - y[i])


@compiled
def _between(a, b, c):
    return min(a, b) <= c <= max(a, b)


@compiled
def _opposite(a, b):
    return a < 0 < b or b < 0 < a


@compiled
def cross_segments(trace, x, y, i, j, k, dir_, on_seg, intersect):
    """Segment intersection, an endpoint a step: does segment 0-1 meet segment 2-3?"""
    record(trace)
    for node in range(4):
        start = 2 if node < 2 else 0
        i[0], j[0], k[0] = start, start + 1, node
        dir_[node] = _direction(x, y, start, start + 1, node)
        on_seg[node] = _between(x[start], x[start + 1], x[node]) and _between(
            y[start], y[start + 1], y[node]
        )
        record(trace)
    crossing = _opposite(dir_[0], dir_[1]) and _opposite(dir_[2], dir_[3])
    intersect[0] = crossing or ((dir_ == 0) & (on_seg == 1)).any()


@compiled
def _lowest(x, y):
    """The lowest point, the leftmost of several."""
    best = 0
    for i in range(x.shape[0]):
        if y[i] < y[best] or (y[i] == y[best] and x[i] < x[best]):
            best = i
    return best


@compiled
def _turns_right(x, y, i, j, k):
    """Does the way from i over j to another point k turn right or go straight on?"""
    return k not in (i, j) and _direction(x, y, i, j, k) >= 0


@cached
def scan_by_angle(trace, x, y, best, atans, in_hull_h, stack_prev, last_stack, i, phase):
    """Graham scan for the convex hull, a push or pop a step (Graham, 1972)."""
    start_at_self(stack_prev)
    record(trace)
    lowest = _lowest(x, y)
    best[0] = last_stack[0] = i[0] = lowest
    in_hull_h[lowest] = 1
    phase[0] = 1
    record(trace)

    for node in range(x.shape[0]):
        atans[node] = math.atan2(y[node] - y[lowest], x[node] - x[lowest])
    atans[lowest] = -np.inf
    by_angle = order(atans)
    atans[lowest] = 0.0
    phase[0] = 2
    record(trace)

    for rank in range(1, x.shape[0]):
        i[0] = by_angle[rank]
        phase[0] = 3
        while (
            rank >= 3
            and last_stack[0] != lowest  # or points on a line could empty the stack
            and _turns_right(x, y, stack_prev[last_stack[0]], last_stack[0], i[0])
        ):
            popped = last_stack[0]
            last_stack[0] = stack_prev[popped]
            stack_prev[popped] = popped
            in_hull_h[popped] = 0
            record(trace)
        in_hull_h[i[0]] = 1
        stack_prev[i[0]] = last_stack[0]
        last_stack[0] = i[0]
        phase[0] = 4
        record(trace)


@cached
def wrap(trace, x, y, pred_h, in_hull_h, best, last_point, endpoint, i, phase):
    """Jarvis' march around the convex hull, a comparison a step (Jarvis, 1973)."""
    chain(pred_h)
    record(trace)
    best[0] = endpoint[0] = _lowest(x, y)
    phase[0] = 1
    while not in_hull_h[endpoint[0]]:
        in_hull_h[endpoint[0]] = 1
        last_point[0] = endpoint[0]
        endpoint[0] = i[0] = 0
        record(trace)
        for node in range(x.shape[0]):
            i[0] = node
            if endpoint[0] == last_point[0] or _turns_right(x, y, last_point[0], endpoint[0], node):
                endpoint[0] = node
            record(trace)


@compiled
def _left_of(x, y, a, b, c):
    return _direction(x, y, a, b, c) < 0


@compiled
def _cross(x, y):
    return _left_of(x, y, 0, 2, 3) != _left_of(x, y, 1, 2, 3) and (
        _left_of(x, y, 0, 1, 2) != _left_of(x, y, 0, 1, 3)
    )


@compiled
def draw_segments(stream, low, high, x, y):
    """Two segments that cross with probability one half."""
    if low == high:
        raise ValueError("high: got the value of low, needed another, or no segments ever cross")
    crossing = np.empty(1)
    mersenne.bernoulli(stream, 0.5, crossing)
    while True:
        mersenne.uniform(stream, low, high, x)
        mersenne.uniform(stream, low, high, y)
        if _cross(x, y) == (crossing[0] == 1):
            return


@cached
def _draw_polar(stream, angles, squared_radii):
    mersenne.uniform(stream, 0.0, 2.0 * np.pi, angles)
    mersenne.uniform(stream, 0.0, 1.0, squared_radii)


# Plain Python: the compiled cos and sin are not numpy's to the last bit.
def draw_disk(
    stream, origin_x, origin_y, radius,
    collinearity_resampling_attempts, collineararity_eps, scale, x, y,
):  # fmt: skip
    """Points spread evenly over a disk, no three of them on a line."""
    angles, squared_radii = np.empty((2, x.shape[0]))
    for _ in range(collinearity_resampling_attempts):
        _draw_polar(stream, angles, squared_radii)
        radii = radius * np.sqrt(squared_radii)
        x[:] = radii * np.cos(angles) + origin_x
        y[:] = radii * np.sin(angles) + origin_y
        if scale > 0:
            x[:] = np.trunc(x * scale) / scale
            y[:] = np.trunc(y * scale) / scale
        if needs.collinear(x, y, collineararity_eps)[0] < 0:
            return
    raise ValueError(
        f"collinearity_resampling_attempts: got {collinearity_resampling_attempts}, needed more: "
        f"each time some three of the {x.shape[0]} points were on a line; fewer points, a larger "
        "radius, a smaller collineararity_eps or more truncate_decimals make that rarer"
    )


segments_intersect = Task(
    "segments_intersect",
    """
    pos        input   node   scalar           # the node's position, which names it
    x          input   node   scalar           # abscissa of the point
    y          input   node   scalar           # ordinate of the point
    intersect  output  graph  mask      whole  # whether segment 0-1 meets segment 2-3
    i          hint    node   mask_one         # the segment's first end
    j          hint    node   mask_one         # its second end
    k          hint    node   mask_one         # the point that is compared with it
    dir        hint    node   scalar           # the side of the segment it is on
    on_seg     hint    node   mask             # within the box around the segment
    """,
    draw_segments,
    cross_segments,
    options=RANGE,
    nodes=lambda size, options: 4,
    evaluation_multiplier=64,
    needs=(needs.two_segments,),
)

_DISK = {
    "origin_x": Option(0.0, number),
    "origin_y": Option(0.0, number),
    "radius": Option(2.0, positive),
    "collinearity_resampling_attempts": Option(1000, integer(1)),
    # The name is dm-clrs's.
    "collineararity_eps": Option(1e-12, number),
}

graham_scan = Task(
    "graham_scan",
    """
    pos         input   node   scalar          # the node's position, which names it
    x           input   node   scalar          # abscissa of the point
    y           input   node   scalar          # ordinate of the point
    in_hull     output  node   mask            # a corner of the convex hull
    best        hint    node   mask_one        # the lowest point
    atans       hint    node   scalar          # angle as seen from the lowest point
    in_hull_h   hint    node   mask            # a corner so far
    stack_prev  hint    node   pointer         # the point below on the stack
    last_stack  hint    node   mask_one        # the top of the stack
    i           hint    node   mask_one        # the point in work
    phase       hint    graph  categorical  5  # start, lowest, angles, pop or push
    """,
    draw_disk,
    scan_by_angle,
    options=_DISK,
    needs=(needs.no_three_on_a_line,),
)

jarvis_march = Task(
    "jarvis_march",
    """
    pos         input   node   scalar          # the node's position, which names it
    x           input   node   scalar          # abscissa of the point
    y           input   node   scalar          # ordinate of the point
    in_hull     output  node   mask            # a corner of the convex hull
    pred_h      hint    node   pointer         # the node before
    in_hull_h   hint    node   mask            # a corner so far
    best        hint    node   mask_one        # the lowest point
    last_point  hint    node   mask_one        # the last corner found
    endpoint    hint    node   mask_one        # the next corner so far
    i           hint    node   mask_one        # the point compared with it
    phase       hint    graph  categorical  2  # start or wrapping
    """,
    draw_disk,
    wrap,
    options=_DISK,
    needs=(needs.no_three_on_a_line,),
    fixed_predecessors=True,
)
