"""The view functions between a tensor and its base, as the IR replays them.

They come from PyTorch's records where it keeps them, else from the graph.
"""

import operator
from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
from torch.fx.operator_schemas import normalize_function

from dovetail.errors import UnsupportedError
from dovetail.frontend.records import ViewStep


def chain_of_records(sequence) -> tuple[ViewStep, ...] | None:
    """The replay chain of a view, or None where PyTorch knows none."""
    if sequence is None:
        return None
    return tuple(_step_of_record(meta) for meta in sequence.sequence)


def _step_of_record(meta) -> ViewStep:
    """Restates one view record, e.g. class `slice_Tensor_ViewMeta` with fields (.., .., mode, 0, 1, 3, 1).

    A record of a view with several results (`split`, `unbind`) has the result's index as its second field.
    """
    name = type(meta).__name__.removesuffix("_ViewMeta")
    callee = _overload_of(name)
    if callee is None:
        raise UnsupportedError(f"replaying the view {name} on its base is not supported yet")
    fields = meta.as_tuple()
    mode = next(index for index, field in enumerate(fields) if type(field).__name__ == "InverseReturnMode")
    return _step(callee, fields[mode + 1 :], fields[1] if _returns_list(callee) else -1)


def _step(callee: torch._ops.OpOverload, args: Sequence, output_index: int) -> ViewStep:
    positional = sum(not argument.kwarg_only for argument in callee._schema.arguments) - 1
    for argument, value in zip(callee._schema.arguments[1 + positional :], args[positional:], strict=False):
        if value != argument.default_value:
            raise UnsupportedError(f"replaying the view {callee} with {argument.name}={value} is not supported yet")
    name = f"{callee.namespace}.{callee._opname}.{callee._overloadname}"
    return ViewStep(name, tuple(_plain(value) for value in args[:positional]), output_index)


def _returns_list(callee: torch._ops.OpOverload) -> bool:
    return str(callee._schema.returns[0].type) == "List[Tensor]"


def _plain(field):
    return [int(size) for size in field] if isinstance(field, list | tuple) else field


def _overload_of(name: str) -> torch._ops.OpOverload | None:
    """Finds `aten.slice.Tensor` for "slice_Tensor": op names have underscores too, so every split is tried."""
    parts = name.removesuffix("_copy").split("_")
    for cut in range(len(parts), 0, -1):
        packet = getattr(torch.ops.aten, "_".join(parts[:cut]), None)
        overload = "_".join(parts[cut:]) or "default"
        if packet is not None and overload in packet.overloads():
            return getattr(packet, overload)
    return None


def chains_in_graph(node: torch.fx.Node) -> Iterator[tuple[torch.fx.Node, tuple[ViewStep, ...]]]:
    """Yields every node that `node` is a view of, nearest first and itself included, with the chain from there.

    Copies count as nothing: decompositions put them where eager returns its argument (`dropout` in evaluation). So ask
    only for what shares memory in eager.
    """
    chain: tuple[ViewStep, ...] = ()
    while True:
        yield node, chain
        index = -1
        if node.target in (torch.ops.aten.clone.default, torch.ops.aten.alias.default):
            node = cast(torch.fx.Node, node.args[0])
            continue
        if node.target is operator.getitem:
            node, index = cast(tuple[torch.fx.Node, int], node.args)
        if not _is_view(node):
            return
        target: Any = node.target
        normal: Any = normalize_function(target, node.args, node.kwargs, normalize_to_only_use_kwargs=True)
        base, *args = normal.kwargs.values()
        chain = (_step(target, args, index), *chain)
        node = base


def _is_view(node: torch.fx.Node) -> bool:
    if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.arguments:
        return False
    alias = node.target._schema.arguments[0].alias_info
    return alias is not None and not alias.is_write
