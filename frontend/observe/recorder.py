"""The interpreter that notes, node by node, what becomes of the tensors of an eager run."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain

import torch
from torch._ops import HigherOrderOperator
from torch.utils._pytree import tree_leaves

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.checkpoint_regions import Region, region_of
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import memory, root
from dovetail.frontend.observe.dispatch_log import Calls
from dovetail.frontend.observe.recomputation import Recomputation
from dovetail.frontend.observe.run_facts import EagerRun, Origin, version
from dovetail.frontend.observe.slice_updates import saved_by_update
from dovetail.frontend.observe.transforms import unwrapped
from dovetail.frontend.observe.unseen_graphs import check_unseen
from dovetail.frontend.observe.view_chains import Key, chain_of_calls, key
from dovetail.frontend.observe.wrapped_arguments import plain_tensors
from dovetail.frontend.records import ViewStep


def _name(node: torch.fx.Node) -> str:
    return getattr(node.target, "__name__", str(node.target))


class Recorder(torch.fx.Interpreter):
    """Runs the graph and notes, node by node, what became of its tensors."""

    def __init__(self, gm: torch.fx.GraphModule, run: EagerRun, calls: Calls, ambient: bool):
        super().__init__(gm, garbage_collect_values=False)
        self.run_facts, self.calls, self.ambient = run, calls, ambient
        self.known = {id(each) for each in run.arguments}
        self.recomputed: Recomputation | None = None

    def run_node(self, node: torch.fx.Node):
        if region_of(node) != (self.recomputed and self.recomputed.region):
            self._enter(region_of(node))
        if node.op in ("placeholder", "output"):
            return super().run_node(node)
        given = [unwrapped(each) for each in plain_tensors(tree_leaves(self.fetch_args_kwargs_from_env(node)))]
        before = [(version(each), key(each)) for each in given]
        required_grad = {id(each) for each in given if each.requires_grad}
        grad_mode = torch.is_grad_enabled()
        self.calls.begin(node)
        self.calls.addresses_storage |= check_unseen(node, self.fetch_args_kwargs_from_env(node)[0])
        with nullcontext() if self.recomputed is None else self.recomputed.hooks():
            result = super().run_node(node)
        returned = [unwrapped(each) for each in plain_tensors(tree_leaves(result))]
        self.run_facts.kept.append((result, returned))
        self.run_facts.memories_of[node.name] = tuple(map(memory, returned))
        for name, strides in self.calls.layouts:
            self.run_facts.operands.setdefault((node.name, name), []).append(strides)
        self._note_constants(node, given, returned)
        self._note_writes(node, given, [old for old, _ in before], returned, grad_mode, required_grad)
        keys = [each for _, each in before]
        mode = None if grad_mode == self.ambient else grad_mode
        for index, tensor in enumerate(returned):
            if id(tensor) not in self.known:
                self.known.add(id(tensor))
                self._note_origin(node, index, tensor, list(zip(given, keys, strict=True)), mode)
        return result

    def _enter(self, region: Region | None) -> None:
        """Follows the run into a checkpointed region, or out of one."""
        if self.recomputed is not None:
            self.recomputed.check()
        run = self.run_facts
        arguments = (memory(each) for each in run.arguments if isinstance(each, torch.Tensor))
        outside = (*arguments, *chain.from_iterable(run.memories_of.values()))
        self.recomputed = None if region is None else Recomputation(region, outside)

    def _note_constants(self, node: torch.fx.Node, given: list, returned: list) -> None:
        """What a second differentiation of the traced operations would get wrong."""
        if node.target is torch.ops.higher_order.autograd_function_apply:
            self.run_facts.once.append(f"{source_line(node)}: a custom autograd.Function has a gradient of its own")
        name = _name(node)
        if name.endswith("_like") or name.startswith("new_"):
            return  # only sizes and types of what they are given count
        floats = [each for each in returned if each.is_floating_point()]
        if floats and any(each.requires_grad for each in given) and not any(each.requires_grad for each in floats):
            self.run_facts.once.append(f"{source_line(node)}: autograd does not follow it")

    def _note_origin(self, node: torch.fx.Node, index: int, tensor, given: list, grad_mode: bool | None) -> None:
        run = self.run_facts
        run.origins[id(tensor)], run.born[id(tensor)] = Origin(node.name, index, False), version(tensor)
        if node.target is torch.ops.higher_order.autograd_function_apply:
            run.barriers.add(id(tensor))
        for source, source_key in given:
            if memory(source) == memory(tensor):
                run.parents[id(tensor)] = source, self._steps(node, source, source_key, tensor, index, grad_mode)
                return
        base = tensor._base
        if base is None:
            return
        if id(base) not in self.known:
            self.known.add(id(base))
            run.kept.append(base)
            run.origins[id(base)] = Origin(node.name, index, True)
        run.parents[id(tensor)] = base, self._steps(node, base, key(base), tensor, index, grad_mode)

    def _steps(self, node, source, source_key: Key, tensor, place: int, mode: bool | None) -> tuple[ViewStep, ...]:
        if node.target is torch._C._autograd._get_data_attr:  # type: ignore[attr-defined]  # the stubs lack it
            return (ViewStep("aten.data.default", (), grad_mode=mode),)
        return chain_of_calls(self.calls.views, source_key, tensor, place, mode)

    def _note_writes(
        self, node, given: list, versions: list[int], returned: list, grad_mode: bool, required_grad: set[int]
    ) -> None:
        for index, argument in enumerate(self.run_facts.arguments if self.calls.reshaped else ()):
            self.run_facts.reshaped[index] += sum(each is argument for each in self.calls.reshaped)
        memories = {memory(each) for each in self.calls.written}
        changed = memories.union(map(memory, self.calls.reshaped))
        if any(isinstance(each, torch.Tensor) and memory(each) in changed for each in self.run_facts.arguments):
            self.run_facts.last_write = self.calls.written_at, source_line(node)
        self.run_facts.memories |= memories
        if not memories:
            return
        if self.recomputed is not None:
            self.recomputed.note_writes(source_line(node), memories)
        touched = [each for each in given if memory(each) in memories]
        if getattr(node.target, "__name__", "").startswith("_foreach"):
            if len({memory(each) for each in self.calls.written}) < len(self.calls.written):
                raise UnsupportedError(f"{source_line(node)}: writes the same memory more than once")
            for tensor, old in zip(given, versions, strict=True):
                # On tensors without memory these ops forget the counter.
                if memory(tensor) in memories and version(tensor) == old and not tensor.is_inference():
                    torch.autograd.graph.increment_version(tensor)
        for tensor in self._targets(node, touched, returned):
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
            if grad_mode and self.recomputed is None:
                self._note_slice(node, tensor, id(tensor) in required_grad)

    def _note_slice(self, node: torch.fx.Node, written: torch.Tensor, required_grad: bool) -> None:
        """Notes what autograd saved where an in-place op was called on a view of a tensor that requires grad."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        is_alone = {memory(each) for each in self.calls.written} == {memory(written)}
        is_op = node.op in ("call_function", "call_method") and not isinstance(node.target, HigherOrderOperator)
        if written._base is None or not written.requires_grad or not (is_alone and is_op):
            return
        if not any(each is written for each in tree_leaves((args, kwargs))):
            return
        call = partial(getattr(self, node.op), node.target)
        saved = self.run_facts.slices.setdefault(root(written).grad_fn, [])
        saved.extend(saved_by_update(call, written, required_grad, args, kwargs))

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
