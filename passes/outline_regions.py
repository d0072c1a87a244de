"""Pass `outline-regions`: neighbouring `region` ops to functions of their own, everything else to host calls."""

from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import FALLBACK, REGION, extern, is_extern
from dovetail.dialects.control_flow import SUBGRAPH, is_subgraph
from dovetail.dialects.dovetail import OwnOp, ReadOp
from dovetail.dialects.torch_ops import aten_name, is_constant
from dovetail.passes.base import Pass, fail
from dovetail.passes.place_ops import PLACEMENT, PLACEMENT_REASON
from dovetail.passes.rewriting import FROM_PYTHON, body, clone, functions


@dataclass(frozen=True)
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
        for name, function_op in functions(module).items():
            if name in ("forward", "backward") or is_subgraph(function_op):
                _Outliner(module, name, function_op).run()
        module.operation.attributes["dovetail.level"] = ir.StringAttr.get("program", module.context)


@dataclass
class _Level:
    """What one level holds: region ops first, then host ops."""

    region: list[ir.Operation] = field(default_factory=list)
    host: list[ir.Operation] = field(default_factory=list)


class _Outliner:
    def __init__(self, module: ir.Module, name: str, function_op: func.FuncOp):
        self.module, self.name, self.function = module, name, function_op
        self.ops = body(function_op)
        self.placement = {op: _placement(op) for op in self.ops}
        self.order = {op: index for index, op in enumerate(self.ops)}
        self.on_host: dict[ir.Operation, bool] = {}

    def run(self) -> None:
        """Builds the host function beside the old one, which stays as it is until nobody asks about it any more."""
        with self.function.location, ir.InsertionPoint(self.function):
            host = func.FuncOp(self.name, self.function.type)
        for name in ("arg_attrs", "res_attrs", "sym_visibility", SUBGRAPH):
            if name in self.function.attributes:
                host.attributes[name] = self.function.attributes[name]
        with self.function.location:
            entry = host.add_entry_block()
        values = dict(zip(self.function.body.blocks[0].arguments, entry.arguments, strict=True))
        with ir.InsertionPoint(entry):
            for op in self.ops:
                if self.placement[op] == "read":
                    clone(op, values)
            for number, level in enumerate(self._levels()):
                if level.region:
                    self._launch(number, level.region, values)
                for op in level.host:
                    self._host(op, values)
        self.function.operation.erase()

    def _levels(self) -> list[_Level]:
        """Region ops, and what is recomputed, as late as their users allow, so that it dies young; host calls early."""
        earliest = self._earliest()
        level = self._latest(earliest)
        for op in self.ops:
            if self.placement[op] == "view":
                level[op] = max((level[producer] for producer in _producers(op)), default=0)
        levels = [_Level() for _ in range(max(level.values(), default=0) + 1)]
        for op in self.ops:
            placement = self.placement[op]
            if placement == "region":
                levels[level[op]].region.append(op)
            elif placement not in ("constant", "read"):
                levels[level[op]].host.append(op)
        return levels

    def _earliest(self) -> dict[ir.Operation, int]:
        level: dict[ir.Operation, int] = {}
        last_effect = 0
        for op in self.ops:
            placement = self.placement[op]
            if placement in ("constant", "read"):
                level[op] = 0
            elif placement == "end":
                level[op] = max(level.values(), default=0)
            else:
                level[op] = max((self._above(producer, placement, level) for producer in _producers(op)), default=0)
            if is_extern(op):
                level[op] = last_effect = max(level[op], last_effect)
        return level

    def _latest(self, earliest: dict[ir.Operation, int]) -> dict[ir.Operation, int]:
        """Moves ops to the level of their first user; what the function returns, and most host calls, stay.

        In the backward, host calls that need no tangent are recomputed, or were left for it: they move too.
        """
        level = dict(earliest)
        stays = self._from_tangents() if self.name == "backward" else set(self.ops)
        for op in reversed(self.ops):
            placement = self.placement[op]
            if placement not in ("region", "view", "host") or (placement == "host" and (op in stays or is_extern(op))):
                continue
            bounds = [self._before(use.owner.operation, op, level, earliest) for out in op.results for use in out.uses]
            level[op] = max(earliest[op], min(bounds, default=0))
        return level

    def _before(self, user: ir.Operation, op: ir.Operation, level: dict, earliest: dict) -> int:
        """The greatest level at which `op` can run for `user` to run at its own."""
        if self.placement[user] in ("own", "end"):
            return earliest[op]
        if self.placement[op] == "host":
            if self.placement[user] != "view":
                return level[user] - (self.placement[user] == "region")
            uses = (use.owner.operation for out in user.results for use in out.uses)
            return min((self._before(each, op, level, earliest) for each in uses), default=earliest[op])
        waits = self.placement[op] == "view" and not _compiles(op) and self.placement[user] == "region"
        return level[user] - 1 if waits else level[user]

    def _from_tangents(self) -> set[ir.Operation]:
        """The ops that depend on memory handed in: in the backward, on a tangent."""
        reached: set[ir.Operation] = set()
        for op in self.ops:
            if self.placement[op] == "read" or reached.intersection(_producers(op)):
                reached.add(op)
        return reached

    def _above(self, producer: ir.Operation, placement: str, level: dict[ir.Operation, int]) -> int:
        """The least level for a user of `producer`: within a level regions run before host calls."""
        return level[producer] + (1 if placement == "region" and self._runs_on_host(producer) else 0)

    def _runs_on_host(self, op: ir.Operation) -> bool:
        """Whether a region that uses `op` must wait for the host: for a call, or a view that can't move inside."""
        if op not in self.on_host:
            placement = self.placement[op]
            self.on_host[op] = placement == "host" or (
                placement == "view" and (not _compiles(op) or any(map(self._runs_on_host, _producers(op))))
            )
        return self.on_host[op]

    def _launch(self, number: int, ops: list[ir.Operation], values: dict[ir.Value, ir.Value]) -> None:
        """Makes the region of one level, and its call."""
        inside = self._with_views(ops)
        computed = set(ops)
        outputs = [result for op in ops for result in op.results if self._leaves(result, computed)]
        produced = {result for op in inside for result in op.results}
        operands = (value for op in inside for value in op.operands)
        inputs = [value for value in dict.fromkeys(operands) if value not in produced and not _is_constant(value)]
        name = f"{self.name}_region_{number}"
        self._make_region(name, inside, inputs, outputs)
        with ops[0].location:
            made = func.CallOp([value.type for value in outputs], name, [values[value] for value in inputs])
        values.update(zip(outputs, made.results, strict=True))

    def _with_views(self, ops: list[ir.Operation]) -> list[ir.Operation]:
        """`ops` and the views that they read through, in order. A view costs a region nothing and a host call a lot."""
        inside = set(ops)
        pending = list(ops)
        while pending:
            for producer in _producers(pending.pop()):
                if self.placement[producer] == "view" and producer not in inside and _compiles(producer):
                    inside.add(producer)
                    pending.append(producer)
        return sorted(inside, key=self.order.__getitem__)

    def _leaves(self, value: ir.Value, computed: set[ir.Operation]) -> bool:
        """Whether somebody outside of the region needs `value`, directly or through a host view."""
        for use in value.uses:
            user = use.owner.operation
            if user in computed:
                continue
            if self.placement[user] == "view" and _compiles(user):
                if any(self._leaves(result, computed) for result in user.results):
                    return True
            else:
                return True
        return False

    def _make_region(self, name: str, ops: list[ir.Operation], inputs: list[ir.Value], outputs: list[ir.Value]):
        signature = ir.FunctionType.get([value.type for value in inputs], [value.type for value in outputs])
        with ir.InsertionPoint(self.module.body), ops[0].location:
            main = func.FuncOp(name, signature, visibility="private")
            entry = main.add_entry_block()
        main.attributes[REGION] = ir.UnitAttr.get()
        values = dict(zip(inputs, entry.arguments, strict=True))
        with ir.InsertionPoint(entry):
            for op in ops:
                with op.location:
                    _untag(clone(op, values))
            func.ReturnOp([values[value] for value in outputs], loc=ops[-1].location)

    def _host(self, op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
        placement = self.placement[op]
        if placement == "view" and not self._has_host_user(op):
            return
        with op.location:
            cloned = clone(op, values)
            if placement == "host" and not is_extern(op) and op.name not in FROM_PYTHON:
                self._extern(op, cloned, values)
            else:
                _untag(cloned)

    def _extern(self, op: ir.Operation, cloned: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
        name = aten_name(op)
        if name is None:
            raise fail(op, OutlineRegionsPass.name, "can't be called on the host: it is no ATen op")
        placement, reason = (ir.StringAttr(op.attributes[key]).value for key in (PLACEMENT, PLACEMENT_REASON))
        text = reason if placement == "library" else f"{FALLBACK}{reason}"
        made = extern(name, text, list(cloned.operands), [value.type for value in op.results])
        values.update(zip(op.results, made.results, strict=True))
        cloned.erase()

    def _has_host_user(self, view: ir.Operation) -> bool:
        """Whether somebody needs the view on the host, directly or through other views."""
        users = [use.owner.operation for result in view.results for use in result.uses]
        for user in users:
            if not _compiles(view) or self.placement[user] not in ("region", "view"):
                return True
            if self.placement[user] == "view" and self._has_host_user(user):
                return True
        return False


def _placement(op: ir.Operation) -> str:
    if isinstance(op.opview, ReadOp):
        return "read"
    if isinstance(op.opview, OwnOp):
        return "own"
    if is_extern(op):
        return "host"
    if isinstance(op.opview, func.ReturnOp):
        return "end"
    if is_constant(op):
        return "constant"
    if PLACEMENT not in op.attributes:
        raise fail(op, OutlineRegionsPass.name, f"has no '{PLACEMENT}', run 'place-ops' first")
    tagged = ir.StringAttr(op.attributes[PLACEMENT]).value
    return "host" if tagged in ("library", "fallback") else tagged


def _compiles(view: ir.Operation) -> bool:
    """Whether a view can move into a region: IREE knows it, and it sees values, not memory."""
    return view.name not in ("torch.operator", "torch.aten.as_strided")


def _producers(op: ir.Operation) -> list[ir.Operation]:
    owners = (value.owner for value in op.operands)
    return [owner.operation for owner in owners if not isinstance(owner, ir.Block)]


def _is_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and is_constant(value.owner.operation)


def _untag(op: ir.Operation) -> None:
    for name in (PLACEMENT, PLACEMENT_REASON):
        if name in op.attributes:
            del op.attributes[name]
