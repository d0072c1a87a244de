"""The IR's calls: library kernels, compiled regions, and the border to autograd.

They are ops of MLIR's and torch's own: IRDL, which defines our dialect, wants the operands of a variadic op to be of
one type. What makes them ours is an attribute. See docs/dialect.md.
"""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DONATED, FALLBACK, REASON, SAVED
from dovetail.dialects.reading import Module, argument_facts, result_facts, returned
from dovetail.dialects.torch_facts.types import is_memory


def extern(
    name: str, reason: str, operands: Sequence[ir.Value], results: Sequence[ir.Type], is_fallback: bool = False
) -> ir.Operation:
    """Builds a call of the ATen overload `name` ("aten.mm.default"), operands in schema order.

    A `torch.operator` declares no effects: it stays where it is, and is never merged or removed. `reason` says why the
    op is not compiled, which nobody wanted if it `is_fallback`. Without results, the last operand is memory that the
    result is written to.
    """
    attributes: dict[str, ir.Attribute] = {
        "name": ir.StringAttr.get(f"torch.{name.removesuffix('.default')}"),
        REASON: ir.StringAttr.get(reason),
    }
    if is_fallback:
        attributes[FALLBACK] = ir.UnitAttr.get()
    return ir.Operation.create("torch.operator", results=list(results), operands=list(operands), attributes=attributes)


def is_extern(op: ir.Operation) -> bool:
    """Whether `op` is a library call, made by `extern`."""
    return op.name == "torch.operator" and REASON in op.attributes


def written(op: ir.Operation) -> ir.Value | None:
    """The memory, its last operand, that the library call `op` writes its result to; None if it makes its own.

    Ops of others that only write are none: what they are given holds more than what they compute.
    """
    is_aten = is_extern(op) and ir.StringAttr(op.attributes["name"]).value.startswith("torch.aten.")
    if not is_aten or len(op.results) or not len(op.operands):
        return None
    return op.operands[-1] if is_memory(op.operands[-1]) else None


def made(op: ir.Operation) -> list[ir.Value]:
    """What holds what `op` computes: its results, or memory that it was given."""
    into = written(op)
    return list(op.results) if into is None else [into]


def reason(op: ir.Operation) -> str:
    """Why the library call `op` is not compiled."""
    return ir.StringAttr(op.attributes[REASON]).value


def is_fallback(op: ir.Operation) -> bool:
    """Whether `op` is a library call for want of compiled code."""
    return is_extern(op) and FALLBACK in op.attributes


def saved_kinds(forward: func.FuncOp) -> list[str]:
    """What `@forward` says of each saved value, "checked" or "private", in order: `@backward`'s first arguments."""
    return [ir.StringAttr(facts[SAVED]).value for facts in result_facts(forward) if SAVED in facts]


def returned_saved(forward: func.FuncOp) -> list[tuple[ir.Value, str]]:
    """The saved values that `@forward` returns, each with what is said of it."""
    kinds, values = saved_kinds(forward), returned(forward)
    return list(zip(values[len(values) - len(kinds) :], kinds, strict=True))


def donated(function_op: func.FuncOp) -> tuple[int, ...]:
    """Positions of the arguments that say `dovetail.donated`."""
    return tuple(index for index, facts in enumerate(argument_facts(function_op)) if DONATED in facts)


def fallbacks(module: ir.Module) -> Iterator[tuple[ir.Operation, str]]:
    """The library calls that are there for want of compiled code, each with the reason."""
    ops = (op for listed in Module(module).bodies.values() for op in listed)
    return ((op, reason(op)) for op in ops if is_fallback(op))
