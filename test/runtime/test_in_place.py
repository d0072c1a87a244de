"""Updates of arguments in place: eager's values and version counters, and no copies where none are needed."""

import copy
import sys

import pytest
import torch
from differential import assert_same
from torch import nn

import dovetail
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.python import tensors
from dovetail.runtime import host
from dovetail.runtime.updates import Updates

WRITTEN, MISALIGNED = "value into a mutated input", "mutated input that is not aligned"


def copies_of(fn, *args, **options) -> dict[str, int]:
    """Asserts that `fn` compiled is `fn`; returns the copies of two calls, by reason."""
    dovetail.stats(reset=True)
    assert_same(fn, *args, **options)
    return dict(dovetail.stats().copies)


def calls_in(run) -> int:
    """How often `run` calls a function from Python, be it Python's or C's."""
    events = []
    sys.setprofile(lambda _frame, event, _function: events.append(event))
    try:
        run()
    finally:
        sys.setprofile(None)
    return events.count("call") + events.count("c_call")


def _double(*given):
    for x in given:
        x.mul_(2)


def test_one_op():
    """A vector's rest that is computed again doubles twice; what IREE widens is written over what is yet to be read."""
    sizes = [torch.randn(size) for size in (1, 1003, 65537)]
    types = [torch.randn(33, 65).to(dtype) for dtype in (torch.float64, torch.float16, torch.bfloat16)]
    assert copies_of(_double, *sizes, *types) == {}


def _beside(*functions):
    """One program of all of them, each on arguments of its own."""
    return lambda *given: [function(*each) for function, each in zip(functions, given, strict=True)]


def test_what_reads_elsewhere_is_never_written_while_it_is_read():
    """H1: flips and shifts written in place gave wrong values."""

    def flip(x):
        x.copy_(x.flip(0))

    def shift(x):
        x[1:] = x[:-1].clone()

    assert copies_of(_beside(flip, shift), [torch.randn(1000)], [torch.randn(1000)]) == {WRITTEN: 4}


def test_exchange(op_by_op):
    """Each needs the other's old value: one of them must be written last, from a copy."""

    def fn(x, y):
        old = x + 1
        x.copy_(y * 2)
        y.copy_(old)

    assert copies_of(fn, torch.randn(100), torch.randn(100)) == {WRITTEN: 2}


def _read_elsewhere_too(x, y):
    """A sum that is fused with the update would add elements that are new already."""
    before = x.sum(0)
    x.add_(x.flip(0) * y)
    return before


def _two_results_of_the_old_value(p, b):
    """IREE computes them in two loops; one that updates must not run first."""
    q = p * b
    p.add_(b)
    return q


def _sgd_with_momentum(p, m, g):
    """The parameter's region would read the momentum before it was updated, or the gradient's decay after."""
    g = g + 0.01 * p
    m.mul_(0.9).add_(g)
    p.sub_(g + 0.9 * m, alpha=0.1)


def _moving_average_and_single_numbers(average, p, count):
    """A step counter that other operations need is computed twice rather than copied."""
    count.add_(1)
    average.lerp_(p, 0.1)
    p.mul_(1 / (1 + count))


def test_what_an_update_reads_is_read_before_it():
    """What each function says."""
    sizes = {
        _read_elsewhere_too: [(1000, 3), (1000, 3)],
        _two_results_of_the_old_value: [(5000,), (5000,)],
        _sgd_with_momentum: [(257, 9)] * 3,
        _moving_average_and_single_numbers: [(9,), (9,), ()],
    }
    given = [[torch.randn(size) for size in each] for each in sizes.values()]
    given[-1][-1] = torch.tensor(1.0)
    assert copies_of(_beside(*sizes), *given) == {}
    assert dovetail.stats().regions > 1
    assert not dovetail.stats().library_calls


def _adam(p, m, v, g):
    m.lerp_(g, 0.1)
    v.mul_(0.99).addcmul_(g, g, value=0.01)
    p.mul_(0.999).sub_(0.1 * m / (v.abs().sqrt() + 1e-2))


@pytest.mark.parametrize("sizes", [((7,), (1003,), (33, 65)), ((1, 1), ())], ids=["many numbers", "one number"])
def test_moments_and_parameter_in_one_loop(sizes):
    """A parameter that is computed from a moment updated twice, or that reads the moment's memory too early or late."""

    def steps(*given):
        for start in range(0, len(given), 4):
            _adam(*given[start : start + 4])

    assert copies_of(steps, *(torch.randn(size) for size in sizes for _ in range(4))) == {}
    assert dovetail.stats().regions == 1 or torch.Size(sizes[0]).numel() == 1
    assert dovetail.stats().launches == {"plan": dovetail.stats().regions}


def test_moments_and_parameter_of_each_float():
    """Of half precision, IREE hands on in one loop what is not rounded yet: the parameter was off by half a unit."""
    types = (torch.float64, torch.float16, torch.bfloat16)
    given = [[torch.randn(33, 65).to(dtype) for _ in range(3)] for dtype in types]
    assert copies_of(_beside(*[_momentum] * 3), *given) == {}
    assert dovetail.stats().regions == 2


def _momentum(p, m, g):
    m.mul_(0.5).add_(g)
    p.sub_(m)


def test_moments_and_parameter_on_two_threads():
    """A workgroup that reads what another one has overwritten."""
    expected = [torch.randn(700, 333) for _ in range(4)]
    found = [[each.clone() for each in expected] for _ in range(10)]
    _adam(*expected)
    compiled = torch.compile(_adam, backend="dovetail")
    threads = torch.get_num_threads()
    dovetail.stats(reset=True)
    torch.set_num_threads(2)
    try:
        for given in found:
            compiled(*given)
    finally:
        torch.set_num_threads(threads)
    torch.testing.assert_close(found[0], expected, rtol=1e-4, atol=2e-5)  # as test/support/differential.py has it
    for given in found[1:]:
        torch.testing.assert_close(given, found[0], rtol=0, atol=0)
    assert dovetail.stats().copies == {}
    assert dovetail.stats().launches == {"plan": 1}


def test_updates_in_several_loops_run_one_after_the_other(monkeypatch):
    """Without a plan nobody knows what IREE makes of it: a second loop may read what the first has overwritten."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    assert copies_of(_momentum, *(torch.randn(257, 9) for _ in range(3))) == {}
    assert dovetail.stats().splits == 1
    assert dovetail.stats().regions == 2


def test_a_plan_with_two_launches_is_split(monkeypatch):
    """A second launch may compute the new moment anew, from memory that the first one has overwritten."""
    touching = LaunchPlan.touching
    monkeypatch.setattr(LaunchPlan, "touching", lambda plan, argument: touching(plan, argument) * 2)
    assert copies_of(_momentum, *(torch.randn(257, 9) for _ in range(3))) == {}
    assert dovetail.stats().splits == 1
    assert dovetail.stats().regions == 2


def test_optimizers_copy_nothing(op_by_op):
    """A state tensor that falls back to copying costs memory and time for each parameter."""
    for make in (lambda ps: torch.optim.AdamW(ps), lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9)):
        torch._dynamo.reset()
        torch.manual_seed(0)
        eager = [nn.Parameter(torch.randn(9, 7)) for _ in range(3)]
        compiled = copy.deepcopy(eager)
        for ours, theirs in zip(compiled, eager, strict=True):
            theirs.grad = torch.randn(9, 7)
            ours.grad = theirs.grad.clone()
        steps = [make(eager).step, torch.compile(make(compiled).step, backend="dovetail")]
        dovetail.stats(reset=True)
        for step in (*steps, *steps):
            step()
        assert dovetail.stats().graphs >= 1
        assert dovetail.stats().copies[WRITTEN] == 0
        for ours, theirs in zip(compiled, eager, strict=True):
            torch.testing.assert_close(ours, theirs)
            assert ours._version == theirs._version


def test_running_statistics_in_training(op_by_op):
    """A buffer updated by the forward of a differentiable call; the integer counter keeps its copy."""
    module = nn.Sequential(nn.Conv2d(2, 5, 3), nn.BatchNorm2d(5))
    copies = copies_of(module, torch.randn(3, 2, 6, 6, requires_grad=True))
    assert copies.get(WRITTEN, 0) <= 2


def test_whole_numbers_are_copied_at_once(op_by_op, monkeypatch):
    """Catches a call, on a GPU a launch, for each counter of a model, and values or versions that are not eager's."""
    taken: list[int] = []

    def record(refs, values):
        taken.append(len(refs))
        tensors.write_numbers(refs, values)

    monkeypatch.setattr(host, "write_numbers", record)

    def step(first, mean, second, var, third):
        first.add_(1)
        mean.mul_(0.5)
        second.copy_(first * 2)
        var.mul_(0.25)
        third.add_(first)

    def given():
        return [torch.tensor(3), torch.rand(4), torch.arange(5), torch.rand(4), torch.tensor(True).int()]

    eager, ours = given(), given()
    ours[1].copy_(eager[1])
    ours[3].copy_(eager[3])
    compiled = torch.compile(step, backend="dovetail", options={"strict": True})
    for _ in range(2):
        step(*eager)
        compiled(*ours)
        for mine, theirs in zip(ours, eager, strict=True):
            assert torch.equal(mine, theirs)
            assert mine._version == theirs._version + (0 if mine.dtype is not torch.float32 else 1)
    assert taken == [2, 2]
    assert copies_of(step, *given())[WRITTEN] == 2 * 2


def test_negated_numbers_are_copied_one_by_one(op_by_op):
    """Catches an error, after other arguments were written, where ATen copies no negated view together with others."""

    def step(first, mean, second):
        first.add_(1)
        mean.mul_(0.5)
        second.add_(2)

    eager, ours = ([torch._neg_view(torch.arange(3)), torch.ones(4), torch.arange(5)] for _ in range(2))
    step(*eager)
    torch.compile(step, backend="dovetail", options={"strict": True})(*ours)
    for mine, theirs in zip(ours, eager, strict=True):
        assert torch.equal(mine, theirs)


def test_whole_numbers_in_shared_memory_are_written_in_order(op_by_op):
    """Catches a later write to a part of what an earlier one writes that is not the last."""

    def step(whole, part):
        whole.add_(1)
        part.mul_(10)

    eager, ours = torch.arange(6), torch.arange(6)
    step(eager, eager[:3])
    torch.compile(step, backend="dovetail")(ours, ours[:3])
    assert torch.equal(ours, eager)
    assert ours._version == eager._version


def test_version_counters_move_as_eagerly(op_by_op):
    """Memory written behind PyTorch's back would let a backward use changed values without complaint."""

    def fn(x, y):
        x.mul_(2).add_(1)
        y.data.mul_(3)

    tensors = [[torch.ones(5), torch.ones(5)] for _ in range(2)]
    fn(*tensors[0])
    torch.compile(fn, backend="dovetail")(*tensors[1])
    assert [tensor._version for tensor in tensors[1]] == [tensor._version for tensor in tensors[0]] == [2, 0]

    weight = torch.ones(5, requires_grad=True)
    product = weight * tensors[1][0]
    torch.compile(fn, backend="dovetail")(*tensors[1])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_memory_that_no_region_can_take_is_copied():
    """A fault, or a wrong value, for views that start anywhere; an argument that keeps its old value."""
    copies = copies_of(_double, torch.randn(65)[1:], torch.randn(8, 9).t(), torch.randn(0, 3), torch.randn(()))
    assert copies[MISALIGNED] == 2
    assert copies[WRITTEN] == 2 + 2 + 0 + 0


def test_aligned_at_first_and_not_later():
    """The proof holds for the program, alignment for a call: the next call may differ."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    storage = torch.randn(65)
    compiled = torch.compile(_double, backend="dovetail")
    for start, stop in ((0, 64), (1, 65), (0, 64)):
        x, expected = storage[start:stop], storage[start:stop] * 2
        compiled(x)
        assert torch.equal(x, expected)
    assert dovetail.stats().graphs == 1
    assert dovetail.stats().copies == {MISALIGNED: 1, WRITTEN: 1}


def test_one_of_many_is_misaligned():
    """Asked of all at once whether regions can take them, the one that none can take would be written behind its back,
    or the others be copied."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    tensors = [torch.randn(64), torch.randn(65)[1:], torch.randn(64)]
    expected = [tensor * 2 for tensor in tensors]
    torch.compile(_double, backend="dovetail")(*tensors)
    assert all(map(torch.equal, tensors, expected))
    assert [tensor._version for tensor in tensors] == [1, 1, 1]
    assert dovetail.stats().copies == {MISALIGNED: 1, WRITTEN: 1}


def test_many_updates_take_no_calls_each():
    """AdamW of 300 tensors took 2.4 times inductor's time: eight calls from Python for each of 1,200, then four."""
    counts = []
    for count in (2, 3):
        torch._dynamo.reset()
        tensors = [torch.randn(64) for _ in range(count)]
        compiled = torch.compile(_double, backend="dovetail")
        compiled(*tensors)
        counts.append(calls_in(lambda run=compiled, given=tensors: run(*given)))
    assert counts[0] == counts[1]


def test_an_optimizer_of_many_tensors_takes_no_calls_each():
    """AdamW of 300 tensors took 1.29 times inductor's time: each was looked at for four questions."""
    counts = []
    dovetail.stats(reset=True)
    for count in (2, 3):
        torch._dynamo.reset()
        parameters = [nn.Parameter(torch.randn(64)) for _ in range(count)]
        for parameter in parameters:
            parameter.grad = torch.randn(64)
        optimizer = torch.optim.AdamW(parameters)
        step = torch.compile(optimizer.step, backend="dovetail")
        step()
        counts.append(calls_in(step))
    assert counts[0] == counts[1]

    # Dynamo does not ask where the data of a parameter lies.
    parameters[2].data = torch.empty(65)[1:].copy_(parameters[2].data)
    twins = copy.deepcopy(parameters)
    for twin, each in zip(twins, parameters, strict=True):
        twin.grad = each.grad
    eager = torch.optim.AdamW(twins)
    eager.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    eager.step()
    step()
    torch.testing.assert_close(parameters, twins)
    assert dovetail.stats().copies[MISALIGNED] == 1


def test_updates_at_once_only_of_what_lies_well(monkeypatch):
    """Memory updated at once though it starts elsewhere, overlaps or shows its negative, is read wrongly or written
    behind another tensor's back; versions that don't move."""
    tried: list[bool] = []
    at_once = Updates.at_once
    monkeypatch.setattr(Updates, "at_once", lambda *given: bool(tried.append(at_once(*given)) or tried[-1]))
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    memory = torch.randn(200)
    compiled = torch.compile(_double_and_add, backend="dovetail")
    for start, is_negative in ((64, False), (65, False), (32, False), (64, True), (128, False)):
        x, y = (torch.empty(0).set_(memory.untyped_storage(), each, (64,)) for each in (0, start))
        y = torch._neg_view(y) if is_negative else y
        before, versions = memory.clone(), (x._version, y._version)
        compiled(x, y)
        found = memory.clone()
        memory.copy_(before)
        _double_and_add(x, y)
        assert torch.equal(found, memory)
        assert (x._version - versions[0], y._version - versions[1]) == (2, 2)
    assert dovetail.stats().variants == 1
    assert tried == [True, False, False, True]


def _double_and_add(x, y):
    x.mul_(2)
    y.add_(1)


def test_one_update_takes_two_calls():
    """A small call was a quarter slower where it wrote its argument: seven calls asked for its place."""
    counts = []
    for function in (lambda x: x * 2, _double):
        torch._dynamo.reset()
        x, compiled = torch.randn(64), torch.compile(function, backend="dovetail")
        compiled(x)
        counts.append(calls_in(lambda run=compiled, given=x: run(given)))
    assert counts[1] - counts[0] == 2 - 1  # which makes memory


def test_writes_through_data_call_nothing_when_in_place(op_by_op, monkeypatch):
    """Running statistics, whose counters stay, cost a training step of ResNet a call for each norm."""
    monkeypatch.setattr(tensors, "increment_versions", None)
    x, y = torch.ones(5), torch.ones(7)

    def fn(x, y):
        x.data.mul_(3)
        y.data.mul_(3)

    torch._dynamo.reset()
    torch.compile(fn, backend="dovetail")(x, y)
    assert x.tolist() == [3.0] * 5
    assert y.tolist() == [3.0] * 7


def test_failure_before_the_first_update_leaves_arguments_alone(op_by_op):
    """A library call that fails after the first update would leave one argument new and one old."""

    @torch.library.custom_op("dovetail_test::fails", mutates_args=())
    def fails(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 100:
            raise ValueError("too large")
        return x.clone()

    @fails.register_fake
    def _(x):
        return torch.empty_like(x)

    def fn(x, y):
        x.add_(1)
        y.mul_(fails(x))

    dovetail.stats(reset=True)
    compiled = torch.compile(fn, backend="dovetail")
    compiled(torch.ones(5), torch.ones(5))
    assert dovetail.stats().graphs == 1
    assert dovetail.stats().copies[WRITTEN] == 0
    x, y = torch.full((5,), 50.0), torch.ones(5)
    with pytest.raises(ValueError, match="too large"):
        compiled(x, y)
    assert torch.equal(x, torch.full((5,), 50.0))
    assert torch.equal(y, torch.ones(5))
