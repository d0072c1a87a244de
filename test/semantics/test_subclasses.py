"""Wrapper subclasses in and out (I17): values, classes, identities, version counters and gradients are eager's."""

import warnings
from collections.abc import Callable

import pytest
import torch
from differential import without_dynamo
from new_process import run_python
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

import dovetail
from dovetail.errors import EagerWarning
from dovetail.runtime.subclasses import versions

pytestmark = pytest.mark.usefixtures("op_by_op")


class Scaled(torch.Tensor):
    """A float tensor with a unit, kept by every op; the unit's parts are plain Python values."""

    data_of: torch.Tensor
    unit: tuple

    @staticmethod
    def __new__(cls, data_of: torch.Tensor, unit: tuple, requires_grad: bool = False) -> "Scaled":
        wrapper = torch.Tensor._make_wrapper_subclass(
            cls,
            data_of.shape,
            strides=data_of.stride(),
            storage_offset=data_of.storage_offset(),
            dtype=data_of.dtype,
            device=data_of.device,
            requires_grad=requires_grad,
        )
        wrapper.data_of, wrapper.unit = data_of, unit
        return wrapper

    def __tensor_flatten__(self):
        return ["data_of"], {"unit": self.unit}

    @staticmethod
    def __tensor_unflatten__(tensors, context, _size, _stride):
        return Scaled(tensors["data_of"], context["unit"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        unit = next(each.unit for each in tree_leaves(args) if isinstance(each, Scaled))
        plain_args, plain_kwargs = tree_map_only(Scaled, lambda each: each.data_of, (args, kwargs or {}))
        results = tree_map_only(torch.Tensor, lambda each: Scaled(each, unit), func(*plain_args, **plain_kwargs))
        return return_and_correct_aliasing(func, args, kwargs or {}, results)


class Uneven(Scaled):
    """A wrapper whose own strides say nothing of those of the tensor inside."""

    @staticmethod
    def __new__(cls, data_of: torch.Tensor, unit: tuple, requires_grad: bool = False) -> "Uneven":
        wrapper = torch.Tensor._make_wrapper_subclass(cls, data_of.shape, dtype=data_of.dtype, device=data_of.device)
        wrapper.data_of, wrapper.unit = data_of, unit
        return wrapper

    @staticmethod
    def __tensor_unflatten__(tensors, context, _size, _stride):
        return Uneven(tensors["data_of"], context["unit"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        plain_args, plain_kwargs = tree_map_only(Uneven, lambda each: each.data_of, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda each: Uneven(each, ("m",)), func(*plain_args, **plain_kwargs))


class Revealed(Scaled):
    """Every op on it gives a plain tensor, hence its gradient is one."""

    @staticmethod
    def __tensor_unflatten__(tensors, context, _size, _stride):
        return Revealed(tensors["data_of"], context["unit"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        plain_args, plain_kwargs = tree_map_only(Revealed, lambda each: each.data_of, (args, kwargs or {}))
        result = func(*plain_args, **plain_kwargs)
        return Revealed(result, ()) if func is torch.ops.aten.detach.default else result


def compile_whole(fn: Callable) -> Callable:
    """Compiles `fn`, as one graph."""
    return torch.compile(fn, backend="dovetail", fullgraph=True)


def numbers(*size: int) -> torch.Tensor:
    """Small positive floats, other ones for each call."""
    return torch.rand(*size) + 0.5


def two(*size: int, requires_grad: bool = False) -> TwoTensor:
    return TwoTensor(numbers(*size), numbers(*size)).requires_grad_(requires_grad)


def inner(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain tensors inside, or `tensor` itself."""
    if not is_traceable_wrapper_subclass(tensor):
        return [tensor]
    return [part for name in tensor.__tensor_flatten__()[0] for part in inner(getattr(tensor, name))]


def described(tensor: torch.Tensor, known: list[torch.Tensor]) -> dict:
    """Facts that must be equal; who is who, and whose memory is whose, as positions in `known`."""
    facts = {
        "types": [type(tensor), *(type(each) for each in inner(tensor))],
        "context": tensor.__tensor_flatten__()[1] if is_traceable_wrapper_subclass(tensor) else None,
        "layout": (tensor.size(), tensor.stride(), tensor.dtype),
        "layouts": [(each.size(), each.stride(), each.dtype) for each in inner(tensor)],
        "requires_grad": [tensor.requires_grad, tensor.is_leaf, *(each.requires_grad for each in inner(tensor))],
    }
    memories = [each.untyped_storage()._cdata for other in known for each in inner(other)]
    own = [each.untyped_storage()._cdata for each in inner(tensor)]
    facts["object"] = next((index for index, each in enumerate(known) if each is tensor), None)
    facts["memory"] = [[position for position, other in enumerate(memories) if other == memory] for memory in own]
    return facts


def called(fn: Callable, arguments: list, train: bool) -> tuple[list[dict], list[torch.Tensor]]:
    """Calls `fn`; returns facts and values of results and arguments, and of gradients with `train`."""
    versions = [[each._version for each in (argument, *inner(argument))] for argument in arguments]
    results = tree_leaves(fn(*arguments))
    everything = [*arguments, *results]
    facts = [described(each, everything) for each in everything]
    facts += [
        {"moved": [each._version - old for each, old in zip((argument, *inner(argument)), before, strict=True)]}
        for argument, before in zip(arguments, versions, strict=True)
    ]
    values = [part.detach().clone() for each in everything for part in inner(each)]
    if train:
        sum((each * (index + 2)).sum() for index, each in enumerate(results) if each.requires_grad).backward()
        gradients = [argument.grad for argument in arguments if argument.is_leaf]
        facts += [{"gradient": None} if gradient is None else described(gradient, [gradient]) for gradient in gradients]
        values += [part.clone() for gradient in gradients if gradient is not None for part in inner(gradient)]
    return facts, values


def assert_same(
    fn: Callable,
    *makers: Callable[[], list],
    train: bool = False,
    message: str | None = None,
    compiler: Callable = compile_whole,
) -> None:
    """Asserts that the compiled `fn` can't be told from `fn`, in one call for each of `makers`, which make arguments.

    `message` is that of the warning that it runs eagerly, None if it must not.
    """
    torch._dynamo.reset()
    compiled = compiler(fn)
    before = dovetail.stats()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EagerWarning)
        for seed, make in enumerate(makers):
            torch.manual_seed(seed)
            expected = called(fn, make(), train)
            torch.manual_seed(seed)
            actual = called(compiled, make(), train)
            assert actual[0] == expected[0], f"call {seed}"
            torch.testing.assert_close(actual[1], expected[1])
    eager = [str(each.message) for each in caught if issubclass(each.category, EagerWarning)]
    if message is None:
        assert not eager
        assert dovetail.stats().graphs > before.graphs
    else:
        assert message in eager[0]


@pytest.mark.parametrize("make", [lambda: [two(3), two(3)], lambda: [Scaled(numbers(3), ("m", 2)), numbers(3)]])
def test_in_and_out(make):
    """Catches a plain result, another class's context, or the outer wrapper's parts in another order."""
    assert_same(lambda x, y: (x * y + 1, x.sin()), make, make)


def test_gradients():
    """Catches a gradient that is a plain tensor, or only one part's."""
    assert_same(
        lambda x, y: (x * y).sin() @ x.t(), *[lambda: [two(3, 4, requires_grad=True), two(3, 4)]] * 2, train=True
    )
    make = lambda: [Scaled(numbers(3, 4), ("m", (1, 2.5)), True), numbers(3, 4)]  # noqa: E731
    assert_same(lambda x, y: (x * y).exp().view(-1), make, make, train=True)


def test_gradient_of_both_wrappers():
    """Catches gradients that are delivered to the other wrapper."""
    make = lambda: [two(3, requires_grad=True), two(3, requires_grad=True), numbers(3)]  # noqa: E731
    assert_same(lambda x, y, z: x * y * y + z, make, make, train=True)


def test_argument_without_gradient():
    """Catches zeros as the gradient of a wrapper that autograd would not reach."""
    make = lambda: [two(3, requires_grad=True), two(3, requires_grad=True)]  # noqa: E731
    assert_same(lambda x, y: x + y.detach(), make, make, train=True)


def test_no_grad():
    """Catches parts that come out with a gradient of their own."""
    with torch.no_grad():
        assert_same(lambda x: x * 2, *[lambda: [two(3, requires_grad=True)]] * 2)


@pytest.mark.parametrize("other", [numbers, two])
def test_mutated(other):
    """Catches mutation that stays in a copy, a version counter that doesn't move, or the parts' that does."""

    def fn(x, y):
        x.mul_(2).add_(y)
        return x + 1

    assert_same(fn, *[lambda: [two(3), other(3)]] * 2)


def test_mutated_view_of_wrapper():
    """Catches a write through a view of a wrapper that its base's parts don't see."""

    def fn(x):
        x[1:].mul_(2)
        return x + 1

    assert_same(fn, *[lambda: [two(3, 2)]] * 2)


def view_and_base() -> list:
    base = two(4, 3)
    return [base, base[1:]]


def apart() -> list:
    return [two(4, 3), two(3, 3)]


@pytest.mark.parametrize("makers", [(view_and_base, apart), (apart, view_and_base)])
@pytest.mark.parametrize("mutated", [(0,), (1,), (0, 1)])
def test_view_and_base(makers, mutated):
    """Catches a view of a wrapper that is not told of writes to its base, or a counter that both move twice."""

    def fn(x, y):
        for index in mutated:
            (x, y)[index].mul_(2)
        return x + 1, y + 1

    assert_same(fn, *makers)


def test_other_sizes_later():
    """Catches a wrapper of the first call's sizes, or parts that are checked against them."""
    makers = [lambda size=size: [two(size, requires_grad=True), two(size)] for size in (3, 5, 7)]
    assert_same(lambda x, y: x * y, *makers, train=True)


def test_inference_mode():
    """Catches a version counter that is moved where there is none."""
    found = []
    for compiler in (lambda fn: fn, compile_whole):
        torch.manual_seed(0)
        with torch.inference_mode():
            x = two(3)
            results = compiler(lambda x: (x.mul_(2), x + 1))(x)
        assert results[0] is x
        found.append([part.clone() for result in results for part in inner(result)])
    torch.testing.assert_close(found[1], found[0])


def disjoint() -> list:
    return [two(3), two(3)]


def sharing() -> list:
    part = numbers(3)
    return [TwoTensor(part, numbers(3)), TwoTensor(part, numbers(3))]


@pytest.mark.parametrize("makers", [(disjoint, sharing, disjoint), (sharing, disjoint, sharing)])
def test_sharing_a_part(makers):
    """Catches a program for disjoint wrappers that runs on such as share a part, or the other way round."""

    def fn(x, y):
        x.mul_(2)
        return x + y

    assert_same(fn, *makers)


def overlapping() -> list:
    memory = numbers(4)
    return [TwoTensor(memory[:3], numbers(3)), TwoTensor(memory[:3].clone(), memory[:3])]


@pytest.mark.parametrize("makers", [(disjoint, overlapping), (overlapping, disjoint)])
def test_sharing_other_parts(makers):
    """Catches aliases that are only looked for between parts of one name."""

    def fn(x, y):
        y.add_(1)
        return x * y

    assert_same(fn, *makers)


def with_own_part() -> list:
    x = two(3)
    return [x, x.a]


def with_other() -> list:
    return [two(3), numbers(3)]


@pytest.mark.parametrize("makers", [(with_own_part, with_other), (with_other, with_own_part)])
@pytest.mark.parametrize("mutated", [0, 1])
def test_wrapper_and_its_part(makers, mutated):
    """Catches a part that is taken for memory of its own beside the wrapper."""

    def fn(x, y):
        (x, y)[mutated].mul_(3)
        return x + y, y * 2

    assert_same(fn, *makers)


def test_returned_as_it_is():
    """Catches another wrapper around the same parts in place of the argument itself."""
    assert_same(lambda x, y: (x, y + 1, x), *[lambda: [two(3), two(3)]] * 2)
    assert_same(lambda x, y: x.mul_(y), *[lambda: [two(3), numbers(3)]] * 2)
    assert_same(lambda x, y: (x, x * y), *[lambda: [two(3, requires_grad=True), two(3)]] * 2, train=True)


def test_result_given_twice():
    """Catches two wrappers for one result."""

    def fn(x):
        y = x + 1
        return y, x * 2, y

    assert_same(fn, *[lambda: [two(3)]] * 2)


def test_nested():
    """Catches a wrapper inside of a wrapper that is lost, or whose parts are exchanged."""
    make = lambda: [TwoTensor(two(3), two(3))]  # noqa: E731
    assert_same(lambda x: (x.sin(), x.mul_(2))[0], make, make)
    make = lambda: [TwoTensor(two(3), two(3)).requires_grad_()]  # noqa: E731
    assert_same(lambda x: x.sin() * x, make, make, train=True)


def test_made_inside():
    """Catches a wrapper that the graph makes and that comes out as its parts."""
    assert_same(lambda a, b: TwoTensor(a * 2, b + 1), *[lambda: [numbers(3), numbers(3)]] * 2)
    # An argument as it is inside of the new wrapper: the same object, not a copy.
    assert_same(lambda a, b: TwoTensor(a, b + 1), *[lambda: [numbers(3), numbers(3)]] * 2)


def test_parameter():
    """Catches a module's parameter that gets no gradient, or whose later values the program doesn't see."""
    losses, parameters, eager = [], [], dovetail.stats().eager
    for compiler in (lambda module: module, compile_whole):
        torch._dynamo.reset()
        torch.manual_seed(0)
        module = torch.nn.Linear(3, 2)
        module.weight, module.bias = (torch.nn.Parameter(two(*each.shape)) for each in (module.weight, module.bias))
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        fn = compiler(module)
        for _ in range(3):
            optimizer.zero_grad()
            loss = fn(torch.ones(4, 3)).sin().sum()
            loss.backward()
            assert all(type(parameter.grad) is TwoTensor for parameter in module.parameters())
            optimizer.step()
            losses += inner(loss.detach())
        parameters.append([part.detach() for parameter in module.parameters() for part in inner(parameter)])
    torch.testing.assert_close(losses[6:], losses[:6])
    torch.testing.assert_close(parameters[1], parameters[0])
    assert dovetail.stats().eager == eager


@pytest.mark.parametrize("changed", ["argument", "saved result", "other argument", "unsaved result"])
def test_changes_before_the_backward(changed):
    """Catches a gradient from values that were changed since: the wrapper's counter moves, its parts' do not."""
    outcomes, eager = [], dovetail.stats().eager
    for compiler in (lambda fn: fn, compile_whole):
        torch._dynamo.reset()
        torch.manual_seed(0)
        x, y, z = two(3, requires_grad=True), two(3), two(3)
        e, p = compiler(lambda x, y, z: (x.exp() * 1, (x * y) + z))(x, y, z)
        first = compiler(lambda x: x.exp())(x)
        target = {"argument": y, "other argument": z, "saved result": first, "unsaved result": p}[changed]
        with torch.no_grad():
            target.add_(1)
        try:
            (e + p + first).sum().backward()
            outcomes.append(inner(x.grad))
        except RuntimeError as error:
            outcomes.append(str(error).partition(":")[0])
    if changed in ("argument", "saved result"):
        message = "one of the variables needed for gradient computation has been modified by an inplace operation"
        assert outcomes == [message] * 2
    else:
        torch.testing.assert_close(outcomes[1], outcomes[0])
    assert dovetail.stats().eager == eager


SAVED_BY_EAGER = {
    "exp": lambda x: x.exp(),
    "relu": lambda x: x.relu(),
    "sqrt": lambda x: (x * x + 1).sqrt(),
    "tanh": lambda x: x.tanh(),
    "of two": lambda x: (x.relu(), x.exp())[0],
    "not the result": lambda x: (x.exp() + 1) * 2,
    "not beside": lambda x: (x * 2, x.relu())[0],
}


@pytest.mark.parametrize("name", SAVED_BY_EAGER)
def test_changes_of_what_eager_saves(name):
    """Catches a gradient where eager raises: the program computes a result anew that eager has saved.

    And an error where eager raises none, since the program alone reads it.
    """
    outcomes = []
    for compiler in (lambda fn: fn, compile_whole):
        torch._dynamo.reset()
        torch.manual_seed(0)
        x = two(3, requires_grad=True)
        result = compiler(SAVED_BY_EAGER[name])(x)
        with torch.no_grad():
            result.add_(1)
        try:
            result.sum().backward()
            outcomes.append(inner(x.grad))
        except RuntimeError as error:
            outcomes.append(str(error).partition(":")[0])
    if name.startswith("not"):
        torch.testing.assert_close(outcomes[1], outcomes[0])
    else:
        assert (
            outcomes
            == ["one of the variables needed for gradient computation has been modified by an inplace operation"] * 2
        )


def test_changes_of_a_view_of_what_eager_saves():
    """Catches a gradient where eager raises: a result is a view of a wrapper that eager saved, and counts with it."""
    outcomes = []
    for compiler in (lambda fn: fn, compile_whole):
        torch._dynamo.reset()
        torch.manual_seed(0)
        weight, x = two(3, requires_grad=True), two(3)
        product, part = compiler(lambda weight, x: (lambda e: (weight * e, e[1:]))(x.exp()))(weight, x)
        part.add_(1)
        try:
            product.sum().backward()
            outcomes.append("")
        except RuntimeError as error:
            outcomes.append(str(error).partition(":")[0])
    assert (
        outcomes
        == ["one of the variables needed for gradient computation has been modified by an inplace operation"] * 2
    )


def test_changes_behind_a_returned_argument():
    """Catches a check that is made when another program's backward runs, which the argument comes from."""
    torch._dynamo.reset()
    x, y = two(3, requires_grad=True), two(3)
    plain = compile_whole(lambda z: z * 2)(numbers(3).requires_grad_())
    made, _ = compile_whole(lambda x, y, z: (x * y, z.view(-1)))(x, y, plain)
    y.add_(1)
    with pytest.raises(
        RuntimeError, match="modified by an inplace operation: argument 1, a TwoTensor, is at version 1"
    ):
        made.sum().backward()


def test_double_backward():
    """Catches a gradient that is cut off from what it depends on."""
    found = []
    for compiler in (lambda fn: fn, compile_whole):
        torch._dynamo.reset()
        torch.manual_seed(0)
        x = two(3, requires_grad=True)
        (gradient,) = torch.autograd.grad(compiler(lambda x: x * x * x)(x).sum(), x, create_graph=True)
        gradient.sum().backward()
        found.append([*inner(gradient.detach()), *inner(x.grad)])
    torch.testing.assert_close(found[1], found[0])


def test_inner_strides_change():
    """Catches a program for row-major parts that runs on others: no guard of Dynamo's looks inside."""
    plain, transposed = lambda: [Uneven(numbers(2, 3), ("m",))], lambda: [Uneven(numbers(3, 2).t(), ("m",))]
    assert_same(lambda x: x * 2, plain, transposed, plain)


def test_context_changes():
    """Catches a result with the first call's context."""
    assert_same(lambda x: x * 2, lambda: [Scaled(numbers(3), ("m", 1))], lambda: [Scaled(numbers(3), ("s", 2))])


def test_gradient_of_another_class():
    """Catches a plain gradient that is taken for a wrapper's parts."""
    x = two(3, requires_grad=True)
    out = compile_whole(lambda x: x * 2)(x)
    with pytest.raises(RuntimeError, match="two_tensor:TwoTensor, got a Scaled"):
        out.backward(Scaled(torch.ones(3), ("m",)))


class Unsayable(Scaled):
    """Its context is an object of Python."""

    def __tensor_flatten__(self):
        return ["data_of"], {"unit": torch.float32}

    @staticmethod
    def __tensor_unflatten__(tensors, context, _size, _stride):
        return Unsayable(tensors["data_of"], ())

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        plain_args, plain_kwargs = tree_map_only(Unsayable, lambda each: each.data_of, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, lambda each: Unsayable(each, ()), func(*plain_args, **plain_kwargs))


def local_class() -> type:
    class Local(TwoTensor):
        @staticmethod
        def __tensor_unflatten__(tensors, context, size, stride):
            return Local(tensors["a"], tensors["b"], size, stride)

    return Local


EAGER = {
    "a context that is no literal": (
        lambda x: x * 2,
        lambda: [Unsayable(numbers(3), ())],
        r"argument L['x']: the context of the subclass Unsayable is no Python literal",
    ),
    "a view of an argument": (
        lambda x: x.view(-1),
        lambda: [two(3, 2)],
        "result 0: a TwoTensor that shares memory with an argument or a result is not supported yet",
    ),
    "views of one intermediate": (
        lambda x: (lambda y: (y[0], y[1:]))(x * 2),
        lambda: [two(3, 2)],
        "result 0: a TwoTensor that shares memory with an argument or a result is not supported yet",
    ),
}
TRAINED = {
    "a wrapper with a plain gradient": (
        lambda x: x * 2,
        lambda: [Revealed(numbers(3), (), True)],
        "test_subclasses:Revealed, got a plain tensor",
    ),
    "mutated non-leaf": (
        lambda x, y: x.mul_(y) * 2,
        lambda: [two(3, requires_grad=True) * 1, two(3)],
        "argument L['x']: a TwoTensor that requires grad and is mutated is not supported yet",
    ),
    "gradient from a write": (
        lambda x, y: x.mul_(y) * 2,
        lambda: [two(3), two(3, requires_grad=True)],
        "argument L['x']: a TwoTensor that gets a gradient from what is written to it is not supported yet",
    ),
    "plain tensor with a wrapper as gradient": (
        lambda x, y: x * y,
        lambda: [two(3), numbers(3).requires_grad_()],
        "argument L['y']: a plain tensor whose gradient is a TwoTensor is not supported yet",
    ),
    "mutated plain tensor": (
        lambda x, y: (y.mul_(2), x * 2)[1],
        lambda: [two(3, requires_grad=True), numbers(3).requires_grad_() * 1],
        "argument L['y']: mutated in autograd's sight, beside tensor subclasses, is not supported yet",
    ),
    "parts that require grad": (
        lambda x: x * 2,
        lambda: [TwoTensor(numbers(3).requires_grad_(), numbers(3).requires_grad_())],
        "argument L['x']: a TwoTensor around a tensor that requires grad itself is not supported",
    ),
}


@pytest.mark.parametrize("case", [*EAGER, *TRAINED])
def test_eager_path(case):
    """Catches a wrapper that the IR can't say and that is compiled all the same, or refused without its name."""
    fn, make, message = (EAGER | TRAINED)[case]
    assert_same(fn, make, make, train=case in TRAINED, message=message)


def test_other_sizes():
    """Catches sizes that change for the tensors inside only."""
    message = "argument x: a TwoTensor that is given other sizes or other tensors is not supported yet"
    assert_same(lambda x: x.t_() * 2, lambda: [two(3, 2)], message=message, compiler=without_dynamo)


def test_given_twice():
    """Catches two wrappers in place of one, whose version counter moves twice."""
    twice = lambda: [two(3)] * 2  # noqa: E731
    message = "argument y: a TwoTensor that is given twice is not supported"
    assert_same(lambda x, y: x.mul_(2) + y, twice, message=message, compiler=without_dynamo)
    # Dynamo gives it once.
    assert_same(lambda x, y: x.mul_(2) + y, twice, twice, disjoint)


def test_class_without_a_name():
    """Catches a class that the IR names though nobody can find it."""
    local = local_class()
    message = "argument L['x']: the subclass local_class.<locals>.Local can't be imported"
    torch._dynamo.reset()
    with pytest.warns(EagerWarning, match="can't be imported"):
        made = torch.compile(lambda x: x * 2, backend="dovetail")(local(torch.ones(3), torch.zeros(3)))
    assert type(made) is local
    assert made.a.tolist() == [2, 2, 2]
    assert any(message in reason for reason in dovetail.stats().eager)


def test_text_says_it_all(tmp_path, monkeypatch):
    """Catches facts of wrappers that are kept beside the IR: the last stage's text runs in a new process."""
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path))
    torch._dynamo.reset()
    compile_whole(lambda x, y: (x.mul_(2), x + y))(two(3), two(3))
    (stage, *_) = sorted(tmp_path.glob("*/*.mlir"), reverse=True)
    script = (
        "import sys, torch; from torch_mlir import ir; from dovetail.dialects.context import make_context;"
        "from dovetail.runtime.program import load_program; from torch.testing._internal.two_tensor import TwoTensor;"
        "module = ir.Module.parse(open(sys.argv[1]).read(), make_context());"
        "x, y = (TwoTensor(torch.full((3,), each), torch.full((3,), each + 1)) for each in (1.0, 5.0));"
        "first, second = load_program(module, {})[0]([x, y]);"
        "print(first is x, x.a.tolist(), x._version, type(second).__name__, second.b.tolist())"
    )
    ran = run_python(script, stage)
    assert ran.stdout.strip() == "True [2.0, 2.0, 2.0] 1 TwoTensor [10.0, 10.0, 10.0]", ran.stderr


def test_the_node_of_a_call_is_found_among_others():
    """Would catch a class of the user's own of the node's name, or a history of which only the first parent is read."""

    class Dovetail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    leaf = torch.ones(3, requires_grad=True)
    result = compile_whole(torch.sin)(leaf)
    assert versions._node(result) is result.grad_fn
    assert versions._node(Dovetail.apply(leaf.exp() + result)) is result.grad_fn
