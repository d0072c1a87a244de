"""Pass `partition`: one joint function to `@call`, `@forward` and `@backward`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.aliases import with_aliases
from dovetail.dialects.calls import BACKWARD, FORWARD, ONCE, VERSIONS, WATCHED, is_extern
from dovetail.dialects.dovetail import (
    DetachOp,
    GradientOp,
    OwnOp,
    ReadOp,
    RefType,
    SetGradModeOp,
    SetMetadataOp,
    TangentOp,
    TouchOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.dovetail.ops.detach import detach
from dovetail.dialects.dovetail.ops.own import own
from dovetail.dialects.recompute import RECOMPUTE, is_recomputed
from dovetail.dialects.subclasses import ARGUMENTS, RESULTS
from dovetail.dialects.torch_ops import is_constant
from dovetail.errors import OptionError
from dovetail.passes.base import Pass
from dovetail.passes.min_cut import saved_values
from dovetail.passes.rewriting import (
    alias_root,
    ancestors,
    body,
    clone,
    clone_tensor,
    constant_none,
    function,
    has_argument_attribute,
    is_view,
    operand_ops,
    set_signature,
)

ALGORITHMS = ("min-cut", "default")
_OBSERVED = (WriteOp, TouchOp, ViewOp, DetachOp, SetMetadataOp, SetGradModeOp)


@dataclass(frozen=True)
class PartitionPass(Pass, name="partition", runs_at="joint"):
    """Splits the joint function into what the user calls, the forward and the backward.

    `@call` keeps everything that touches the user's memory; `@forward` computes what it hands out (`own`ed memory,
    then the saved values), `@backward` takes the saved values and the tangents. `algorithm=min-cut` recomputes cheap
    ops in the backward to save fewer bytes, `default` saves everything that the backward uses. Both obey
    `dovetail.recompute`, which is gone afterwards: what the user wants recomputed is saved only where an effect
    (random numbers) computed it. Without a `dovetail.gradient` there is no backward and `@call` calls `@forward`.

    Before:  `@joint(%x, %w) { ...; %o = own; write; %t = tangent %o; ...; gradient %g, %w; return %o }`
    After:   `@call(%x, %w) { %o = call @apply(%x, %w); write; return %o }`, `@apply` being declared with
             `{dovetail.forward = @forward, dovetail.backward = @backward}`, and those two.
    """

    algorithm: str = "min-cut"

    def __post_init__(self):
        if self.algorithm not in ALGORITHMS:
            valid = " or ".join(f"'{name}'" for name in ALGORITHMS)
            raise OptionError(f"pass 'partition': option 'algorithm' expects {valid}, got '{self.algorithm}'")

    def run(self, module: ir.Module) -> None:
        joint = function(module, "joint")
        with joint.location, ir.InsertionPoint(module.body):
            _Split(joint, self.algorithm).build()
        joint.erase()
        module.operation.attributes["dovetail.level"] = ir.StringAttr.get("split")


class _Split:
    """The joint function's operations, sorted into the three functions."""

    def __init__(self, joint: func.FuncOp, algorithm: str):
        self.joint = joint
        self.arguments = list(joint.body.blocks[0].arguments)
        self.ops = body(joint)
        self.owns = self._all(OwnOp)
        self.tangents = self._all(TangentOp)
        self.gradients = self._all(GradientOp)
        self.differentiated = {op.opview.of for op in self.gradients}
        self.observed = [op for op in self.ops if isinstance(op.opview, _OBSERVED)]
        self.written = self._written_values()
        self.backward = self._backward_ops()
        self.forward = self._forward_ops()
        self._spread_recomputation()
        self.saved = self._saved(algorithm)

    def _all(self, op_class: type) -> list[ir.Operation]:
        return [op for op in self.ops if isinstance(op.opview, op_class)]

    def _written_values(self) -> list[ir.Value]:
        """Values that `@call` writes and no `own` hands out yet, each once."""
        writes = [op.opview for op in self.observed if isinstance(op.opview, WriteOp)]
        return list(dict.fromkeys(op.value for op in writes if not isinstance(op.value.type, RefType)))

    def _backward_ops(self) -> set[ir.Operation]:
        """What depends on a tangent, or is an effect of the backward."""
        reached: set[ir.Operation] = set()
        for op in self.ops:
            operands = (value.owner.operation for value in op.operands if not isinstance(value.owner, ir.Block))
            from_tangent = isinstance(op.opview, TangentOp) or any(operand in reached for operand in operands)
            if from_tangent or "dovetail.backward" in op.attributes:
                reached.add(op)
        return reached

    def _forward_ops(self) -> set[ir.Operation]:
        """What `@forward` computes even if it saves nothing."""
        effects = [op for op in self.ops if is_extern(op) and op not in self.backward]
        return ancestors(
            [*self.owns, *effects, *(value.owner.operation for value in self.written if _is_computed(value))]
        )

    def _spread_recomputation(self) -> None:
        """What only the backward computes from a recomputed value is not saved in its place.

        An op's hash depends on its attributes: those that change here are in no set yet.
        """
        for op in self.ops:
            if op in self.forward or op in self.backward or is_extern(op) or is_constant(op):
                continue
            if any(is_recomputed(each) and not is_extern(each) for each in operand_ops(op)):
                op.attributes[RECOMPUTE] = ir.StringAttr.get("prefer_recompute")

    def _needed(self) -> list[ir.Value]:
        """Forward values that the backward uses, each once, in order. A gradient may be one itself."""
        wanted = ancestors(self.gradients) | {op for op in self.backward if is_extern(op)}
        users = [op for op in self.ops if op in wanted and (op in self.backward or isinstance(op.opview, GradientOp))]
        uses = [value for op in users for value in op.operands if not isinstance(value.type, RefType)]
        inside = [value for value in uses if not isinstance(value.owner, ir.Block)]
        outside = [value for value in inside if value.owner.operation not in self.backward]
        return [value for value in dict.fromkeys(outside) if not is_constant(value.owner.operation)]

    def _saved(self, algorithm: str) -> list[ir.Value]:
        needed = self._needed()
        if algorithm == "min-cut":
            return saved_values(needed, self._is_static, self._is_exposed)
        return self._sources(needed)

    def _sources(self, needed: Sequence[ir.Value]) -> list[ir.Value]:
        """What to save for the `needed` values: themselves, but for some what they come from.

        These are views, what the user wants recomputed, and what only the backward uses, which is better off there.
        """
        found: list[ir.Value] = []
        seen: set[ir.Value] = set()
        pending = list(reversed(needed))
        while pending:
            value = pending.pop()
            if value in seen or not _is_computed(value) or is_constant(value.owner.operation):
                continue
            seen.add(value)
            op = value.owner.operation
            is_late = is_view(op) or is_recomputed(op) or op not in self.forward
            if is_late and not is_extern(op) and not isinstance(op.opview, ReadOp):
                pending.extend(reversed(list(op.operands)))
            else:
                found.append(value)
        return found

    def _is_static(self, value: ir.Value) -> bool:
        """Parameters and buffers outlive the call anyway."""
        op = value.owner.operation.opview
        if not isinstance(op, ReadOp) or op.ref not in self.arguments:
            return False
        return has_argument_attribute(self.joint, self.arguments.index(op.ref), "dovetail.static")

    def build(self) -> None:
        trained = bool(self.gradients)
        owned = self._forward(trained)
        if trained:
            self._backward()
            self._border(owned)
        self._call(owned, trained)

    def _forward(self, trained: bool) -> list[ir.Type]:
        """Builds `@forward`; returns the types of what the user will own."""
        keep = self.forward | ancestors(value.owner.operation for value in self.saved if _is_computed(value))
        with ir.InsertionPoint(self.joint):
            forward = func.FuncOp("forward", ir.FunctionType.get([each.type for each in self.arguments], []))
        values = self._enter(forward)
        with ir.InsertionPoint(forward.body.blocks[0]):
            for op in self.ops:
                if op in keep and not is_constant(op):
                    with op.location:
                        _clone_untagged(op, values)
            owned = [values[op.results[0]] for op in self.owns]
            owned += [own(values[value], RefType.of(value.type), False).ref for value in self.written]
            saved = [self._save(value, values[value]) for value in self.saved] if trained else []
            func.ReturnOp([*owned, *saved])
        results = [value.type for value in [*owned, *saved]]
        set_signature(forward, results)
        checks = [self._check(value) for value in self.saved] if trained else []
        attributes: list[dict[str, ir.Attribute]] = [{}] * len(owned)
        attributes += [{"dovetail.saved": ir.StringAttr.get(check)} for check in checks]
        if attributes:
            forward.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
        return [value.type for value in owned]

    def _save(self, value: ir.Value, cloned: ir.Value) -> ir.Value:
        """What may change before the backward, though eager's backward would not mind, is saved as a copy."""
        if alias_root(value) in self._written_refs() or self._is_exposed(value):
            return clone_tensor(cloned)
        return cloned

    def _is_exposed(self, value: ir.Value) -> bool:
        """Whether the user may change the memory of `value` before the backward: it is visible, and eager saves others.

        Where the graph says nothing of what eager saves, a change raises.
        """
        watched = self._watched()
        return (
            bool(watched)
            and self._is_visible(value)
            and not self._is_static(value)
            and alias_root(value) not in watched
        )

    def _watched(self) -> set[ir.Value]:
        """The memory, by its root, that eager's autograd saves."""
        owned = {alias_root(op.operands[0]) for op in self.owns if WATCHED in op.attributes}
        return owned | {
            argument
            for index, argument in enumerate(self.arguments)
            if has_argument_attribute(self.joint, index, WATCHED)
        }

    def _written_refs(self) -> set[ir.Value]:
        """Refs whose memory is written, directly or because they share memory with one that is."""
        written = {alias_root(op.opview.ref) for op in self.observed if isinstance(op.opview, WriteOp)}
        return with_aliases(self.joint, written)

    def _moves(self) -> Counter[ir.Value]:
        """By how much `@call` moves the version counters of refs."""
        found: Counter[ir.Value] = Counter()
        for op in self.observed:
            if isinstance(op.opview, WriteOp | TouchOp | SetMetadataOp):
                found[alias_root(op.opview.ref)] += op.opview.version_count
        return found

    def _check(self, value: ir.Value) -> str:
        return "checked" if self._is_visible(value) and not self._is_exposed(value) else "private"

    def _is_visible(self, value: ir.Value) -> bool:
        """Whether the user can change a saved value's memory between forward and backward."""
        root = alias_root(value)
        if root in self._written_refs():
            return False
        handed_out = {alias_root(op.operands[0]) for op in self.owns}
        return isinstance(root.type, RefType) or root in handed_out

    def _backward(self) -> None:
        types = [value.type for value in self.saved] + [op.results[0].type for op in self.tangents]
        with ir.InsertionPoint(self.joint):
            backward = func.FuncOp("backward", ir.FunctionType.get(types, []))
        block = backward.add_entry_block()
        order = {op: index for index, op in enumerate(self.owns)}
        tied = [order[op.opview.of.owner.operation] for op in self.tangents]
        i64 = ir.IntegerType.get_signless(64)
        attributes: list[dict[str, ir.Attribute]] = [{}] * len(self.saved)
        attributes += [{"dovetail.tangent_of": ir.IntegerAttr.get(i64, each)} for each in tied]
        backward.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
        tangents = [op.results[0] for op in self.tangents]
        values = dict(zip([*self.saved, *tangents], block.arguments, strict=True))
        gradients = {op.opview.of: op.opview.value for op in self.gradients}
        with ir.InsertionPoint(block):
            for op in self._recomputed():
                with op.location:
                    _clone_untagged(op, values)
            results = [self._gradient(gradients.get(argument), values) for argument in self.arguments]
            func.ReturnOp(results)
        set_signature(backward, [value.type for value in results])

    def _recomputed(self) -> list[ir.Operation]:
        """The backward's operations, in order: its own, and those that bridge from the saved values."""
        saved = set(self.saved)
        needed: set[ir.Operation] = set()
        pending = [*self.gradients, *(op for op in self.backward if is_extern(op))]
        while pending:
            op = pending.pop()
            if op in needed:
                continue
            needed.add(op)
            if isinstance(op.opview, TangentOp):
                continue
            for value in op.operands:
                if value in saved or isinstance(value.owner, ir.Block):
                    continue
                pending.append(value.owner.operation)
        skipped = (GradientOp, TangentOp, OwnOp)
        return [op for op in self.ops if op in needed and not isinstance(op.opview, skipped) and not is_constant(op)]

    def _gradient(self, value: ir.Value | None, values: dict[ir.Value, ir.Value]) -> ir.Value:
        if value is not None:
            return values[value]
        return constant_none()

    def _border(self, owned: Sequence[ir.Type]) -> None:
        """Declares `@apply`: to its caller one differentiable function, of which autograd sees nothing else."""
        with ir.InsertionPoint(self.joint):
            border = func.FuncOp(
                "apply", ir.FunctionType.get([each.type for each in self.arguments], list(owned)), visibility="private"
            )
        border.attributes[FORWARD] = ir.FlatSymbolRefAttr.get("forward")
        if ONCE in self.joint.attributes:
            border.attributes[ONCE] = self.joint.attributes[ONCE]
        border.attributes[BACKWARD] = ir.FlatSymbolRefAttr.get("backward")
        facts = [ir.DictAttr(each) for each in self._argument_attributes()]
        watched = [{WATCHED: each[WATCHED]} if WATCHED in each else {} for each in facts]
        if any(watched):
            for argument, versions in self._moves().items():
                moved = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), versions)
                watched[self.arguments.index(argument)] |= {VERSIONS: moved} if versions else {}
            border.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in watched])

    def _argument_attributes(self) -> ir.ArrayAttr:
        found = self.joint.attributes.get("arg_attrs")
        return ir.ArrayAttr(found) if found is not None else ir.ArrayAttr.get([])

    def _call(self, owned: Sequence[ir.Type], trained: bool) -> None:
        with ir.InsertionPoint.at_block_begin(self.joint.operation.block):
            call = func.FuncOp("call", ir.TypeAttr(self.joint.attributes["function_type"]).value)
        facts = [{each.name: each.attr for each in ir.DictAttr(of)} for of in self._argument_attributes()]
        if facts:
            kept = [{name: fact for name, fact in each.items() if name != WATCHED} for each in facts]
            call.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in kept])
        for name in (ARGUMENTS, RESULTS):
            if name in self.joint.attributes:
                call.attributes[name] = self.joint.attributes[name]
        values = self._enter(call)
        with ir.InsertionPoint(call.body.blocks[0]):
            for op in self.ops:
                if isinstance(op.opview, func.CallOp):
                    with op.location:
                        clone(op, values)
            passed = [self._passed(index, values[argument], trained) for index, argument in enumerate(self.arguments)]
            results = func.CallOp(list(owned), "apply" if trained else "forward", passed).results
            values.update(zip([*(op.results[0] for op in self.owns), *self.written], results, strict=True))
            for op in self.observed:
                with op.location:
                    clone(op, values)
            with self.ops[-1].location:
                clone(self.ops[-1], values)

    def _passed(self, index: int, argument: ir.Value, trained: bool) -> ir.Value:
        """Autograd must not traverse an input to which the graph contributes no gradient."""
        has_gradient = self.arguments[index] in self.differentiated
        requires_grad = has_argument_attribute(self.joint, index, "dovetail.requires_grad")
        return detach(argument).detached if trained and requires_grad and not has_gradient else argument

    def _enter(self, function_op: func.FuncOp) -> dict[ir.Value, ir.Value]:
        return dict(zip(self.arguments, function_op.add_entry_block().arguments, strict=True))


def _is_computed(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block)


def _clone_untagged(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    cloned = clone(op, values)
    if RECOMPUTE in cloned.attributes:
        del cloned.attributes[RECOMPUTE]
