"""The caller's hooks and modes during a call that compiles: they see what the program does, not how it is made."""

import functools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import dovetail
from dovetail.frontend.unseen import unseen

pytestmark = pytest.mark.usefixtures("op_by_op")


def compiled(fn):
    torch._dynamo.reset()
    return torch.compile(fn, backend="dovetail", fullgraph=True)


def test_hooks_get_what_later_calls_give_them():
    """Catches tensors without memory that the first call alone hands to the user's hooks."""
    function = compiled(lambda x, w: (x @ w).tanh())
    x, w = (torch.rand(4, 4).requires_grad_() for _ in range(2))
    packed: list[list] = []
    for _ in range(2):
        packed.append([])
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: packed[-1].append((type(tensor).__name__, tensor.shape)) or tensor, lambda tensor: tensor
        ):
            function(x, w)
    assert packed[0] == packed[1] != []


def test_modes_see_what_they_see_in_later_calls():
    """Catches ops of the compiler's own, which a mode (profiling, selective checkpointing) would count."""

    class Counting(TorchDispatchMode):
        @classmethod
        def ignore_compile_internals(cls):
            return True

        def __init__(self):
            super().__init__()
            self.seen: Counter = Counter()

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen[func] += 1
            return func(*args, **(kwargs or {}))

    function = compiled(lambda x, w: (x @ w).tanh())
    x, w = (torch.rand(4, 4).requires_grad_() for _ in range(2))
    seen = []
    for _ in range(2):
        with Counting() as mode:
            function(x, w)
        seen.append(mode.seen)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("first", ["in hooks", "outside"])
def test_program_does_not_depend_on_hooks(first):
    """Catches a program made inside of hooks, of whose values autograd checks nothing, that is used outside of them."""
    function = compiled(lambda x, w: (x * 2).exp() * w)
    x, w = torch.rand(4).requires_grad_(), torch.rand(4).requires_grad_()
    same = functools.partial(torch.autograd.graph.saved_tensors_hooks, lambda each: each, lambda each: each)
    with same() if first == "in hooks" else nullcontext():
        function(x, w)
    result = function(x, w)
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_hooks_work_after_a_graph_that_fails():
    """Catches hooks that stay switched off for the whole process after `torch.func.grad` in a checkpointed region."""

    def fn(x):
        inner = torch.func.grad(lambda row: (row * row).sum())
        return torch.utils.checkpoint.checkpoint(lambda x: inner(x) * x, x, use_reentrant=False) + 0

    for call in (fn, compiled(fn)):
        with (
            pytest.raises(RuntimeError, match="saved tensor hooks"),
            pytest.warns() if call is not fn else nullcontext(),
        ):
            call(torch.rand(3).requires_grad_())
        assert torch._C._autograd._saved_tensors_hooks_is_enabled()
    assert dovetail.stats().eager


def test_other_threads_call_what_is_compiled_while_one_compiles(monkeypatch):
    """Catches a call that is refused since another thread traces: PyTorch notes that for all threads."""
    function, x = compiled(lambda x: x + 1), torch.ones(3)
    function(x)
    with ThreadPoolExecutor(1) as other, monkeypatch.context() as patch:
        with unseen():
            patch.setattr(torch.fx._symbolic_trace, "_is_fx_tracing_flag", True)
            assert other.submit(function, x).result(60).equal(x + 1)
            with pytest.raises(RuntimeError, match="symbolically trace"):
                function(x)
        with pytest.raises(RuntimeError, match="symbolically trace"):
            other.submit(function, x).result(60)


def test_modules_stay_as_they_are_while_a_graph_is_traced(monkeypatch):
    """Catches a trace that other threads run through when they call modules, and after which Python looks up all.

    And methods of others' that a trace needs, as `FX_PATCH_GETITEM` says of tensors.
    """
    methods = torch.nn.Module.__call__, torch.nn.Module.__getattr__
    seen = []
    run_node = torch.fx.Interpreter.run_node

    def run(self, node):
        seen.append((torch.nn.Module.__call__, torch.nn.Module.__getattr__))
        return run_node(self, node)

    with monkeypatch.context() as patch:
        patch.setattr(torch.fx.Interpreter, "run_node", run)
        compiled(lambda x, w: (x @ w).tanh())(torch.rand(2, 2), torch.rand(2, 2, requires_grad=True))
    assert set(seen) == {methods}
    patcher = torch.fx._symbolic_trace._Patcher()
    with unseen(), patcher:
        patcher.patch_method(torch.Tensor, "__getitem__", lambda *_: "patched")
        assert torch.ones(1)[0] == "patched"
    others = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU())).graph.nodes
    assert [node.op for node in others] == ["placeholder", "call_module", "output"]
