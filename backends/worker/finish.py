"""The last edit of kernels for GPUs, in the LLVM dialect of IREE's phase `executable-targets`."""

from iree.compiler import ir

from dovetail.backends.worker.checks import check_positions
from dovetail.backends.worker.math_functions import APPROXIMATED, MARKED, MEANT, REMAINDER
from dovetail.backends.worker.neighbours import join_neighbours
from dovetail.backends.worker.walk import create, editing, kernels, producer, replace, walk

_FULL_DIVISION = "llvm.nvvm.div.full"
_UNORDERED = (13, 14)
"""The predicates `une` and `uno` of the LLVM dialect; its text of an op takes as long as the function is."""


class Unfinished(ValueError):
    """A call that stands for a function that it does not say."""


def finish(text: bytes) -> bytes:
    """`text` with functions, divisions and roundings as CUDA's own compiler has them.

    - What stands for an elementary function becomes it; such a kernel divides to two units in the last place, as the
      function is rounded: over the whole range of numbers, which the faster division is not right on.
    - Products and sums stay as they are, each rounded, as by eager's kernels.
    - A number becomes one of bfloat16 by the instruction for it.
    - What stands for a check of a position becomes it.
    """
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for kernel in kernels(module, "llvm.func"):
            check_positions(kernel, _number)
            if MARKED in kernel.attributes:
                del kernel.attributes[MARKED]
                if _name_functions(kernel):
                    _divide(kernel)
            _round_bfloat16(kernel)
            join_neighbours(kernel)
        return str(module).encode()


def _name_functions(kernel: ir.Operation) -> bool:
    """Whether `kernel`, whose remainders all stand for functions, has any; they are called or approximated now."""
    called = ir.FlatSymbolRefAttr.get(REMAINDER)
    calls = [op for op in walk(kernel) if op.name == "llvm.call" and op.attributes.get("callee") == called]
    for call in calls:
        divisor = _number(call.operands[1])
        if divisor not in MEANT and divisor not in APPROXIMATED:
            raise Unfinished(f"{REMAINDER} by a number that is not known")
        if divisor in APPROXIMATED:
            with call.location, ir.InsertionPoint(call):
                named = APPROXIMATED[divisor].build(call.operands[0])
            replace(call, named)
            continue
        _declare(kernel, MEANT[divisor])
        with call.location, ir.InsertionPoint(call):
            stated = {name: call.attributes[name] for name in call.attributes}
            stated["callee"] = ir.FlatSymbolRefAttr.get(MEANT[divisor])
            stated["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0])
            named = create("llvm.call", call.results[0].type, call.operands[0], **stated)
        replace(call, named)
    return bool(calls)


def _number(value: ir.Value) -> float | None:
    """The constant that `value`, a number or an element of a vector of one number, is."""
    made = producer(value)
    if made is not None and made.name == "llvm.extractelement":
        made = producer(made.operands[0])
    if made is None or made.name != "llvm.mlir.constant":
        return None
    stated = made.attributes["value"]
    if isinstance(stated, ir.DenseElementsAttr) and stated.is_splat:
        stated = stated.get_splat_value()
    return stated.value if isinstance(stated, ir.FloatAttr) else None


def _declare(kernel: ir.Operation, name: str) -> None:
    """Declares the library's function `name` beside `kernel`, as IREE declared what it calls there."""
    siblings = [op.operation for op in kernel.parent.regions[0].blocks[0].operations]
    names = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in siblings if "sym_name" in op.attributes}
    if name in names:
        return
    declared = names[REMAINDER]
    copy = declared.clone(ir.InsertionPoint(declared))
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes["function_type"] = ir.TypeAttr.parse("!llvm.func<f32 (f32)>")


def _divide(kernel: ir.Operation) -> None:
    for op in [op for op in walk(kernel) if op.name == "llvm.fdiv"]:
        type_ = op.results[0].type
        if _element(type_) != ir.F32Type.get():
            continue
        with op.location, ir.InsertionPoint(op):
            quotient = _each(type_, *op.operands) if isinstance(type_, ir.VectorType) else _full(*op.operands)
        replace(op, quotient)


def _each(type_: ir.Type, dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    """The quotients of two vectors, one after the other."""
    f32, i32 = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    quotients = create("llvm.mlir.poison", type_)
    for index in range(ir.VectorType(type_).shape[0]):
        at = create("llvm.mlir.constant", i32, value=ir.IntegerAttr.get(i32, index))
        numbers = [create("llvm.extractelement", f32, vector, at) for vector in (dividend, divisor)]
        quotients = create("llvm.insertelement", type_, quotients, _full(*numbers), at)
    return quotients


def _full(dividend: ir.Value, divisor: ir.Value) -> ir.Value:
    return create(
        "llvm.call_intrinsic",
        dividend.type,
        dividend,
        divisor,
        intrin=ir.StringAttr.get(_FULL_DIVISION),
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([2, 0]),
    )


def _round_bfloat16(kernel: ir.Operation) -> None:
    """Rounds where IREE rounds in whole numbers, which ends in a choice of the NaN for what does not equal itself."""
    for op in [op for op in walk(kernel) if op.name == "llvm.select"]:
        condition, type_ = producer(op.operands[0]), op.results[0].type
        if condition is None or condition.name != "llvm.fcmp" or _element(type_) != ir.IntegerType.get_signless(16):
            continue
        number, same = condition.operands
        is_unequal = ir.IntegerAttr(condition.attributes["predicate"]).value in _UNORDERED
        if number != same or _element(number.type) != ir.F32Type.get() or not is_unequal:
            continue
        with op.location, ir.InsertionPoint(op):
            bf16 = ir.BF16Type.get()
            half = ir.VectorType.get(type_.shape, bf16) if isinstance(type_, ir.VectorType) else bf16
            bits = create("llvm.bitcast", type_, create("llvm.fptrunc", half, number))
        op.results[0].replace_all_uses_with(bits)


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_
