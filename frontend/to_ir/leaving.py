"""What leaves the call: owned results, views of them and of arguments, and what arguments hold and are afterwards."""

from collections.abc import Sequence
from math import prod

import torch
from torch_mlir import ir

from dovetail.dialects.attributes import BASE, FREES
from dovetail.dialects.dovetail import OwnOp, RefType, SetGradModeOp, TangentOp
from dovetail.dialects.dovetail.ops.number import number
from dovetail.dialects.dovetail.ops.own import own
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.dovetail.ops.set_metadata import set_metadata
from dovetail.dialects.dovetail.ops.touch import touch
from dovetail.dialects.dovetail.ops.write import write
from dovetail.errors import UnsupportedError
from dovetail.frontend.devices import named
from dovetail.frontend.dynamo.open_sizes import identity, is_open_value, known
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.records import ArgumentWrite, Capture, CapturedArgument, FinalLayout, Result, ViewStep
from dovetail.frontend.to_ir.argument_facts import needed_facts
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.refs import of_size, replay, stated_strides


class Leaving:
    """Builds the ops for what leaves, at the insertion point.

    `owns` has the owned results by their positions among the tensors that leave.
    """

    def __init__(self, capture: Capture, nodes: NodeImporter, arguments: Sequence[ir.Value]):
        self._capture, self._nodes, self._arguments = capture, nodes, arguments
        self._tangents: list[tuple[torch.fx.Node, ir.Value]] = []
        self._laid_out: dict[ir.Value, Sequence] = {}
        self.owns: dict[int, OwnOp] = {}

    def write_arguments(self) -> None:
        """Mutates the arguments that the call mutates, as eager leaves them."""
        for argument, ref in zip(self._capture.inputs, self._arguments, strict=True):
            if argument.mutation is not None and argument.mutated_value is not None:
                self._write(argument, argument.mutation, argument.mutated_value, ref)
            if argument.touches:
                touch(ref, argument.touches)
            if argument.layout is not None:
                layout = argument.layout
                size, stride = self._nodes.open.values(layout.size), self._nodes.open.values(layout.stride)
                set_metadata(ref, size, stride, self._nodes.open.value(layout.offset), layout.versions)

    def _write(self, argument: CapturedArgument, mutation: ArgumentWrite, node: torch.fx.Node, ref: ir.Value) -> None:
        value, layout = self._nodes.resolve_node_value(node), argument.layout
        if layout is None:
            like = argument.node.meta["val"]
            value, layout = of_size(self._nodes, node, like), FinalLayout(tuple(like.size()), tuple(like.stride()))
        if argument.tangent is not None and argument.position is not None:
            value = self._own(argument.position, value, node, layout, argument.tangent, True)
        with self._nodes.location(node):
            if argument.layout is not None:
                step = _as_strided(argument.layout, argument.node.meta["val"].dtype)
                ref = replay(self._nodes, ref, [step])
            write(value, ref, mutation.mode, mutation.versions)

    def results(self) -> list[ir.Value]:
        """What the call returns, in order; then it sets the mode for gradients that eager leaves."""
        values = [self._nodes.resolve_node_value(each.node) for each in self._capture.owned]
        owned = [
            self._own(position, value, each.node, each.layout, each.tangent, each.requires_grad)
            for position, (value, each) in enumerate(zip(values, self._capture.owned, strict=True))
        ]
        results: dict[int, ir.Value] = {}
        # First what others are views of, last what is the same object as others.
        numbered = sorted(
            enumerate(self._capture.results), key=lambda each: (each[1].same_as is not None, each[1].of is not None)
        )
        for index, result in numbered:
            results[index] = self._result(result, index, owned, results)
        if self._capture.grad_mode is not None:
            SetGradModeOp.build(enabled=ir.BoolAttr.get(self._capture.grad_mode))
        return [results[index] for index in range(len(results))]

    def state(self, numbers: dict[int, int]) -> None:
        """States what eager's backward from each owned result would do; `numbers` are theirs, by position."""
        for position in self.tangents():
            if self._capture.frees[position] != (0,):
                self.owns[position].attributes[FREES] = ir.DenseI64ArrayAttr.get(self._capture.frees[position])
        for position, owned in enumerate(self._capture.owned):
            for name, attribute in needed_facts(owned.needed, numbers).items():
                self.owns[position].attributes[name] = attribute
            if owned.base is not None:
                self.owns[position].attributes[BASE] = _base(owned.base)

    def tangents(self) -> dict[int, RefType]:
        """How the gradients lie that autograd gives, by the positions of their results among the tensors that leave."""
        given = {ref: self._tangent_type(node, ref) for node, ref in self._tangents}
        return {position: given[op.ref] for position, op in self.owns.items() if op.ref in given}

    def _tangent_type(self, node: torch.fx.Node, ref: ir.Value) -> RefType:
        """Of the result's sizes: of some, tracing knows less."""
        tensor = node.meta["val"]
        strides, device = stated_strides(tensor.stride()), named(tensor.device, self._nodes.home)
        return RefType.of(RefType(ref.type).tensor_type, strides, device)

    def bind_tangents(self) -> None:
        """Lets the backward's graph start from what autograd will give."""
        for node, ref in self._tangents:
            type_ = self._tangent_type(node, ref)
            _check_tangent(node, self._laid_out[ref], type_ == ref.type)
            delivered = TangentOp(ref, type_).ref
            value = read(delivered).value
            known = zip(type_.shaped.shape, node.meta["val"].size(), strict=True)
            sizes = [size if one is None else one for one, size in known]
            for made in () if type_.shaped.is_static else (delivered, value):
                self._nodes.open.state_sizes(made.owner, sizes)
            self._nodes.bind_node_value(node, value)

    def _own(
        self,
        position: int,
        value: ir.Value,
        node: torch.fx.Node,
        layout: FinalLayout,
        tangent_node: torch.fx.Node | None,
        requires_grad: bool,
    ) -> ir.Value:
        if requires_grad and not any(argument.gradient is not None for argument in self._capture.inputs):
            raise UnsupportedError(f"{source_line(node)}: a result requires grad, but no argument gets a gradient")
        _check_sizes(node, layout)
        with self._nodes.location(node):
            device = named(node.meta["val"].device, self._nodes.home)
            type_ = RefType.of(value.type, stated_strides(layout.stride), device)
            numbers = self._nodes.open.values(stride for stride in layout.stride if is_open_value(stride))
            self.owns[position] = own(value, type_, requires_grad, numbers)
            ref = self.owns[position].ref
            self._laid_out[ref] = layout.stride
        if tangent_node is not None:
            self._tangents.append((tangent_node, ref))
        return ref

    def _result(self, result: Result, index: int, owned: list[ir.Value], results: dict[int, ir.Value]) -> ir.Value:
        if result.same_as is not None:
            return results[result.same_as]
        if result.of is not None:
            return replay(self._nodes, results[result.of], result.chain)
        if result.argument is not None:
            return replay(self._nodes, self._arguments[result.argument], result.chain)
        if result.number is not None and result.owned is not None:
            return number(owned[result.owned], result.number).number
        if result.owned is not None:
            return replay(self._nodes, owned[result.owned], result.chain)
        if is_open_value(result.value):
            return self._nodes.open.value(result.value)
        if not isinstance(known(result.value), bool | int | float | str | None):
            raise UnsupportedError(f"result {index}: a {type(result.value).__name__} is not supported, return a tensor")
        return self._nodes.argument(known(result.value))


def _as_strided(layout: FinalLayout, dtype: torch.dtype) -> ViewStep:
    position = ([*layout.size], [*layout.stride], layout.offset)
    return ViewStep("aten.as_strided.default", position, layout.size, layout.stride, dtype)


def _check_sizes(node: torch.fx.Node, layout: FinalLayout) -> None:
    """Raises UnsupportedError where PyTorch's parts of an op make other sizes than its kernel, so that one is wrong.

    In PyTorch 2.11: an LSTM on a GPU, and a norm over a dimension of one element.
    """
    made, told = (tuple(map(known, sizes)) for sizes in (node.meta["val"].size(), layout.size))
    pairs = (each for each in zip(made, told, strict=False) if not any(map(is_open_value, each)))
    if len(made) != len(told) or any(one != other for one, other in pairs):
        raise UnsupportedError(f"{source_line(node)}: PyTorch gives one result the sizes {[*told]} and {[*made]}")


def _check_tangent(node: torch.fx.Node, strides: Sequence, is_same: bool) -> None:
    """Raises UnsupportedError for open strides that are neither those of the result nor row by row, as types say it."""
    traced, wanted = node.meta["val"].stride(), strides
    if not any(map(is_open_value, traced)):
        return
    if not is_same:
        sizes = node.meta["val"].size()
        wanted = [prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
    if list(map(identity, traced)) != list(map(identity, wanted)):
        raise UnsupportedError(f"{source_line(node)}: a gradient of open sizes is laid out in a way of its own")


def _base(sizes: Sequence) -> ir.Attribute:
    """What `dovetail.base` says of `sizes`; one that is open follows from the others."""
    stated = [-1 if is_open_value(size) else int(size) for size in sizes]
    if stated.count(-1) > 1:
        raise UnsupportedError("a view of several open sizes that a custom autograd.Function made")
    return ir.DenseI64ArrayAttr.get(stated)
