"""Tables on a terminal."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algoscope.table import Table


def print_table(table: "Table") -> None:
    import rich.box
    import rich.console
    import rich.table

    rendered = rich.table.Table(title=table.title, box=rich.box.SIMPLE, title_justify="left")
    for column in table.columns:
        rendered.add_column(column)
    for row in table.rows:
        rendered.add_row(*row)
    rich.console.Console(width=None if sys.stdout.isatty() else 160, markup=False).print(rendered)
