"""`dovetail.explain`: each fact of the explanation against a small program, and that the call leaves no trace."""

import gc
from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import dropout, gelu
from torch.testing._internal.two_tensor import TwoTensor
from torch_mlir import ir

import dovetail
from dovetail.compiler import compile_graph
from dovetail.dialects.context import make_context
from dovetail.errors import UnsupportedError
from dovetail.explanation.program import read_program
from dovetail.explanation.records import CallCheck, Eager, MetadataChange, Program, Sharing
from dovetail.options import Options

pytestmark = pytest.mark.usefixtures("op_by_op")


def vector() -> torch.Tensor:
    return torch.arange(4.0)


def trained() -> torch.Tensor:
    return torch.arange(4.0, requires_grad=True)


def computed() -> torch.Tensor:
    return trained() * 2


def shifted_views() -> tuple[torch.Tensor, torch.Tensor]:
    base = torch.arange(8.0)
    return base[1:5], base[3:7]


def detached_views() -> tuple[torch.Tensor, ...]:
    base = torch.arange(8.0)
    others = (torch.empty(0).set_(base.untyped_storage(), offset, (4,), (1,)) for offset in (1, 0))
    return tuple(others)


def add_one(x):
    x.add_(1)


def add_then_scale(x):
    x.add_(1).mul_(3)


def write_reversed(x):
    x.copy_(x.flip(0))


def write_hidden(x):
    x.data.mul_(2)


def add_first_to_second(x, y):
    x.add_(1)
    return x * y


def product(x, w):
    return x * w


def ignore_second(x, w):
    return x * 2, w.detach()


def two_results(x):
    y = x + 1
    return y, y


def view_of_result(x):
    y = x + 1
    return y[1:], y


def views_of_hidden(x):
    y = x + 1
    return y[1:], y.view(2, 2)


def parts(x):
    return torch.split(x, 2)[1]


def gelu_of_product(x, w):
    return gelu(x * w)


def dropped_out(x):
    return torch.nn.functional.dropout(x).exp()


def times_constant(x):
    return (x * x.detach()).exp()


def square(x):
    return x @ x


def without_grad(x):
    torch.set_grad_enabled(False)
    return x * 2


def line(fn: Callable, number: int) -> str:
    """Line `number` of `fn`, its `def` being 0, as explanations show it."""
    return f"test_explain.py:{fn.__code__.co_firstlineno + number}"


class Scaled(torch.nn.Module):
    """Counts its calls in a buffer and multiplies by a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        self.mean.mul_(0.9).add_(x)
        return self.weight * x


def mutation(program: Program):
    found = program.inputs[0].mutations[0]
    return found.mode, found.versions, found.proof, found.line


def alias(index: int) -> Callable[[Program], tuple]:
    def read(program: Program) -> tuple:
        found = program.outputs[index]
        return found.origin, found.of, found.views, found.differentiable

    return read


# name: (function or module, arguments, what is read of the one program, what it is)
FACTS: dict[str, tuple] = {
    "written in place": (add_one, (vector(),), mutation, ("no_grad", 1, "pointwise", line(add_one, 1))),
    "written twice": (add_then_scale, (vector(),), mutation, ("no_grad", 2, "pointwise", line(add_then_scale, 1))),
    "written behind autograd": (write_hidden, (vector(),), mutation, ("hidden", 0, "pointwise", line(write_hidden, 1))),
    "written with gradients": (add_one, (computed(),), mutation, ("tracked", 1, "", line(add_one, 1))),
    "why copied, with gradients": (
        add_one,
        (computed(),),
        lambda program: program.inputs[0].mutations[0].reason,
        "autograd follows the write",
    ),
    "why copied, reversed": (
        write_reversed,
        (vector(),),
        lambda program: program.inputs[0].mutations[0].reason,
        "its new value is not computed element by element",
    ),
    "shares memory": (
        add_first_to_second,
        shifted_views(),
        lambda program: [each.sharing for each in program.inputs],
        [(Sharing("y", 8, "views of one tensor"),), (Sharing("x", -8, "views of one tensor"),)],
    ),
    "shares storage": (
        add_first_to_second,
        detached_views(),
        lambda program: program.inputs[0].sharing,
        (Sharing("y", -4, "one storage"),),
    ),
    "shares nothing": (
        add_first_to_second,
        (vector(), vector()),
        lambda program: [each.sharing for each in program.inputs],
        [(), ()],
    ),
    "gradient computed": (
        product,
        (trained(), vector()),
        lambda program: [each.gradient for each in program.inputs],
        ["computed", "not needed"],
    ),
    "gradient of an unused input": (
        ignore_second,
        (trained(), trained()),
        lambda program: [each.gradient for each in program.inputs],
        ["computed", "detached"],
    ),
    "no backward": (without_grad, (trained(),), lambda program: program.inputs[0].gradient, "no backward"),
    "names of a module's state": (
        Scaled(),
        (vector(),),
        lambda program: {each.name: each.static for each in program.inputs},
        {"self.mean": True, "x": False, "self.weight": True},
    ),
    "mutated buffer": (
        Scaled(),
        (vector(),),
        lambda program: {each.name: len(each.mutations) for each in program.inputs},
        {"self.mean": 1, "x": 0, "self.weight": 0},
    ),
    "strides": (square, (torch.ones(2, 2).t(),), lambda program: program.inputs[0].tensor.strides, (1, 2)),
    "fresh": (product, (trained(), vector()), alias(0), ("fresh", "", (), True)),
    "fresh, without gradient": (product, (vector(), vector()), alias(0), ("fresh", "", (), False)),
    "line of a result": (product, (vector(), vector()), lambda p: p.outputs[0].line, line(product, 1)),
    "view of an input": (lambda x: x[1:], (vector(),), alias(0), ("input", "x", ("slice.Tensor(0, 1, end)",), None)),
    "part of an input": (parts, (vector(),), alias(0), ("input", "x", ("split.Tensor(2)[1]",), None)),
    "view of a later result": (
        view_of_result,
        (trained(),),
        alias(0),
        ("result", "1", ("slice.Tensor(0, 1, end)",), True),
    ),
    "view of an intermediate": (views_of_hidden, (trained(),), alias(1), ("hidden", "0", ("view([2, 2])",), True)),
    "copy of an input": (lambda x: x.clone(), (vector(),), lambda p: p.outputs[0].copied, "input x"),
    "copy of the second input": (
        lambda x, y: (x @ x, y.clone()),
        (torch.ones(2, 2), vector()),
        lambda p: p.outputs[1].copied,
        "input y",
    ),
    "copy for strides": (
        lambda x: x.t() + 1,
        (torch.ones(2, 3),),
        lambda p: p.outputs[0].copied,
        "the region's row-major result, for eager's strides",
    ),
    "saved inputs": (
        product,
        (trained(), trained()),
        lambda program: [(each.value, each.nbytes, each.private, each.static) for each in program.saved],
        [("input x", 16, False, False), ("input w", 16, False, False)],
    ),
    "saved parameter": (
        product,
        (trained(), torch.nn.Parameter(vector())),
        lambda program: [each.static for each in program.saved],
        [False, True],
    ),
    "saved result": (
        torch.exp,
        (trained(),),
        lambda program: [(each.value, each.private) for each in program.saved],
        [("result 0", False)],
    ),
    "private": (
        lambda x: torch.relu(x + 1),
        (trained(),),
        lambda program: [(each.value, each.nbytes, each.private) for each in program.saved],
        [("aten.le.Scalar", 4, True)],
    ),
    "taken by a replay": (
        dropped_out,
        (trained(),),
        lambda program: [(each.value, each.for_replay) for each in program.saved],
        [("aten.native_dropout", True), ("result 0", True)],
    ),
    "not taken by a replay": (
        lambda x: torch.linalg.svdvals(x),
        (torch.eye(2, requires_grad=True),),
        lambda program: [(each.value, each.for_replay) for each in program.saved],
        [("aten._linalg_svd", False)] * 2,
    ),
    "differentiated again": (product, (trained(), trained()), lambda program: program.once, ""),
    "differentiated once": (
        times_constant,
        (trained(),),
        lambda program: program.once.rpartition(": ")[2],
        "autograd does not follow it",
    ),
    "computed anew": (
        gelu_of_product,
        (trained(), trained()),
        lambda program: [each.line for each in program.recomputed if each.name == "aten.erf"],
        [line(gelu_of_product, 1)],
    ),
    "nothing computed anew": (product, (trained(), trained()), lambda program: program.recomputed, ()),
    "region": (
        product,
        (vector(), vector()),
        lambda program: [(region.name, region.ops, region.names, region.lines) for region in program.regions],
        [("forward_region_0", 1, ("aten.mul.Tensor",), (line(product, 1),))],
    ),
    "library call": (
        square,
        (torch.ones(2, 2),),
        lambda p: [(each.name, each.reason, each.is_fallback, each.line) for each in p.library_calls],
        [("aten.mm", "library kernel: contraction", False, line(square, 1))],
    ),
    "fallback": (
        torch.sinh,
        (vector(),),
        lambda p: [(each.name, each.is_fallback) for each in p.library_calls],
        [("aten.sinh", True)],
    ),
    "guard": (
        add_first_to_second,
        (vector(), vector()),
        lambda program: program.guard,
        CallCheck(("x",), ("y",), (), ()),
    ),
    "guard of a group": (
        add_first_to_second,
        shifted_views(),
        lambda program: program.guard.shared,
        (("x", "y"),),
    ),
    "no guard": (product, (vector(), vector()), lambda program: program.guard, None),
    "offset": (
        lambda x: torch.as_strided(x, (2,), (2,)),
        (vector(),),
        lambda program: program.guard.offsets,
        (("x", 0),),
    ),
    "grad mode": (without_grad, (vector(),), lambda program: program.grad_mode, False),
    "nothing ends the graph": (product, (vector(), vector()), lambda program: program.ends, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_fact(name: str):
    """Would catch a fact that is read off the wrong op, argument or result, or not at all."""
    fn, arguments, read, expected = FACTS[name]
    (program,) = dovetail.explain(fn, *arguments).graphs
    assert isinstance(program, Program)
    assert read(program) == expected


def explained(fn: Callable, *arguments) -> Program:
    """The program that `fn` becomes without Dynamo, which keeps some facts to itself."""
    outcomes: list = []
    compile_graph(torch.fx.symbolic_trace(fn), arguments, Options(), outcomes.append)
    return read_program(outcomes[0])


def test_metadata_change_is_read():
    """Would catch `x.t_()` shown as no mutation, or with the sizes that it had before."""
    (given,) = explained(lambda x: (x.t_(),), torch.ones(2, 3)).inputs
    assert given.metadata == MetadataChange((3, 2), (1, 3), 0, 1)
    assert (given.mutations, given.versions) == ((), 1)


def test_result_that_is_an_input_or_another_result():
    """Would catch an object that comes back as itself shown as fresh memory, or as a view."""
    program = explained(lambda x: (x, x + 1) * 2, vector())
    assert [alias(index)(program)[:3] for index in range(4)] == [
        ("input", "x", ()),
        ("fresh", "", ()),
        ("input", "x", ()),
        ("result", "1", ()),
    ]


def test_constant_result():
    """Would catch a number among the results read as a tensor."""
    program = explained(lambda x: (x + 1, 3, None), vector())
    assert [(output.origin, output.of, output.tensor) for output in program.outputs[1:]] == [
        ("constant", "3", None),
        ("constant", "None", None),
    ]


def with_break(x, y):
    x.mul_(2)
    print("between")
    return y + x


def test_graph_break(capsys: pytest.CaptureFixture[str]):
    """Would catch an explanation of the first graph only, or one that hides where and why it ends."""
    explanation = dovetail.explain(with_break, vector(), vector())
    first, second = explanation.graphs
    assert [each.name for each in first.inputs] == ["x"]
    assert [each.name for each in second.inputs] == ["y", "x"]
    assert first.ends.startswith(f"{line(with_break, 2)}: ")
    assert second.ends == ""
    assert capsys.readouterr().out == "between\n", "explain leaves it to the caller to print"
    assert f"graph 0: forward only; ends at {line(with_break, 2)}" in str(explanation)


def with_eager_graph(x, y):
    torch.ops.aten.resize_(x, [8])
    print("between")
    return y * 2


def test_eager_graph():
    """Would catch a graph that can't be compiled ending the explanation, or shown without its reason."""
    x = vector()
    first, second = dovetail.explain(with_eager_graph, x, vector()).graphs
    assert isinstance(first, Eager)
    assert "resizing" in first.reason
    assert first.ends.startswith(line(with_eager_graph, 1).split(":")[0])
    assert isinstance(second, Program)
    assert x.shape == (4,)


def test_no_graph():
    """Would catch a function without tensors explained by nothing at all."""
    assert str(dovetail.explain(lambda: 3)) == "no graph: Dynamo found nothing to compile"


def test_aliased_arguments_change_together():
    """Would catch copies that don't share memory: the branch after the graph break would be the wrong one."""

    def fn(x, y):
        x.add_(1)
        if y.sum() > 1:
            return y * 2
        return torch.tanh(y)

    base = torch.zeros(4)
    *_, last = dovetail.explain(fn, base[:3], base[1:]).graphs
    assert not [each for each in last.library_calls if each.name == "aten.tanh"]
    assert base.sum() == 0


STATE = torch.zeros(4)


def write_global(x):
    STATE.add_(x)
    return STATE * 2


def write_closure() -> Callable:
    held = torch.zeros(4)

    def fn(x):
        held.add_(x)
        return held

    fn.held = held
    return fn


def trace_of(tensor: torch.Tensor) -> tuple:
    gradient = None if not tensor.is_leaf or tensor.grad is None else tensor.grad.tolist()
    return tensor.tolist(), tensor._version, tensor.shape, gradient, tensor.grad_fn is None


def leaves_no_trace(fn: Callable, arguments: tuple, others: tuple = ()) -> None:
    tensors = [each for each in (*arguments, *others) if type(each) in (torch.Tensor, torch.nn.Parameter)]
    tensors += [tensor._base for tensor in tensors if tensor._base is not None]
    before = [trace_of(tensor) for tensor in tensors]
    random, grad_mode = torch.get_rng_state(), torch.is_grad_enabled()
    explanation = dovetail.explain(fn, *arguments)
    assert explanation.graphs
    assert [trace_of(each) for each in tensors] == before
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.is_grad_enabled() == grad_mode


@pytest.mark.parametrize(
    ("fn", "make"),
    [
        (add_one, lambda: (vector(),)),
        (add_one, lambda: (computed(),)),
        (add_one, lambda: (computed()[1:],)),
        (add_first_to_second, shifted_views),
        (add_first_to_second, detached_views),
        (with_break, lambda: (vector(), vector())),
        (with_eager_graph, lambda: (vector(), vector())),
        (without_grad, lambda: (trained(),)),
        (dropout, lambda: (vector(),)),
        (lambda x: x.data.mul_(2), lambda: (trained(),)),
    ],
    ids=["leaf", "computed", "view", "views", "storage", "break", "eager", "grad mode", "random", "data"],
)
def test_arguments_stay(fn: Callable, make: Callable):
    """Would catch a call of the user's function on the user's own tensors."""
    leaves_no_trace(fn, make())


def test_module_stays():
    """Would catch a module, or a method's object, that was written, for want of a copy."""
    module = Scaled()
    leaves_no_trace(module, (vector(),), (module.weight, module.mean))
    leaves_no_trace(module.forward, (vector(),), (module.weight, module.mean))


def test_state_stays(all_tensors):
    """Would catch a global or a closure that was written, for want of a copy, or since the garbage collector was told
    to pass over it."""
    closure = write_closure()
    leaves_no_trace(closure, (torch.ones(4),), (closure.held,))
    gc.freeze()
    leaves_no_trace(write_global, (torch.ones(4),), (STATE,))


def test_tensor_of_a_transform_that_is_over(all_tensors):
    """Would catch an explanation that ends at a tensor, somewhere in the process, that nobody can read any more."""
    kept = []
    torch.func.grad(lambda x: kept.append(x) or x.sum())(vector())
    assert dovetail.explain(add_one, vector()).graphs
    assert torch._C._functorch.is_functorch_wrapped_tensor(kept[0])


def test_tensor_of_a_batch_that_is_over(all_tensors):
    """Would catch an explanation that ends at a gradient of `is_grads_batched=True` that somebody keeps."""
    kept = []

    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            kept.append(gradient)
            return gradient * 2

    x = vector().requires_grad_()
    torch.autograd.grad(Keeping.apply(x), x, torch.ones(2, *x.shape), is_grads_batched=True)
    assert dovetail.explain(add_one, vector()).graphs
    assert torch._C._functorch.is_legacy_batchedtensor(kept[0])


def test_wrapper_subclass_stays():
    """Would catch a copy of a wrapper around the user's own tensors."""
    inside = vector(), vector()
    leaves_no_trace(add_one, (TwoTensor(*inside),), inside)


def test_optimizer_stays(all_tensors):
    """Would catch parameters that Dynamo stores in the graph being stepped; they are no inputs of it."""
    weight = torch.nn.Parameter(vector())
    weight.grad = torch.ones(4)
    optimizer = torch.optim.SGD([weight], lr=0.5, momentum=0.9)
    explanation = dovetail.explain(optimizer.step)
    assert any(each.mutations for each in explanation.graphs[-1].inputs)
    assert weight.tolist() == [0, 1, 2, 3]
    assert weight.grad.tolist() == [1, 1, 1, 1]
    assert not optimizer.state


def test_explaining_does_not_count_for_recompilation():
    """Would catch explanations using up the compilations that Dynamo allows the user's own function."""
    compiled = torch.compile(product, backend="dovetail")
    with torch._dynamo.config.patch(recompile_limit=2):
        for _ in range(3):
            assert dovetail.explain(product, vector(), vector()).graphs
        before = dovetail.stats().graphs
        assert torch.equal(compiled(vector(), vector()), product(vector(), vector()))
    assert dovetail.stats().graphs == before + 1


def test_compiled_already():
    """Would catch the user's compiled function or module run as it is, which explains nothing."""
    for fn in (Scaled(), product):
        arguments = [vector()] * (1 if isinstance(fn, torch.nn.Module) else 2)
        compiled = torch.compile(fn, backend="dovetail")
        compiled(*arguments)
        assert str(dovetail.explain(compiled, *arguments)) == str(dovetail.explain(fn, *arguments))


def test_what_can_not_be_copied_is_refused():
    """Would catch running on the user's own object where Python has no copy of it."""
    with pytest.raises(UnsupportedError, match="can't be copied: cannot pickle 'generator' object"):
        dovetail.explain(lambda x: x, (each for each in ()))


def test_name_stays_a_function():
    """Would catch a module of that name taking the function's place once it is imported."""
    dovetail.explain(product, vector(), vector())
    assert callable(dovetail.explain)
    assert repr(dovetail.explain(product, vector(), vector())) == "<Explanation: 1 graph>"


def test_ir_is_kept():
    """Would catch an explanation whose module can't be parsed any more, on which a page of pictures builds."""
    (program,) = dovetail.explain(product, trained(), vector()).graphs
    with make_context():
        again = read_program(ir.Module.parse(program.ir))
    assert again.inputs == program.inputs
    assert again.saved[0].nbytes == program.saved[0].nbytes
