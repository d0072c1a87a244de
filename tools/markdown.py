"""Tables in Markdown."""

from collections.abc import Iterable


def table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> list[str]:
    """The lines of a table."""
    titles = list(head)
    return [row(titles), "|---" * len(titles) + "|", *map(row, rows)]


def row(cells: Iterable[object]) -> str:
    """The line of one row."""
    return f"| {' | '.join(map(str, cells))} |"


def cell(text: str) -> str:
    """`text`, which ends no cell and no line."""
    return " ".join(text.replace("|", "\\|").split())
