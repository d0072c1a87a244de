"""One eager run of a graph on tensors without memory, and where every tensor in it comes from.

What the user would observe of a call (who is whose view, who was written, what autograd saw of it) is read from this
run, never from what tracing makes of the graph.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass_type as is_wrapper_type
from torch.utils._pytree import tree_leaves

from dovetail.dialects.subclasses import Convention
from dovetail.errors import UnsupportedError
from dovetail.frontend.alias_groups import memory, root, share_elements
from dovetail.frontend.records import ViewStep
from dovetail.frontend.source_lines import source_line
from dovetail.frontend.stand_ins import stand_ins
from dovetail.frontend.subclass_results import Returned, count_versions, flatten_results
from dovetail.frontend.subclasses import Arguments, plain_tensors, rebuilt
from dovetail.frontend.transforms import unwrapped
from dovetail.frontend.view_chains import Key, ViewCall, chain_of_calls, key
from dovetail.frontend.watched import reachable


@dataclass(frozen=True)
class Origin:
    """Where a tensor was first seen: result number `index` of the graph's node `node`, or that tensor's base."""

    node: str
    index: int
    is_base: bool


@dataclass
class EagerRun:
    """The run's tensors and their history; every tensor is kept, so that identities stay valid.

    Attributes:
        arguments, results: in the graph's order; `before` is the arguments' memory, its bytes, their sizes, strides and
            offsets before the run, `versions` by how much their counters moved.
        parents: for a tensor, by identity, the one that it is a view of, and the steps between.
        origins: where tensors were first seen.
        written: the arguments that an in-place op was called on, directly or through views; `tracked` those of them
            where autograd recorded it; `memories` all memory that was written.
        reshaped: how often each argument was given other sizes or strides in place.
        barriers: tensors that a custom autograd function returned.
        once: why the traced operations can't be differentiated twice.
        convention: the wrapper subclasses around arguments and results.
        history: the nodes of autograd's graph that were there before.
    """

    mode: FakeTensorMode
    arguments: list
    before: list
    results: list = field(default_factory=list)
    memories: set[int] = field(default_factory=set)
    parents: dict[int, tuple[torch.Tensor, tuple[ViewStep, ...]]] = field(default_factory=dict)
    origins: dict[int, Origin] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    tracked: set[int] = field(default_factory=set)
    versions: list[int] = field(default_factory=list)
    reshaped: Counter[int] = field(default_factory=Counter)
    barriers: set[int] = field(default_factory=set)
    once: list[str] = field(default_factory=list)
    kept: list = field(default_factory=list)
    grad_mode: bool | None = None
    convention: Convention = field(default_factory=lambda: Convention((), ()))
    history: set[torch.autograd.graph.Node] = field(default_factory=set)

    def path(self, tensor: torch.Tensor) -> tuple[torch.Tensor, tuple[ViewStep, ...]]:
        """The argument or first tensor that `tensor` is a view of, through any number of views, and the steps."""
        chain: tuple[ViewStep, ...] = ()
        arguments = {id(each) for each in self.arguments}
        while id(tensor) in self.parents and id(tensor) not in arguments:
            tensor, steps = self.parents[id(tensor)]
            chain = (*steps, *chain)
        return tensor, chain


def eager_run(gm: torch.fx.GraphModule, inputs: Arguments) -> EagerRun:
    """Runs `gm` on stand-ins for `inputs` that share memory as they do; computes nothing, draws no random numbers."""
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    arguments = stand_ins(mode, inputs.values)
    run = EagerRun(mode, arguments, [_state(each) for each in arguments])
    run.history = reachable(arguments)
    before = [version(each) for each in arguments]
    ambient = torch.is_grad_enabled()
    calls = _Calls()
    with mode, calls, torch.set_grad_enabled(ambient):
        given = rebuilt(inputs.passed, arguments)
        results = tree_leaves(_Recorder(gm, run, calls, ambient).run(*given), is_leaf=lambda each: each is None)
        run.grad_mode = None if torch.is_grad_enabled() == ambient else not ambient
        passed = count_versions(inputs, arguments, given, run.memories, run.tracked)
        returned = flatten_results(results, given)
    _note_aliases(run, gm.graph.output_node(), returned)
    run.results, run.convention = returned.values, Convention(passed, returned.entries)
    run.versions = [version(each) - old for each, old in zip(arguments, before, strict=True)]
    return run


def _note_aliases(run: EagerRun, output: torch.fx.Node, returned: Returned) -> None:
    """Parts of differentiable wrappers have their gradient from them, not from what they are views of."""
    for place, alias, part in returned.aliases:
        run.origins[id(alias)] = Origin(output.name, place, False)
        run.parents[id(alias)] = part, ()
        run.barriers.add(id(alias))


def version(value) -> int:
    """A tensor's version counter; 0 for what has none."""
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else 0


def _state(value) -> tuple | None:
    if not isinstance(value, torch.Tensor):
        return None
    return memory(value), value.untyped_storage().nbytes(), value.size(), value.stride(), value.storage_offset()


# Ops that write arguments without saying so, if the argument `flag` is true: its name, and theirs.
_UNMARKED_WRITES = {
    torch.ops.aten.native_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.cudnn_batch_norm.default: ("training", ("running_mean", "running_var")),
    torch.ops.aten.miopen_batch_norm.default: ("training", ("running_mean", "running_var")),
}


_NOT_INVERTIBLE = ("aten.unfold.default", "aten.expand.default")


class _Calls(TorchDispatchMode):
    """Notes which views were made, and which tensors written or given other sizes, since it was last cleared."""

    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self.views: list[ViewCall] = []
        self.written: list[torch.Tensor] = []
        self.reshaped: list[torch.Tensor] = []

    def clear(self) -> None:
        self.views, self.written, self.reshaped = [], [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(map(is_wrapper_type, types)):
            return NotImplemented  # what it does to the tensors inside comes here again
        schema = func._schema.arguments if isinstance(func, torch._ops.OpOverload) else ()
        reshapes = isinstance(func, torch._ops.OpOverload) and torch.Tag.inplace_view in func.tags
        given = {argument.name: value for argument, value in zip(schema, args, strict=False)} | (kwargs or {})
        flag, unmarked = _UNMARKED_WRITES.get(func, ("", ()))
        unmarked = unmarked if given.get(flag) else ()
        for argument in schema:
            is_written = argument.name in unmarked or (argument.alias_info is not None and argument.alias_info.is_write)
            for each in tree_leaves(given.get(argument.name)) if is_written else ():
                if isinstance(each, torch.Tensor):
                    (self.reshaped if reshapes else self.written).append(each)
        _check_overlaps(func, given, schema)
        source = key(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        result = func(*args, **(kwargs or {}))
        if source is not None and schema and schema[0].alias_info is not None and not schema[0].alias_info.is_write:
            parts = result if isinstance(result, list | tuple) else [result]
            self.views += [
                ViewCall(func, source, key(part), (*args[1:], *(kwargs or {}).values()), index)
                for index, part in zip(range(len(parts)) if parts is result else [-1], parts, strict=True)
                if isinstance(part, torch.Tensor)
            ]
        return result


def _check_overlaps(func, given: dict, schema: Sequence) -> None:
    """Raises where an op reads memory that it writes, but not in place: eager refuses most such ops."""
    tensors = [
        (argument.alias_info is not None and argument.alias_info.is_write, each)
        for argument in schema
        for each in tree_leaves(given.get(argument.name))
        if isinstance(each, torch.Tensor)
    ]
    for is_written, target in tensors:
        for _, other in tensors if is_written else ():
            differs = memory(other) == memory(target) and key(other)[1:] != key(target)[1:]
            if differs and share_elements(target, other):
                raise UnsupportedError(f"{func} reads a part of what it writes")


def _check_as_strided(node: torch.fx.Node, given: list) -> None:
    """Raises where memory is addressed by its place in the storage and values don't lie there in order."""
    if given and getattr(node.target, "__name__", str(node.target)).startswith("as_strided"):
        tensor = given[0]
        is_whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.itemsize
        if not (tensor.is_contiguous() and is_whole):
            raise UnsupportedError(
                f"{source_line(node)}: as_strided of a tensor that is not all of its memory in order"
            )


class _Recorder(torch.fx.Interpreter):
    """Runs the graph and notes, node by node, what became of its tensors."""

    def __init__(self, gm: torch.fx.GraphModule, run: EagerRun, calls: _Calls, ambient: bool):
        super().__init__(gm, garbage_collect_values=False)
        self.run_facts, self.calls, self.ambient = run, calls, ambient
        self.known = {id(each) for each in run.arguments}

    def run_node(self, node: torch.fx.Node):
        if node.op in ("placeholder", "output"):
            return super().run_node(node)
        given = [unwrapped(each) for each in plain_tensors(tree_leaves(self.fetch_args_kwargs_from_env(node)))]
        before = [(version(each), key(each)) for each in given]
        grad_mode = torch.is_grad_enabled()
        self.calls.clear()
        _check_as_strided(node, given)
        result = super().run_node(node)
        returned = [unwrapped(each) for each in plain_tensors(tree_leaves(result))]
        self.run_facts.kept.append((result, returned))
        self._note_constants(node, given, returned)
        self._note_writes(node, given, [old for old, _ in before], returned, grad_mode)
        keys = [each for _, each in before]
        mode = None if grad_mode == self.ambient else grad_mode
        for index, tensor in enumerate(returned):
            if id(tensor) not in self.known:
                self.known.add(id(tensor))
                self._note_origin(node, index, tensor, list(zip(given, keys, strict=True)), mode)
        return result

    def _note_constants(self, node: torch.fx.Node, given: list, returned: list) -> None:
        """What a second differentiation of the traced operations would get wrong."""
        if node.target is torch.ops.higher_order.autograd_function_apply:
            self.run_facts.once.append(f"{source_line(node)}: a custom autograd.Function has a gradient of its own")
        name = getattr(node.target, "__name__", str(node.target))
        if name.endswith("_like") or name.startswith("new_"):
            return  # only sizes and types of what they are given count
        floats = [each for each in returned if each.is_floating_point()]
        if floats and any(each.requires_grad for each in given) and not any(each.requires_grad for each in floats):
            self.run_facts.once.append(f"{source_line(node)}: autograd does not follow it")

    def _note_origin(self, node: torch.fx.Node, index: int, tensor, given: list, grad_mode: bool | None) -> None:
        run = self.run_facts
        run.origins[id(tensor)] = Origin(node.name, index, False)
        if node.target is torch.ops.higher_order.autograd_function_apply:
            run.barriers.add(id(tensor))
        for source, source_key in given:
            if memory(source) == memory(tensor):
                run.parents[id(tensor)] = source, self._steps(node, source, source_key, tensor, grad_mode)
                return
        base = tensor._base
        if base is None:
            return
        if id(base) not in self.known:
            self.known.add(id(base))
            run.kept.append(base)
            run.origins[id(base)] = Origin(node.name, index, True)
        run.parents[id(tensor)] = base, self._steps(node, base, key(base), tensor, grad_mode)

    def _steps(self, node, source, source_key: Key, tensor, grad_mode: bool | None) -> tuple[ViewStep, ...]:
        if node.target is torch._C._autograd._get_data_attr:  # type: ignore[attr-defined]  # the stubs lack it
            return (ViewStep("aten.data.default", (), grad_mode=grad_mode),)
        return chain_of_calls(self.calls.views, source_key, tensor, grad_mode)

    def _note_writes(self, node, given: list, versions: list[int], returned: list, grad_mode: bool) -> None:
        for index, argument in enumerate(self.run_facts.arguments if self.calls.reshaped else ()):
            self.run_facts.reshaped[index] += sum(each is argument for each in self.calls.reshaped)
        memories = {memory(each) for each in self.calls.written}
        self.run_facts.memories |= memories
        if not memories:
            return
        touched = [each for each in given if memory(each) in memories]
        if getattr(node.target, "__name__", "").startswith("_foreach"):
            if len({memory(each) for each in self.calls.written}) < len(self.calls.written):
                raise UnsupportedError(f"{source_line(node)}: writes the same memory more than once")
            for tensor, old in zip(given, versions, strict=True):
                # On tensors without memory these ops forget the counter.
                if memory(tensor) in memories and version(tensor) == old and not tensor.is_inference():
                    torch.autograd.graph.increment_version(tensor)
        for tensor in self._targets(node, touched, returned):
            # PyTorch's functionalization loses what lies between windows, and adds up what is written twice.
            if any(step.callee in _NOT_INVERTIBLE for step in self.run_facts.path(tensor)[1]):
                raise UnsupportedError(f"{source_line(node)}: a write through `unfold` or `expand` can't be traced")
            argument = self._argument(tensor)
            if (
                argument is None
                and not (grad_mode and tensor.requires_grad)
                and self.run_facts.path(tensor)[0].requires_grad
            ):
                self.run_facts.once.append(f"{source_line(node)}: autograd does not follow what it writes")
            if argument is not None:
                self.run_facts.written.add(argument)
                written = self.run_facts.arguments[argument]
                if grad_mode and tensor.requires_grad and root(tensor) is root(written):
                    self.run_facts.tracked.add(argument)
                elif written.requires_grad:
                    self.run_facts.once.append(f"{source_line(node)}: autograd does not follow what it writes")

    def _targets(self, node, touched: list, returned: list) -> Iterator[torch.Tensor]:
        """The tensors that an in-place op was called on: what it returns, else what it was given first, else all."""
        same = [each for each in touched if any(each is other for other in returned)]
        first = plain_tensors(tree_leaves(self.map_nodes_to_values(node.args[0], node))) if node.args else []
        firsts = [each for each in touched if any(each is other for other in first)]
        yield from same or self._declared(node) or firsts or touched

    def _declared(self, node) -> list[torch.Tensor]:
        """What a custom op writes, as its schema says: any of its arguments, lists and optional ones included."""
        if not isinstance(node.target, torch._ops.OpOverload):
            return []
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        schema = node.target._schema.arguments
        given = {argument.name: value for argument, value in zip(schema, args, strict=False)} | kwargs
        written = [each.name for each in schema if each.alias_info is not None and each.alias_info.is_write]
        return [each for name in written for each in plain_tensors(tree_leaves(given.get(name)))]

    def _argument(self, tensor: torch.Tensor) -> int | None:
        root, _ = self.run_facts.path(tensor)
        return next((index for index, each in enumerate(self.run_facts.arguments) if each is root), None)
