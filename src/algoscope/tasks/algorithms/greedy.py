"""Greedy algorithms over a sequence."""

import numpy as np

from algoscope.tasks import mersenne, needs
from algoscope.tasks.compilation import compiled, order, record
from algoscope.tasks.options import RANGE, Option, integer
from algoscope.tasks.sequences import chain, draw_codes
from algoscope.tasks.task import Task


@compiled
def draw_activities(stream, low, high, s, f):
    """Starts and finishes: the smaller and the larger of two uniform values."""
    mersenne.uniform(stream, low, high, s)
    mersenne.uniform(stream, low, high, f)
    for i in range(s.shape[0]):
        s[i], f[i] = min(s[i], f[i]), max(s[i], f[i])


@compiled
def select_activities(trace, s, f, pred_h, selected_h, m, k):
    """Most compatible activities, earliest finish first (Gavril, 1972)."""
    chain(pred_h)
    record(trace)
    free_from = -np.inf
    for activity in order(f):
        m[0] = activity
        if s[activity] >= free_from:
            selected_h[activity] = 1
            k[0] = activity
            free_from = f[activity]
        record(trace)


@compiled
def draw_tasks(stream, max_deadline, low, high, d, w):
    """Deadlines 1 … max_deadline and uniform values."""
    draw_codes(stream, max_deadline, d)
    d += 1
    mersenne.uniform(stream, low, high, w)


@compiled
def schedule_tasks(trace, d, w, pred_h, selected_h, i, t):
    """Unit-time tasks in order of value, each if its deadline still allows it (Lawler, 1985)."""
    chain(pred_h)
    record(trace)
    for task in order(-w):
        i[0] = task
        if t[0] < d[task]:
            selected_h[task] = 1
            t[0] += 1
        record(trace)


def _deadline(name, value, size):
    return size if value is None else integer(1, 2**32)(name, value, size)


activity_selector = Task(
    "activity_selector",
    """
    pos         input   node  scalar    # the node's position, which names it
    s           input   node  scalar    # when the activity starts
    f           input   node  scalar    # when it finishes
    selected    output  node  mask      # in the selection
    pred_h      hint    node  pointer   # the node before
    selected_h  hint    node  mask      # selected so far
    m           hint    node  mask_one  # the activity in work
    k           hint    node  mask_one  # the last one selected
    """,
    draw_activities,
    select_activities,
    options=RANGE,
    needs=(needs.starts_before_finishes,),
    fixed_predecessors=True,
)

task_scheduling = Task(
    "task_scheduling",
    """
    pos         input   node   scalar           # the node's position, which names it
    d           input   node   scalar    whole  # the deadline
    w           input   node   scalar           # the value
    selected    output  node   mask             # in the selection
    pred_h      hint    node   pointer          # the node before
    selected_h  hint    node   mask             # selected so far
    i           hint    node   mask_one         # the task in work
    t           hint    graph  scalar           # time slots taken
    """,
    draw_tasks,
    schedule_tasks,
    options={"max_deadline": Option(None, _deadline)} | RANGE,
    needs=(needs.whole_deadlines,),
    fixed_predecessors=True,
)
