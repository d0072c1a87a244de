"""What a row says of an op: the type of the rows in `dialects.torch_facts.rows`, and what each kind of op claims.

Passes ask `dialects.torch_facts.ops`; only rows are made here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial

from dovetail.dialects.torch_facts import flops
from dovetail.dialects.torch_facts.flops import Flops
from dovetail.dialects.torch_facts.refused import Refused
from dovetail.dialects.torch_facts.strides import StridesRule


class Kind(Enum):
    """What kind of work an op is, and with it what passes may do to it.

    Every kind but UNKNOWN claims of an op:

    - **It is a function.** Its results depend on its operands alone, and it does nothing else: it draws no random
      numbers, checks nothing and writes nothing. `merge-equal-values` therefore computes equal ones once and drops
      unused ones, and the backward may compute it again. Attention has rows though its dropout draws: the importer
      makes library calls of such ops, which no pass merges or repeats.
    - **Its memory.** A VIEW is in its first operand's memory, every other result in fresh memory. Memory is planned and
      freed by that. `memory` has the exceptions.
    - **Its price.** Computing CONSTANT, VIEW, POINTWISE, MOVEMENT and CREATION again in the backward is free. A
      REDUCTION is as well if its result is large, else it costs what it reads and returns; LIBRARY costs its flops too.
      `recompute` has the exceptions.
    - **Its placement.** A VIEW is no work, LIBRARY runs through ATen, the others in a region, where the torch dialect
      has them and `refused` does not keep them from IREE.

    POINTWISE claims more: the result may take an operand's memory in the loop that reads it (`prove-in-place`), and
    equal calls on small tensors may become one call on their concatenation (`batch-library-calls`). The exceptions
    are `is_by_position`. REDUCTION deepens a region (`limit-regions`).

    Of UNKNOWN nothing is claimed: it runs through ATen where it stands, once, and may keep what it was given.
    """

    CONSTANT = "constant"  # a Python value in the IR
    VIEW = "view"  # no arithmetic, and in PyTorch no copy
    POINTWISE = "pointwise"  # one element of the result from one of each operand
    REDUCTION = "reduction"
    MOVEMENT = "movement"  # copies elements elsewhere
    CREATION = "creation"  # a tensor from nothing
    LIBRARY = "library"  # vendor kernels are better than what we would generate
    UNKNOWN = "unknown"  # no row, or one that claims no kind, or no op of ATen's


IN_REGIONS = (Kind.POINTWISE, Kind.REDUCTION, Kind.MOVEMENT, Kind.CREATION)
"""The kinds of what regions compute; constants and views are no work, and stand inside of regions and outside."""


class Kernel(Enum):
    """What a vendor's kernel does, as `dovetail.stats()` says it."""

    NONE = "none"
    ATTENTION = "attention"
    CONTRACTION = "contraction"
    CONVOLUTION = "convolution"
    INDEXING = "gather or scatter"
    INTERPOLATION = "interpolation"
    LAYER_NORM_GRADIENTS = "gradients of a layer norm"
    LINEAR_ALGEBRA = "linear algebra"
    MARGIN_LOSS = "margin loss"
    POOLING = "pooling"
    SORTING = "sorting"
    UNWRITTEN = "memory that nothing has written"  # the results hold no values


class ResultMemory(Enum):
    """What memory an op's results are in."""

    OPERAND = "operand"  # the first operand's, whatever its strides
    BY_STRIDES = "by strides"  # the first operand's, or a copy where its strides allow no view
    OWN = "own"  # fresh memory
    EXACT = "exact"  # fresh memory that starts with the result and ends with it
    TAKEN_OVER = "taken over"  # the first operand's or a copy, and known by this result from then on: ops of ours
    UNKNOWN = "unknown"  # perhaps an operand's; and the op may keep what it was given


class Layout(Enum):
    """How a kernel lays its (first) result out, where PyTorch's own description of it says otherwise."""

    TOLD = "told"  # as described
    SWAPPED = "swapped"  # by all operands, of which the kernel takes the second first
    COPIED = "copied"  # as described: not by all operands, unlike others that are tagged as pointwise
    ROWS = "rows"  # row by row, where it is described to lie as an operand does
    FIRST = "first"  # as the first operand, where it is described by ops on others
    ITERATED = "iterated"  # by all operands of its shape, where it is described by ops on them
    TOGETHER = "together"  # by the first two operands, as a sum of them does, where it is described by one
    SECOND = "second"  # as the second operand, likewise: the gradient of an op, by the op's operand
    FORMAT = "format"  # channels last where the first operand is, else row by row
    FORMAT_OF_SECOND = "format of second"  # channels last where the second operand is, else row by row


class Recompute(Enum):
    """What it costs to compute an op again in the backward."""

    FREE = "free"  # a region computes it along the way
    FREE_IF_LARGE = "free if large"  # free if the result is large beside the operands, else its work
    WORK = "work"  # what it reads, returns and computes
    NEVER = "never"


class Rounding(Enum):
    """How often an op rounds each element of its result."""

    NEVER = "never"  # it gives back what it was given, or whole numbers
    ONCE = "once"  # correctly
    OFTEN = "often"  # the last bit differs between two ways of compiling it


class Counts(Enum):
    """Whether an op's numbers count truth values, where its first operand's do or are some."""

    NOT = "not"
    MADE = "made"  # of each truth value a number, of each number the same
    KEPT = "kept"  # the same, elsewhere
    ADDED = "added"  # sums of several


class Joins(Enum):
    """How an op joins the tensors of a list, its first operand."""

    NOT = "not"
    ALONG = "along"  # a dimension that they have; its second operand names it
    ANEW = "anew"  # along a new dimension, of which the same is true


class WritesInto(Enum):
    """How a library call writes its result into memory that it is given; pointwise ops have overloads for that."""

    NOT = "not"
    JOIN = "join"  # each tensor of a list to its place, unless it lies there
    FILL = "fill"  # one number all over
    ADD_ROWS = "add rows"  # to those of its first operand, which lies there
    SCATTER = "scatter"  # a slice, beside what its first operand holds, which lies there
    PRODUCT = "product"  # that of two matrices, by the overload "out"


class Traced(Enum):
    """How the op goes through tracing."""

    BY_PYTORCH = "by PyTorch"  # whole or in parts, as PyTorch's core table of decompositions has it
    WHOLE = "whole"  # a library kernel computes it better than its parts, or it draws random numbers as eager does
    IN_PARTS = "in parts"  # PyTorch's decomposition: its parts fuse with their neighbours


@dataclass(frozen=True)
class Row:
    """What is known of an op. What a row leaves out, its kind says; a field that nothing says claims nothing.

    Attributes:
        name: ATen's, without the namespace; all overloads have this row but those with their own, such as "max.other".
        kind: what kind of work it is; claims most of what follows.
        kernel: of LIBRARY: what the vendor's kernel does.
        traced: whether tracing takes it apart.
        memory: where its results lie.
        is_row_major: its result is contiguous, whatever the operands' strides.
        order: the dimensions of its results of that many, from the outermost one in memory on, where its kernel lays
            them out so, whatever its operands' strides.
        lies_as: the positions of operands, one for each of its first results, in the order of whose strides its kernel
            lays that result out.
        layout: how the CPU's kernel lays its result out, if not as PyTorch describes.
        layout_on_cuda: how that of a GPU does, where it was measured to differ.
        writes_in_training: names of arguments that it writes if its argument `training` is true; no schema says so.
        drawn_by: of random numbers: eager's op, if its name is not that of this one with a "_".
        strides: of a view: the rule for the strides of its result.
        overlaps: of a view: it may show an element more than once.
        adds_dimension: of a view: it shows its operand with one dimension more, of size 1.
        is_lazy: of a view: it conjugates or negates its operand, which is done where the result is read.
        sees_strides: its values may depend on how its operands lie in memory, so they are laid out as in eager.
        in_rows: names of arguments whose last dimension its kernel takes for contiguous.
        is_identity: of a value, which has no memory, it gives that value.
        is_commutative: f(a, b) is f(b, a) to the last bit; a third operand, if any, is a factor of the second.
        is_by_position: though pointwise, the result depends on where an element stands, or on the memory format.
        adds: it adds its first two operands, or subtracts the one from the other.
        multiplies: it multiplies its first two operands: by one instruction, often one that adds as well.
        weighs: its number is a weight, none of the operands that its kernel goes over.
        joins: how it joins the tensors of a list.
        writes_into: how it writes its result into memory that it is given, if it is not pointwise.
        format_at: the position of the operand that names the memory format of its result.
        fills_at: the position of the operand with whose number all of the result is filled.
        fills_with: that number, where no operand says it.
        reduces_at: the position of the operand that may name the dimensions that it reduces.
        is_sum: it adds up what it reduces, or is that divided by the count.
        needs_elements: eager raises where it reduces none, since none of them is the largest or the smallest.
        reduces_open_rows: a kernel of ours for GPUs reduces rows whose number or length is open.
        decides_by: the positions of the operands whose last bit can change the result by more than that; None: of all
            of them, where it makes whole numbers or truth values.
        rounding: how often it rounds.
        keeps_equality: numbers that are equal before it may have to be equal after it; it does not blend many into one.
        counts: whether its numbers count truth values.
        tells_subnormals: it jumps at zero or is infinitely steep there.
        recompute: what computing it again in the backward costs.
        flops: its floating-point operations.
        never_folded: IREE computes it while the program runs, though it knows all that it is computed from.
        refused: what IREE must not be given of it; of a view: why it stays outside of regions.
        knows_uint8: IREE takes its bytes for unsigned, as it does for few ops that compute.
        converts: IREE takes bytes for unsigned, too, where its result has another type.
        awaited: the overloads for which the host waits: only the values that they read tell the size of their results,
            or a number that they give it.
    """

    name: str
    kind: Kind = Kind.UNKNOWN
    kernel: Kernel = Kernel.NONE
    traced: Traced = Traced.BY_PYTORCH
    memory: ResultMemory = ResultMemory.UNKNOWN
    is_row_major: bool = False
    order: tuple[int, ...] = ()
    lies_as: tuple[int, ...] = ()
    layout: Layout = Layout.TOLD
    layout_on_cuda: Layout | None = None
    writes_in_training: tuple[str, ...] = ()
    drawn_by: str = ""
    strides: StridesRule | None = None
    overlaps: bool = False
    adds_dimension: bool = False
    is_lazy: bool = False
    sees_strides: bool = True
    in_rows: tuple[str, ...] = ()
    is_identity: bool = False
    is_commutative: bool = False
    is_by_position: bool = False
    adds: bool = False
    multiplies: bool = False
    weighs: bool = False
    joins: Joins = Joins.NOT
    writes_into: WritesInto = WritesInto.NOT
    format_at: int | None = None
    fills_at: int | None = None
    fills_with: int | None = None
    reduces_at: int | None = None
    is_sum: bool = False
    needs_elements: bool = False
    reduces_open_rows: bool = False
    decides_by: tuple[int, ...] | None = ()
    rounding: Rounding = Rounding.OFTEN
    keeps_equality: bool = True
    counts: Counts = Counts.NOT
    tells_subnormals: bool = False
    recompute: Recompute = Recompute.NEVER
    flops: Flops = flops.of_results
    never_folded: bool = False
    refused: tuple[Refused, ...] = ()
    knows_uint8: bool = False
    converts: bool = False
    awaited: tuple[str, ...] = ()

    @property
    def is_sum_of_operands(self) -> bool:
        """Whether the derivative of its result takes no element of its operands, but of whole numbers."""
        return self.adds or self.converts or (self.kind is Kind.VIEW and self.memory is ResultMemory.OPERAND)

    @property
    def is_fill(self) -> bool:
        """Whether its result is one number all over, which no tensor tells."""
        return self.fills_at is not None or self.fills_with is not None


constant = partial(
    Row, kind=Kind.CONSTANT, sees_strides=False, rounding=Rounding.NEVER, recompute=Recompute.FREE, flops=flops.none
)
view = partial(constant, kind=Kind.VIEW, memory=ResultMemory.OPERAND, counts=Counts.KEPT)
_computed = partial(Row, memory=ResultMemory.OWN, sees_strides=False, decides_by=None)
pointwise = partial(_computed, kind=Kind.POINTWISE, recompute=Recompute.FREE)
reduction = partial(
    _computed,
    kind=Kind.REDUCTION,
    reduces_at=1,
    keeps_equality=False,
    recompute=Recompute.FREE_IF_LARGE,
    flops=flops.of_all,
)
library = partial(_computed, kind=Kind.LIBRARY, recompute=Recompute.WORK)
_copied = partial(_computed, decides_by=(), rounding=Rounding.NEVER, recompute=Recompute.FREE)
movement = partial(_copied, kind=Kind.MOVEMENT)
creation = partial(_copied, kind=Kind.CREATION)
opaque = Row
"""Of an op of which nothing is claimed but what its row says."""


def alike(make: Callable[[str], Row], names: str) -> list[Row]:
    """A row for each of `names`, of which all say the same."""
    return [make(name) for name in names.split()]
