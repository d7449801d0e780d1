"""All kinds of input, by name; the shares add up to 1, and follow from what a case costs."""

from fuzzing import brought, kinds, many_runs

KINDS = {kind.name: kind for kind in (*kinds.KINDS, *many_runs.KINDS, *brought.KINDS)}
