# RUN: %python %s | FileCheck %s
"""Catches a dialect that loads only once per process, or whose classes belong to the last context that loaded it."""

from torch_mlir import ir

from dovetail.dialects.context import load_dialects, make_context, parse_module
from dovetail.dialects.dovetail import ReadOp, RefType

TEXT = """
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%x: !r) -> !v {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  return %0 : !v
}
"""
INVALID = TEXT.replace("(%x) : (!r)", "(%x) {colour = 1} : (!r)")


def describe(module: ir.Module) -> str:
    """The Python classes of the module's first op and of its operand's type."""
    read = next(iter(module.body.operations[0].body.blocks[0].operations))
    return f"{type(read).__name__} {isinstance(read, ReadOp)} {type(read.ref.type).__name__} {read.ref.type.strides}"


def refuses(context: ir.Context) -> bool:
    """Whether the Python verifiers run in `context`."""
    try:
        parse_module(INVALID, context)
    except ir.MLIRError as error:
        return "has no attribute 'colour'" in str(error)
    return False


def test_fresh():
    context = make_context()
    print("fresh:", describe(parse_module(TEXT, context)), refuses(context), flush=True)


# CHECK: fresh: ReadOp True RefType (1,) True
test_fresh()


def test_repeated():
    context = make_context()
    load_dialects(context)
    load_dialects(context)
    print("repeated:", describe(parse_module(TEXT, context)), refuses(context), flush=True)


# CHECK: repeated: ReadOp True RefType (1,) True
test_repeated()


def test_foreign_context():
    """A context that somebody else made."""
    context = ir.Context()
    context.enable_multithreading(False)
    load_dialects(context)
    print("foreign:", describe(parse_module(TEXT, context)), flush=True)


# CHECK: foreign: ReadOp True RefType (1,)
test_foreign_context()


def test_two_contexts():
    first = make_context()
    second = make_context()
    print("first of two:", describe(parse_module(TEXT, first)), refuses(first), flush=True)
    print("second of two:", describe(parse_module(TEXT, second)), refuses(second), flush=True)


# CHECK: first of two: ReadOp True RefType (1,) True
# CHECK: second of two: ReadOp True RefType (1,) True
test_two_contexts()


def test_interleaved():
    """A module of the first context is looked at, and built on, while a second one comes and goes."""
    first = make_context()
    module = parse_module(TEXT, first)
    second = make_context()
    other = parse_module(TEXT, second)
    load_dialects(first)
    print("interleaved:", describe(module), describe(other), flush=True)
    del other, second
    with first, ir.Location.unknown():
        made = RefType.of(ir.Type.parse("!torch.vtensor<[2,3],f32>"))
    print("made:", made, made.strides, made.context == first, refuses(first), flush=True)


# CHECK: interleaved: ReadOp True RefType (1,) ReadOp True RefType (1,)
# CHECK: made: !dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>> (3, 1) True True
test_interleaved()
