"""The page of partition figures, docs/partition.md."""

from collections.abc import Sequence

from partition_figures import BUDGETS, Figures, Saved

_PAGE = """\
# What is saved for the backward

`partition` decides what `@forward` saves for `@backward`, and what `@backward` computes again. Written by
`make partition-figures`, which only counts; nothing is timed.

`options={{"partition": "default"}}` saves whatever the backward uses. `"min-cut"`, the default, saves the fewest bytes
from which cheap ops (pointwise ops, views, copies, gathers, interpolation to nearest, wide reductions) give all of
that. Random numbers, effects, and old values of arguments are never computed again; contractions, convolutions,
attention and other library kernels not by choice; nor, on a CPU, are elementary functions, as GELU, whose
results library kernels of both sides take. What is kept for a second
derivative anyway costs nothing. `torch.utils.checkpoint` and its policies come first.

`options={{"memory_budget": b}}`, with `b` below 1, lets the min-cut repeat library kernels and narrow reductions too. 0
saves as little as can be, as if the whole were checkpointed; 1 is the min-cut as it is; between them at most that part
of the difference is saved, for the least work ([decision 19](decisions/0019-partition-by-priced-minimum-cut.md)).

## Saved bytes

The partitioner of PyTorch, `min_cut_rematerialization_partition`, is given the very same joint graph, with its own
settings. Counted are the tensors kept for the backward, parameters and buffers apart, since these live on anyway. Of
PyTorch's, views of one memory count once.

{bytes}

## Saved tensors, and ops computed again

Each field: tensors saved / ops of the forward that the backward runs again. Views don't count.

{counts}

## Memory budget

Saved bytes by `memory_budget`, then the ops computed again.

{budgets}
"""


def page(results: Sequence[Figures]) -> str:
    """The whole page, as Markdown."""
    return _PAGE.format(bytes=_bytes(results), counts=_counts(results), budgets=_budgets(results))


def _bytes(results: Sequence[Figures]) -> str:
    rows = [
        [
            each.model,
            *(f"{saved.nbytes:,}" for saved in _partitions(each)),
            f"{each.min_cut.nbytes / each.pytorch.nbytes:.2f}",
        ]
        for each in results
    ]
    return _table(["model", "default", "min-cut", "PyTorch's min-cut", "min-cut / PyTorch's"], rows)


def _counts(results: Sequence[Figures]) -> str:
    rows = [[each.model, *(f"{saved.count} / {saved.recomputed}" for saved in _partitions(each))] for each in results]
    return _table(["model", "default", "min-cut", "PyTorch's min-cut"], rows)


def _budgets(results: Sequence[Figures]) -> str:
    rows = []
    for each in results:
        saved = [each.min_cut, *(each.budgets[budget] for budget in BUDGETS)]
        rows.append([each.model, *(f"{one.nbytes:,} / {one.recomputed}" for one in saved)])
    return _table(["model", "1", *(f"{budget:g}" for budget in BUDGETS)], rows)


def _partitions(each: Figures) -> tuple[Saved, Saved, Saved]:
    return each.default, each.min_cut, each.pytorch


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *("---:" for _ in headings[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
