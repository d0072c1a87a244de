"""Why an op is left to ATen: the reasons that are no single op's, and what would change each.

Those of single ops stand in `refused` of their rows, those of kinds in `dialects/torch_facts/rows/kinds.py`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One reason.

    Attributes:
        text: what `dovetail.stats()` says, with a place in braces for each thing that only the op tells.
        changed_by: what would change it.
        is_fallback: whether ATen runs the op for want of anything better, rather than by choice.
    """

    text: str
    changed_by: str
    is_fallback: bool = False

    def of(self, **told: object) -> str:
        """The reason of an op."""
        return self.text.format(**told)


# Of what is known of the op.
NO_ROW = Reason("no row in dialects/torch_facts/rows", "a row", is_fallback=True)
NO_KIND = Reason(
    "its row in dialects/torch_facts/rows/opaque.py claims no kind",
    "the row of a kind, in the file of that kind",
    is_fallback=True,
)
CUSTOM = Reason("a custom op", "its author, by a decomposition (`torch.library`)", is_fallback=True)
NO_DIALECT = Reason(
    "not an op of the torch dialect",
    "a replacement, listed in `frontend/decompose/replacements.py`",
    is_fallback=True,
)
NO_TYPE = Reason("element type {dtype} can't be imported", "torch-mlir", is_fallback=True)
KERNEL = Reason("library kernel: {kernel}", "the row's kind, LIBRARY, if generated code is shown to be faster")

# Of open sizes.
OPEN = Reason(
    "a size is known only when it runs",
    "a rule for the op's kind in `passes/placement/open_sizes.py`, where a region can compute its sizes",
    is_fallback=True,
)
UNRELATED = Reason(
    "sizes that are known only when it runs may differ",
    "one size for both, as where Dynamo guards that two are equal",
    is_fallback=True,
)
EMPTY = Reason(
    "an open dimension may have no elements, of which none is the largest",
    "a range of its size that starts at 1, as Dynamo knows it of the sizes of arguments",
    is_fallback=True,
)
SUM_TYPE = Reason(
    "an open dimension is summed up in float32 alone",
    "a region that adds up in parts where sizes are open; `is_sum` of the op's row",
    is_fallback=True,
)
NO_ROWS = Reason(
    "on a GPU, rows of float32 alone are reduced where sizes are open",
    "a kernel for GPUs, and then `reduces_open_rows` of the op's row",
    is_fallback=True,
)
SHORT_ROWS = Reason(
    "on a GPU, ATen reduces an open number of short rows faster",
    "IREE, if it masks the last of several rows of one workgroup rightly",
    is_fallback=True,
)

# Of reductions on a GPU.
ONE_THREAD = Reason(
    "one thread would reduce each row of whole or wide numbers",
    "a form for these numbers in `passes/costs/gpu_shares.py`",
    is_fallback=True,
)
APART = Reason(
    "no kernel reduces dimensions that lie apart",
    "a form for such dimensions in `passes/costs/gpu_shares.py`",
    is_fallback=True,
)
ONE_ROW_OF = Reason(
    "no kernel reduces one row of {count} numbers",
    "a form for this length in `passes/costs/gpu_shares.py`",
    is_fallback=True,
)
ROWS_OF = Reason(
    "no kernel reduces rows of {count} numbers",
    "a form for this length in `passes/costs/gpu_shares.py`",
    is_fallback=True,
)
COLUMNS = Reason(
    "no kernel reduces columns but by {tile}, of {rows} rows",
    "a form for other numbers of columns in `passes/costs/gpu_shares.py`",
    is_fallback=True,
)

# Of what ATen does better.
NO_ELEMENTS = Reason(
    "a tensor without elements leaves nothing to compile",
    "nothing: ATen returns at once, where IREE's compiler may crash",
)
ELSEWHERE = Reason(
    "a tensor lies on {device}, regions run on {home}",
    "the program, where its tensors lie on one device",
)
NUMBER = Reason("a number as a tensor, for regions to take", "nothing: it computes nothing")
NUMBER_ON_CPU = Reason("a number as a tensor, on the CPU", "the program, where regions alone use it")
TOO_MANY = Reason(
    "with its result more than the {most} tensors that one dispatch of IREE's can bind",
    "IREE, if it binds more",
)
JOINS_ROWS = Reason(
    "ATen copies rows of several tensors faster than a loop over the result's elements",
    "a kernel that copies rows; what regions join says `passes/placement/joins.py`",
)
JOINS_ARGUMENTS = Reason(
    "ATen copies several arguments by one launch",
    "a kernel that copies several tensors; what regions join says `passes/placement/joins.py`",
)
LAYS_OUT = Reason(
    "ATen lays out in rows what lies in another order",
    "blocks for this order, in `dialects/torch_facts/transposition.py`",
)
COPIES_SLICE = Reason("ATen copies a slice row by row", "a kernel that copies rows")
READS_EXPANDED = Reason(
    "ATen reads what is expanded to open sizes without a copy",
    "regions that take strides of open sizes",
)
COMPUTES_JOINED = Reason(
    "ATen computes what it joins, without a copy",
    "regions that take strided tensors, or write what is joined where it belongs",
)
SCATTERS = Reason(
    "ATen scatters into what it filled, without a copy",
    "regions that hand their result over to library calls that write it",
)

# Of regions that are taken back.
SMALL = Reason(
    "small: {as_calls:.1f} us as library calls, {as_region:.1f} us as a region",
    "what the target measures, by which `passes/costs/cost_model.py` counts",
)
NO_CODE = Reason("IREE fills memory without code that could be launched", "IREE, if it makes a kernel of a fill")

REASONS = tuple(each for each in globals().values() if isinstance(each, Reason))
"""All of them, so that the docs leave none out."""
