"""The IR's calls: library kernels, compiled regions, and the border to autograd.

They are ops of MLIR's and torch's own: IRDL, which defines our dialect, wants the operands of a variadic op to be of
one type. What makes them ours is an attribute. See docs/dialect.md.
"""

from collections.abc import Iterator, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DONATED, FORWARD, MUTATED, REASON, REGION, SAVED

FALLBACK = "fallback: "


def extern(name: str, reason: str, operands: Sequence[ir.Value], results: Sequence[ir.Type]) -> ir.Operation:
    """Builds a call of the ATen overload `name` ("aten.mm.default"), operands in schema order.

    A `torch.operator` declares no effects: it stays where it is, and is never merged or removed. `reason` says why the
    op is not compiled; see `FALLBACK`.
    """
    attributes = {
        "name": ir.StringAttr.get(f"torch.{name.removesuffix('.default')}"),
        REASON: ir.StringAttr.get(reason),
    }
    return ir.Operation.create("torch.operator", results=list(results), operands=list(operands), attributes=attributes)


def is_extern(op: ir.Operation) -> bool:
    """Whether `op` is a library call, made by `extern`."""
    return op.name == "torch.operator" and REASON in op.attributes


def reason(op: ir.Operation) -> str:
    """Why the library call `op` is not compiled."""
    return ir.StringAttr(op.attributes[REASON]).value


def is_region(op: ir.OpView) -> bool:
    """Whether `op` is a function that is compiled as one unit."""
    return isinstance(op, func.FuncOp) and REGION in op.attributes


def is_border(op: ir.OpView) -> bool:
    """Whether `op` declares a call that is one node of autograd's graph: `dovetail.forward` and `dovetail.backward`."""
    return isinstance(op, func.FuncOp) and FORWARD in op.attributes


def argument_facts(function_op: func.FuncOp) -> list[ir.DictAttr]:
    """The attributes of each argument, of which there may be none at all."""
    attributes = function_op.attributes
    stated = attributes["arg_attrs"] if "arg_attrs" in attributes else ()  # noqa: SIM401 (not a Python dict)
    return [ir.DictAttr(each) for each in stated]


def numbers(attributes: Mapping[str, ir.Attribute] | ir.DictAttr, name: str) -> tuple[int, ...] | None:
    """The array `name` of an argument or an `own`, None where it is not there.

    `dovetail.watched` has the owned results for whose gradients eager needs that memory unchanged; `dovetail.reached`
    those whose gradients flow to the argument, all if it is not there; `dovetail.frees` the groups of eager's saved
    values that a backward from the owned result frees, group 0 if it is not there. Owned results are numbered in order,
    from 0, among `@joint`'s `own`s and so among `@apply`'s results.
    """
    return tuple(ir.DenseI64ArrayAttr(attributes[name])) if name in attributes else None


def saved_kinds(forward: func.FuncOp) -> list[str]:
    """What `@forward` says of each saved value, "checked" or "private", in order: `@backward`'s first arguments."""
    results = map(ir.DictAttr, forward.attributes["res_attrs"]) if "res_attrs" in forward.attributes else ()
    return [ir.StringAttr(each[SAVED]).value for each in results if SAVED in each]


def donated(function_op: func.FuncOp) -> tuple[int, ...]:
    """Positions of the arguments that say `dovetail.donated`."""
    return tuple(place for place, each in enumerate(argument_facts(function_op)) if DONATED in each)


def is_guard(op: ir.OpView) -> bool:
    """Whether `op` declares a check that runs before anything else: its arguments' memory is as the program assumes.

    `dovetail.mutated` says how many of them, the first ones, the program writes; each has its `dovetail.name`. Those of
    one `dovetail.group` lie at fixed distances, their `dovetail.start` in bytes; they are views of one tensor where
    their `dovetail.root`, one object where their `dovetail.object` is equal. All others are independent. A
    `dovetail.offset` is a storage offset that the program relies on. `dovetail.tracked` ones are written in autograd's
    sight. Those with another `dovetail.apart` are no views of one tensor that is written: they would have one version
    counter.
    """
    return isinstance(op, func.FuncOp) and MUTATED in op.attributes


def symbol(op: ir.OpView) -> str:
    """The symbol that `op` defines."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def referred(op: ir.OpView, attribute: str) -> str:
    """The symbol that `attribute` of `op` refers to."""
    return ir.FlatSymbolRefAttr(op.attributes[attribute]).value


def fallbacks(module: ir.Module) -> Iterator[tuple[ir.Operation, str]]:
    """The library calls that are there for want of compiled code, each with the reason."""
    for function_op in module.body.operations:
        for block in function_op.operation.regions[0].blocks:
            for op in block.operations:
                if is_extern(op.operation) and reason(op.operation).startswith(FALLBACK):
                    yield op.operation, reason(op.operation).removeprefix(FALLBACK)
