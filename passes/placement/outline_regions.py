"""Pass `outline-regions`: neighbouring `region` ops to functions of their own, everything else to host calls."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import LEVEL, PLACEMENT, PLACEMENT_REASON, ROLE, SIZES
from dovetail.dialects.building.cloning import FROM_PYTHON, clone, constant_none
from dovetail.dialects.building.region_builder import RegionBuilder
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import COMPUTING, Module, Role, arguments, copy_attributes, drop_attributes, role
from dovetail.dialects.sizes.symbols import sizes_map, sizes_of
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.passes.base import Pass, fail
from dovetail.passes.placement.library_calls import call_in_place_of
from dovetail.passes.placement.placed_graph import PlacedGraph
from dovetail.passes.placement.region_levels import region_levels
from dovetail.passes.placement.region_values import needed_on_host, operands_of, results_of, with_views

_TAGS = (PLACEMENT, PLACEMENT_REASON)
# On the host, these are no library calls.
_NO_CALLS = (*FROM_PYTHON, CopyOp.OPERATION_NAME)


class OutlineRegionsPass(Pass, name="outline-regions", runs_at="split"):
    """Groups `region` ops into as few functions `@<function>_region_<n>` as their dependencies allow.

    Ops get levels: a host call's result raises the level of the regions that use it, a region's result that of the
    host calls. All region ops of one level become one region; edges never lead down, so no cycle can arise, and
    independent ops (an optimizer's hundreds of small tensors) land together. Views move into the regions that use
    them. Ops with effects keep their order.

    Before:  `%0 = torch.aten.mm %a, %b {library}; %1 = torch.aten.relu %0 {region}`
    After:   `%0 = torch.operator "torch.aten.mm"(%a, %b) {dovetail.reason}; %1 = call @forward_region_0(%0)`
    """

    def run(self, module: ir.Module) -> None:
        for name, function_op in Module(module).of(*COMPUTING).items():
            _Outliner(module, name, function_op).run()
        module.operation.attributes[LEVEL] = ir.StringAttr.get("program", module.context)


class _Outliner:
    def __init__(self, module: ir.Module, name: str, function_op: func.FuncOp):
        self.module, self.name, self.function = module, name, function_op
        self.graph = PlacedGraph.of(function_op)
        self.on_host = needed_on_host(self.graph)
        self.values: dict[ir.Value, ir.Value] = {}

    def run(self) -> None:
        """Builds the host function beside the old one, which stays as it is until all of it has been cloned."""
        with self.function.location, ir.InsertionPoint(self.function):
            host = func.FuncOp(self.name, self.function.type)
        copy_attributes(self.function, host, "arg_attrs", "res_attrs", "sym_visibility", ROLE)
        with self.function.location:
            entry = host.add_entry_block()
        self.values = dict(zip(arguments(self.function), entry.arguments, strict=True))
        with ir.InsertionPoint(entry):
            for op, placement in zip(self.graph.ops, self.graph.placement, strict=True):
                if placement == "read":
                    clone(op, self.values)
            levels = region_levels(self.graph, is_backward=role(self.function) is Role.BACKWARD)
            for number, level in enumerate(levels):
                if level.region:
                    self._launch(f"{self.name}_region_{number}", level.region)
                for index in level.host:
                    self._host(index)
        self.function.operation.erase()

    def _launch(self, name: str, computed: list[int]) -> None:
        """Makes the region of one level, and its call."""
        inside = with_views(self.graph, computed)
        results = results_of(self.graph, computed)
        operands = operands_of(self.graph, inside)
        ops = [self.graph.ops[index] for index in inside]
        with ir.InsertionPoint(self.module.body), ops[0].location:
            region = RegionBuilder(name, operands)
            with region.end:
                for op in ops:
                    with op.location:
                        _compute(op, region.values)
            region.finish(results)
        with self.graph.ops[computed[0]].location:
            made = func.CallOp([value.type for value in results], name, [self.values[value] for value in operands])
            known = [sizes_of(value) for value in results]
            if any(each is not None for each in known):
                stated = [ir.UnitAttr.get() if sizes is None else sizes_map(sizes) for sizes in known]
                made.attributes[SIZES] = ir.ArrayAttr.get(stated)
        self.values.update(zip(results, made.results, strict=True))

    def _host(self, number: int) -> None:
        op, placement = self.graph.ops[number], self.graph.placement[number]
        if placement == "view" and not self.on_host[number]:
            return
        with op.location:
            cloned = clone(op, self.values)
            if placement != "host" or self.graph.is_effect[number] or op.name in _NO_CALLS:
                drop_attributes(cloned, *_TAGS)
                return
            name = aten_name(op)
            if name is None:
                raise fail(op, "can't be called on the host: it is no ATen op")
            tag, reason = (ir.StringAttr(op.attributes[key]).value for key in _TAGS)
            call_in_place_of(cloned, op, name, self.values, reason, tag != "library")


def _compute(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Builds in a region what `op` is there; a copy is no more than its value, in memory that the caller gives it."""
    if op.name != CopyOp.OPERATION_NAME:
        drop_attributes(clone(op, values), *_TAGS)
        return
    (value,) = op.operands
    made = ir.Operation.create("torch.aten.clone", results=[value.type], operands=[values[value], constant_none()])
    values[op.results[0]] = made.result
