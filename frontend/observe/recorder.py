"""The interpreter that runs a graph eagerly, and notes node by node what becomes of the tensors and what is saved."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain

import torch
from torch._ops import HigherOrderOperator
from torch.utils._pytree import tree_leaves, tree_map

from dovetail.errors import UnsupportedError
from dovetail.frontend.decompose.python_kernels import with_open_sizes
from dovetail.frontend.dynamo.checkpoint_regions import region_of
from dovetail.frontend.dynamo.eager_checkpoints import apply
from dovetail.frontend.dynamo.open_sizes import rebind
from dovetail.frontend.dynamo.source_lines import deciding_at
from dovetail.frontend.observe.alias_groups import root, storage
from dovetail.frontend.observe.autograd_graph import nodes_on_the_way, reachable, saved_by, version
from dovetail.frontend.observe.dispatch_log import DispatchLog
from dovetail.frontend.observe.recomputation import Recomputation, packing
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.observe.step import Step, given_tensors
from dovetail.frontend.observe.step_facts import NOTES, refuse_repeated_writes
from dovetail.frontend.observe.transforms import unwrapped
from dovetail.frontend.observe.unseen_graphs import begin
from dovetail.frontend.observe.wrapped_arguments import plain_tensors


class Recorder(torch.fx.Interpreter):
    """Runs the graph; each node becomes a `Step`, each step adds to the facts of `run`.

    Args:
        log: what ops do meanwhile; it is active.
        ambient: autograd's mode before.
    """

    def __init__(self, gm: torch.fx.GraphModule, run: EagerRun, log: DispatchLog, ambient: bool):
        super().__init__(gm, garbage_collect_values=False)
        self.facts, self.log, self.ambient = run, log, ambient
        self.shape_env = run.mode.shape_env
        # The calls of `checkpoint` that the run is in, outermost first, and those that are over.
        self.inside: list[Recomputation] = []
        self.over: list[Recomputation] = []

    def run_node(self, node: torch.fx.Node):
        region = region_of(node)
        self._enter(() if region is None else region.calls)
        if node.op in ("placeholder", "output"):
            return super().run_node(node)
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        given, grad_mode = given_tensors(args, kwargs), torch.is_grad_enabled()
        begin(node, args, self.log, self.facts.operands)
        packed = packing(self.inside) if self.inside else nullcontext()
        with packed, deciding_at(node), with_open_sizes(node, tree_leaves((args, kwargs))):
            result = super().run_node(node)
        rebind(self.shape_env, node, result)
        self.facts.kept.append(result)
        returned = tuple(unwrapped(tensor) for tensor in plain_tensors(tree_leaves(result)))
        events = tuple(self.log.events)
        self._note(Step(node, args, kwargs, given, returned, events, grad_mode, self.ambient))
        return result

    def call_function(self, target, args, kwargs):
        # Dynamo's operator keeps to itself what the user's function saves.
        own = target is torch.ops.higher_order.autograd_function_apply
        return super().call_function(apply if own else target, args, kwargs)

    def _enter(self, calls: Sequence[int]) -> None:
        """Follows the run out of calls of `checkpoint` and into others, to be inside of `calls`, by their numbers."""
        while [call.number for call in self.inside] != [*calls[: len(self.inside)]]:
            self.facts.rereads.append(self.inside[-1].close())
            self.over.append(self.inside.pop())
        for number in calls[len(self.inside) :]:
            arguments = (storage(argument) for argument in self.facts.arguments if isinstance(argument, torch.Tensor))
            outside = (*arguments, *chain.from_iterable(self.facts.memories_of.values()))
            self.inside.append(Recomputation(number, outside))

    def _note(self, step: Step) -> None:
        if reason := refuse_repeated_writes(step):
            raise UnsupportedError(f"{step.line}: {reason}")
        _move_forgotten_counters(step)
        region = region_of(step.node)
        for call in self.inside:
            call.note(step, region is None or region.draws_alike)
        for call in self.over if step.changed else ():
            call.check_later(step)
        for note in NOTES:
            note(step, self.facts)
        for target in step.targets if step.grad_mode and not self.inside else ():
            self._note_slice(step, target)

    def _note_slice(self, step: Step, written: torch.Tensor) -> None:
        """Notes what autograd saved where an in-place op was called on a view of a tensor that requires grad."""
        node = step.node
        is_op = node.op in ("call_function", "call_method") and not isinstance(node.target, HigherOrderOperator)
        if written._base is None or not written.requires_grad or not is_op or step.written != {storage(written)}:
            return
        if not any(leaf is written for leaf in tree_leaves((step.args, step.kwargs))):
            return
        required_grad = any(operand.tensor is written and operand.requires_grad for operand in step.given)
        call = partial(getattr(self, node.op), node.target)
        saved = self.facts.slices.setdefault(root(written).grad_fn, [])
        saved.extend(saved_by_update(call, written, required_grad, step.args, step.kwargs))


def _move_forgotten_counters(step: Step) -> None:
    """On tensors without memory, `_foreach` ops forget the version counters: a move for each tensor that they write."""
    before = {id(each.tensor): each.version for each in step.given}
    written = step.targets if step.name.startswith("_foreach") and step.written else []
    for tensor in [each for each in written if version(each) == before.get(id(each))]:
        if not tensor.is_inference():
            torch.autograd.graph.increment_version(tensor)


Call = Callable[[tuple, dict], object]


def saved_by_update(
    call: Call, written: torch.Tensor, required_grad: bool, args: tuple, kwargs: dict
) -> Iterator[torch.Tensor]:
    """What the in-place op `call` on `written`, one of its arguments, saved; `required_grad` says of it before the op.

    Runs it again on a tensor of its own memory: what it saves of that, it saved of `written`.

    Raises:
        UnsupportedError: where it saved another part of what it wrote, so that eager's backward always raises.
    """
    with torch.enable_grad():
        alone = written.detach().clone()
        if required_grad:
            alone = alone.requires_grad_() * 1
    known = reachable([alone])
    call(*tree_map(lambda each: alone if each is written else each, (args, kwargs)))
    for saved in saved_by(nodes_on_the_way([alone], known)):
        if storage(saved) == storage(alone):
            yield written
        elif root(saved) is root(written):
            raise UnsupportedError("autograd saved a value that is written later: a part of what an in-place op wrote")
        else:
            yield saved
