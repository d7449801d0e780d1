"""The longest common subsequence of two strings (CLRS 14.4), as a program whose nodes keep rows.

    algoscope verify examples/lcs_length.py --size 16

Of the cell (i, j), the one before both, c[i-1, j-1], is in no triplet of i and j: the third node
can be i-1 or j-1, but not both. So the node of x_i reads its row of the table, c[i, 0], c[i, 1], …,
gets the row above from the node before, and computes its next row; the pair (i, j) picks the entry
of column j. There is a variable for each column, so the second string has at most 32 characters.

Each step computes all cells from those of the step before. The answer is asked for a step after the
last hint, so its arrows are those of the next table.
"""

from algoscope import programs

COLUMNS = 32
LATER = range(1, COLUMNS)
"""The columns but the first, which stays as it is given."""


def lines(text: str, columns=LATER) -> str:
    """A line for each column m, where l is the column to its left."""
    return "\n".join(text.format(m=m, l=m - 1, is_column=column(m)) for m in columns)


def column(m: int) -> str:
    """That the other node is y_m: not before column m, but before the next."""
    conditions = [f"not other.before_{m}" if m else "other.input.string"]
    if m + 1 < COLUMNS:
        conditions.append(f"other.before_{m + 1}")
    return " and ".join(conditions)


def sum_over(value: str, condition: str = "", columns=LATER) -> str:
    """Of the pair (i, y_m), the value of column m."""
    parts = (
        f"    ({value.format(m=m, l=m - 1)} if {column(m)}{condition} else 0)" for m in columns
    )
    return "(\n" + "\n    + ".join(parts) + "\n)"


TEXT = f"""
# positions: even
# most_nodes: 64

idx: Node                   # the names of nodes: positions begin anew with y
pred: Node                  # the character before
first: Bool                 # it is the first of its string
letter = input.key[1] + 2 * input.key[2] + 3 * input.key[3]

# Of a node of y: how far it stands at or beyond column m, and whether it stands before it.
prev = among(where=edge.hint.pred_h)
all_ = among()
idx = 0.5 * input.pos + 0.5 * input.string
pred = 0.5 * prev.input.pos + 0.5 * input.string
first = all_.edge.own.hint.pred_h
{lines("beyond_{m}: Float(1) = 0")}
{lines("before_{m}: Bool")}
{lines("beyond_{m} = input.pos - {l}.5 * (input.pos - prev.input.pos) if input.string else 0")}
then
{lines("before_{m} = positive(1 - 256 * beyond_{m})")}
then

# Of a node of x: c[i, m], and whether x_i is y_m.
{lines("c_{m}: Float(32) = 0", range(COLUMNS))}
{lines("like_{m}: Bool = 0")}
{lines("at_{m} = among(where={is_column})", range(COLUMNS))}
{lines("same_{m} = among(where={is_column} and letter <= other.letter and other.letter <= letter)")}
{lines("c_{m} = at_{m}.edge.hint.c", range(COLUMNS))}
{lines("like_{m} = same_{m}.input.string")}
then

# c[i-1, m]; by how much c[i, m-1] is larger; and c[i-1, m-1] + 1 if x_i is y_m, which the first row
# does not ask.
{lines("up_{m}: Float(32) = 0")}
{lines("left_{m}: Float(32) = 0")}
{lines("diag_{m}: Float(33) = 0")}
above = among(where=edge.hint.pred_h)
c_0 = c_0
{lines("up_{m} = above.c_{m}")}
{lines("left_{m} = positive(c_{l} - above.c_{m})")}
{lines("diag_{m} = above.c_{l} + 64 * like_{m} - 63 if not first and not input.string else 0")}
then

# The next c[i, m]: the largest of the three.
{lines("next_{m}: Float(33) = 0", range(COLUMNS))}
next_0 = c_0
{lines("left_{m} = left_{m}")}
{lines("next_{m} = up_{m} + left_{m} + positive(diag_{m} - up_{m} - left_{m})")}
then

# The next c[i-1, m].
{lines("next_up_{m}: Float(33) = 0")}
next_above = among(where=edge.hint.pred_h)
{lines("left_{m} = left_{m}")}
{lines("next_{m} = next_{m}", range(COLUMNS))}
{lines("next_up_{m} = next_above.next_{m}")}
then

pair.length: Float(64)      # c[i, j]
pair.diagonal: Bool         # b[i, j]: x_i is y_j
pair.left: Float(64)        # c[i, j-1] > c[i-1, j]
pair.left_after: Float(64)  # the same of the next table
pair.length = {sum_over("self.next_{m}", columns=range(COLUMNS))}
pair.diagonal = (
    (edge.hint.b_h[0] if self.first else 0)
    + (edge.hint.b_h[0] if other.first and not self.first else 0)
    + (self.input.key[0] and other.input.key[0] and not self.first and not other.first)
    + (self.input.key[1] and other.input.key[1] and not self.first and not other.first)
    + (self.input.key[2] and other.input.key[2] and not self.first and not other.first)
    + (self.input.key[3] and other.input.key[3] and not self.first and not other.first)
)
pair.left = (edge.hint.b_h[2] if self.first else 0) + {
    sum_over("self.left_{m}", " and not self.first")
}
pair.left_after = (edge.hint.b_h[2] if self.first else 0) + {
    sum_over("self.next_{l} - self.next_up_{m}", " and not self.first")
}

hint.pred_h = pred
hint.c = pair.length
hint.b_h = 128 * pair.diagonal, 0.5, pair.left, 0
output.b = 128 * pair.diagonal, 0.5, pair.left_after, 0
"""

lcs_length = programs.parse("lcs_length", "lcs_length", TEXT)
