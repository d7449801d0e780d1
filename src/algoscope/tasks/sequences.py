"""Sequences and pairs of strings, drawn and laid out over nodes as dm-clrs does."""

from algoscope.tasks import mersenne
from algoscope.tasks.compilation import compiled
from algoscope.tasks.graphs import positions


@compiled
def draw_key(stream, low, high, key):
    """A sequence of uniform values."""
    mersenne.uniform(stream, low, high, key)


@compiled
def draw_codes(stream, chars, out):
    """Fills `out` with characters 0 … chars - 1: `RandomState.randint(0, chars, out.shape)`."""
    for i in range(out.shape[0]):
        out[i] = mersenne.below(stream, chars)


@compiled
def chain(pred):
    """Every node points to the one before it, the first to itself."""
    for i in range(pred.shape[0]):
        pred[i] = max(i - 1, 0)


@compiled
def chain_in_order(order, pred):
    """Every node points to the one before it in `order`, the first to itself."""
    pred[order[0]] = order[0]
    for i in range(1, order.shape[0]):
        pred[order[i]] = order[i - 1]


@compiled
def mark_second_string(first_length, string):
    """string_i = 1 on the nodes of the second string, which follows the first."""
    string[:first_length] = 0
    string[first_length:] = 1


@compiled
def length_of_first(string):
    """The length of the first of two strings."""
    return string.shape[0] - string.sum()


@compiled
def string_positions(string, pos):
    """Uniform positions in each of two strings."""
    split = length_of_first(string)
    positions(pos[:split])
    positions(pos[split:])


@compiled
def chain_strings(string, pred):
    """`chain`, in each of two strings."""
    for i in range(pred.shape[0]):
        starts = i == 0 or string[i] != string[i - 1]
        pred[i] = i if starts else i - 1
