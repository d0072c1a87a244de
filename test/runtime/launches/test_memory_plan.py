"""What the memory plan saves of allocations, and that nobody sees memory that is used again."""

import threading

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import dovetail
from dovetail import loading
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.dialects.context import make_context, parse_module
from dovetail.passes.memory import plan_memory
from dovetail.passes.memory.reuse import Scan
from dovetail.runtime.reference.drawn_inputs import random_inputs
from dovetail.runtime.reference.executor import run_reference

SIZE = 256  # so large that IREE gets the regions, which smaller ones are not worth
BYTES = SIZE * SIZE * 4


def compiled(fn):
    # "default" saves what "min-cut" computes again.
    return torch.compile(fn, backend="dovetail", fullgraph=True, options={"partition": "default"})


def chain(x, w):
    """Pointwise regions between products, so that there is one destination a line."""
    x = (x @ w).sinh().neg().exp()
    x = (x @ w).sinh().neg().exp()
    x = (x @ w).sinh().neg().exp()
    return (x @ w).sinh().neg().exp()


def leaves() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [(torch.rand(SIZE, SIZE, generator=generator) / SIZE).requires_grad_() for _ in range(2)]


def allocations(call) -> int:
    """Blocks of at least `BYTES` that PyTorch's allocator hands out during `call`."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        call()
    return sum(
        event.nbytes() >= BYTES for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"
    )


def test_dead_memory_becomes_results(monkeypatch):
    """Catches a plan that the runtime does not follow: every product and every destination allocated."""

    def fn(x, w):
        # Here the most is held, so that dead memory may wait below.
        return chain((x @ w.repeat(1, 8)).sin().exp().unflatten(1, (8, SIZE)).sum(1).cos(), w)

    call, inputs = compiled(fn), [leaf.detach() for leaf in leaves()]
    call(*inputs)
    # Of the four results in `chain`, each a block without a plan, the last three lie in products that are dead.
    found = allocations(lambda: call(*inputs))
    with monkeypatch.context() as patched:
        patched.setattr(Scan, "take", lambda *_: None)
        torch._dynamo.reset()
        call = compiled(fn)
        call(*inputs)
    assert found <= allocations(lambda: call(*inputs)) - 3
    torch.testing.assert_close(call(*inputs), fn(*inputs))


def last(x, w, b):
    """A product, which dies in a region that reads each of its elements for one of the result's."""
    return ((x @ w) + b).sigmoid() * 2 - b


def sigmoid_of(x, w, b):
    return (torch.sigmoid((x @ w).unflatten(0, (-1, 2)) + b) * 2 - b).exp() @ w.t()


def turned(x, w, b):
    """The product is read as it lies, transposed: by way of a copy in rows."""
    return torch.tanh((x @ w).t() * b[0] + 1).exp()


def drawn(rows: int, columns: int, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows)
    shapes = ((rows, 64), (64, columns), (columns,))
    return [torch.rand(shape, generator=generator, dtype=dtype) for shape in shapes]


@pytest.fixture
def unshared(monkeypatch):
    """Gives the results of a function whose results share no memory with operands."""

    def run(fn, *inputs, **options):
        with monkeypatch.context() as patched:
            patched.setattr(plan_memory, "find_shared", lambda *_: {})
            return torch.compile(lambda *given: fn(*given), backend="dovetail", fullgraph=True, **options)(*inputs)

    return run


@pytest.fixture
def shared(monkeypatch):
    """How many results each plan of memory lets lie where an operand dies; grows as functions are planned."""
    counts, find = [], plan_memory.find_shared

    def counted(*given):
        found = find(*given)
        counts.append(len(found))
        return found

    monkeypatch.setattr(plan_memory, "find_shared", counted)
    return counts


ROWS = [
    (256, 256, torch.float32),
    (1002, 517, torch.float64),
    (34, 100003, torch.float32),
    (2, 2049, torch.float64),
]
"""So many, of so many numbers: whole vectors and pages, neither, few of more than a cache holds, and few in all."""


def each_of(*fns):
    """A function of three inputs for each of `fns`, in one graph; of inputs of their own, no two compute the same."""
    return lambda *given: [fn(*given[3 * number : 3 * number + 3]) for number, fn in enumerate(fns)]


@pytest.mark.parametrize(("rows", "columns", "dtype"), ROWS)
def test_results_where_operands_die_are_the_same(unshared, shared, rows, columns, dtype):
    """Catches a region that reads an element after it has overwritten it, in whatever row, vector or thread."""
    fn, inputs = each_of(last, sigmoid_of, turned), [each for _ in range(3) for each in drawn(rows, columns, dtype)]
    call = torch.compile(fn, backend="dovetail", fullgraph=True)
    found = [call(*inputs) for _ in range(3)]
    assert shared == [3 if rows > 2 else 2]  # of two rows, what is turned is no region's result
    expected = unshared(fn, *inputs)
    assert all(torch.equal(result, right) for each in found for result, right in zip(each, expected, strict=True))
    torch.testing.assert_close(expected, fn(*inputs))


@pytest.mark.parametrize(("rows", "columns", "dtype"), ROWS)
def test_results_of_open_sizes_lie_where_operands_die(remembered_runs, unshared, shared, rows, columns, dtype):
    """Catches memory of which no pass knows the sizes, so that no result of open sizes lies where an operand does."""
    fn, inputs = each_of(last, turned), [each for _ in range(2) for each in drawn(rows, columns, dtype)]
    call = torch.compile(fn, backend="dovetail", fullgraph=True, dynamic=True, options={"cache": False})
    found = [call(*inputs) for _ in range(3)]
    assert shared == [2]
    expected = unshared(fn, *inputs, dynamic=True)
    assert all(torch.equal(result, right) for each in found for result, right in zip(each, expected, strict=True))
    torch.testing.assert_close(expected, fn(*inputs))


def test_results_lie_where_operands_die():
    """Catches a block for a result whose region reads an operand that dies there, element by element."""
    inputs = drawn(SIZE, SIZE, torch.float32)
    call = compiled(last)
    call(*inputs)
    assert allocations(lambda: call(*inputs)) == 1


def plus_sums(x, w, given):
    return x @ w + given.unflatten(-1, (-1, 8)).sum(-1)


def plus_softmax(x, w, given):
    return x @ w + torch.softmax(given[:, : w.shape[1]], -1)


@pytest.mark.parametrize("fn", [plus_sums, plus_softmax])
def test_results_beside_reductions_lie_apart(shared, fn):
    """Catches a region that sums up where an operand lies which it reads afterwards."""
    x, w, _ = drawn(SIZE, SIZE, torch.float32)
    inputs = x, w, torch.rand(SIZE, 8 * SIZE, generator=torch.Generator().manual_seed(0))
    call = torch.compile(fn, backend="dovetail", fullgraph=True, options={"cache": False})
    torch.testing.assert_close(call(*inputs), fn(*inputs))
    assert set(shared) == {0}


@pytest.mark.parametrize("touching", [[(0, True), (1, True)], []], ids=["several", "none"])
def test_operands_that_not_one_loop_reads_keep_their_memory(monkeypatch, touching):
    """Catches a result that lies where its region's plan does not show that an operand is read before.

    And a reason that says of an operand which no launch reads that several do.
    """
    inputs = drawn(SIZE, SIZE, torch.float32)
    dovetail.stats(reset=True)
    monkeypatch.setattr(LaunchPlan, "touching", lambda plan, argument: touching)
    call = torch.compile(lambda *given: last(*given), backend="dovetail", fullgraph=True, options={"cache": False})
    torch.testing.assert_close(call(*inputs), last(*inputs))
    assert allocations(lambda: call(*inputs)) == 2
    reason = "its plan does not read an operand in one launch, before others write there"
    assert dovetail.stats().kept_apart == {reason: 1}
    assert "lie apart from operands that die" in str(dovetail.stats())
    explained = " ".join(str(dovetail.explain(call, *inputs)).split())
    assert f"results lie apart from operands that die: {reason}" in explained


def test_results_that_iree_runtime_writes_lie_apart(monkeypatch):
    """Catches a region without a plan whose missing saving nobody counts."""
    inputs = drawn(SIZE, SIZE, torch.float32)
    dovetail.stats(reset=True)
    monkeypatch.setattr(loading, "unloadable", lambda *_: "the code is of another machine")
    call = torch.compile(lambda *given: last(*given), backend="dovetail", fullgraph=True, options={"cache": False})
    torch.testing.assert_close(call(*inputs), last(*inputs))
    stats = dovetail.stats()
    assert stats.launches == {"iree.runtime: the code is of another machine": 1}
    assert stats.kept_apart == {"no plan: the code is of another machine": 1}


def test_backward_writes_to_what_was_saved_for_it():
    """Catches private saved values that die in the backward while it allocates as much as they hold."""
    fn = compiled(chain)
    inputs = leaves()
    fn(*inputs).sum().backward()
    result = fn(*inputs).sum()
    taken = allocations(result.backward)
    again = fn(*inputs).sum()
    kept = allocations(lambda: again.backward(retain_graph=True))
    assert kept > taken, "the backward of a kept graph copies what it overwrites, so some must be overwritten"


@pytest.mark.parametrize("times", [2, 3])
def test_kept_graph_runs_again(times):
    """Catches a backward that overwrites saved values though the graph is kept: wrong gradients from the second on."""
    fn, inputs = compiled(chain), leaves()
    result = fn(*inputs)
    found = [torch.autograd.grad(result.sum(), inputs, retain_graph=True) for _ in range(times)]
    found.append(torch.autograd.grad(result.sum(), inputs))
    expected = torch.autograd.grad(chain(*inputs).sum(), inputs)
    for each in found:
        torch.testing.assert_close(each, expected)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(result.sum(), inputs)


def test_two_forwards_before_their_backwards():
    """Catches memory that belongs to the program rather than to the call."""
    fn, first, second = compiled(chain), leaves(), [2 * leaf.detach() for leaf in leaves()]
    second = [each.requires_grad_() for each in second]
    results = [fn(*first), fn(*second)]
    found = [torch.autograd.grad(each.sum(), inputs) for each, inputs in zip(results, (first, second), strict=True)]
    for gradients, inputs in zip(found, (first, second), strict=True):
        torch.testing.assert_close(gradients, torch.autograd.grad(chain(*inputs).sum(), inputs))


def test_hooks_keep_what_they_packed():
    """Catches a backward that overwrites what the user's saved-tensor hooks hold on to."""
    fn, inputs, held = compiled(chain), leaves(), []
    fn(*inputs)
    with torch.autograd.graph.saved_tensors_hooks(lambda each: held.append(each) or each, lambda each: each):
        result = fn(*inputs)
    copies = [each.detach().clone() for each in held]
    found = torch.autograd.grad(result.sum(), inputs)
    assert all(torch.equal(each, copy) for each, copy in zip(held, copies, strict=True))
    torch.testing.assert_close(found, torch.autograd.grad(chain(*inputs).sum(), inputs))


def test_results_pin_their_own_bytes():
    """Catches a result or a gradient in memory that is larger than eager's would be, or that another one has."""

    def fn(x, w):
        x = (x @ w).sin().exp()
        y = (x @ w)[:, : SIZE // 2].sin()
        return x.sum(0).exp(), (y.exp() @ w[: SIZE // 2]).cos(), (y * 2).float()

    call, inputs = compiled(fn), leaves()
    results = call(*inputs)
    gradients = torch.autograd.grad(sum(result.sum() for result in results), inputs)
    seen = [*results, *gradients]
    assert [each.untyped_storage().nbytes() for each in seen] == [each.nbytes for each in seen]
    assert len({each.untyped_storage().data_ptr() for each in seen}) == len(seen)
    torch.testing.assert_close(results, fn(*inputs))


def test_results_outlive_later_calls():
    """Catches a result whose memory a later call uses again."""
    fn, inputs = compiled(chain), [each.detach() for each in leaves()]
    first = fn(*inputs)
    copy = first.clone()
    for _ in range(3):
        fn(inputs[1], inputs[0])
    assert torch.equal(first, copy)


def test_threads():
    """Catches memory that two calls at once share."""
    fn, inputs = compiled(chain), leaves()
    expected = torch.autograd.grad(chain(*inputs).sum(), inputs)
    wrong: list[BaseException] = []

    def work():
        try:
            for _ in range(10):
                mine = [each.detach().clone().requires_grad_() for each in inputs]
                torch.testing.assert_close(torch.autograd.grad(fn(*mine).sum(), mine), expected)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@torch.library.custom_op("dovetail_test::kept_or_refused", mutates_args=())
def kept_or_refused(x: torch.Tensor) -> torch.Tensor:
    if REFUSED:
        raise ValueError("refused")
    KEPT.append(x)
    return x.clone()


@kept_or_refused.register_fake
def _(x):
    return torch.empty_like(x)


KEPT: list[torch.Tensor] = []
REFUSED: list[bool] = []


def test_custom_op_keeps_what_it_was_given():
    """Catches memory that is used again though a custom op holds on to it; and what an error in the middle leaves."""

    def fn(x, w):
        x = kept_or_refused((x @ w).sin())
        return ((x @ w).sin() @ w).cos()

    call, (x, w) = compiled(fn), [each.detach() for each in leaves()]
    KEPT.clear()
    REFUSED.append(True)
    with pytest.raises(ValueError, match="refused"):
        call(x, w)
    REFUSED.clear()
    torch.testing.assert_close(call(x, w), fn(x, w))
    torch.testing.assert_close(KEPT[0], (x @ w).sin())


def test_memory_seen_as_other_elements_is_not_used_again():
    """Would catch `view.dtype` taken for a copy: its numbers were those of a later region's result."""

    def fn(x):
        seen = (x @ x).view(torch.int16)
        product = x @ x.t()
        moved = (product * 2).exp() + x
        last = moved @ product
        return ((last * 3).sigmoid() - moved) @ last, seen.cumsum(1)

    x = leaves()[0].detach() * 8
    assert torch.equal(compiled(fn)(x)[1], fn(x)[1])


def test_double_backward():
    """Catches a gradient's gradient that is computed from overwritten saved values."""

    def layer(x, w):
        return ((x @ w).sin() @ w).exp()

    def second(fn):
        inputs = leaves()
        first = torch.autograd.grad(fn(*inputs).sum(), inputs, create_graph=True)
        return torch.autograd.grad(sum(each.square().sum() for each in first), inputs)

    torch.testing.assert_close(second(compiled(layer)), second(layer))


def test_copies_for_a_kept_graph_are_counted():
    """Catches a copy that `dovetail.stats()` does not show."""
    fn, inputs = compiled(chain), leaves()
    fn(*inputs).sum().backward()
    dovetail.stats(reset=True)
    fn(*inputs).sum().backward()
    assert dovetail.stats().copies["saved value that the backward overwrites"] == 0
    fn(*inputs).sum().backward(retain_graph=True)
    assert dovetail.stats().copies["saved value that the backward overwrites"] > 0


MODULE = """
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    LAST
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}
"""
FRESH = '%c = "dovetail.alloc"() : () -> !m'
LAST = "call @forward_region_0(%2, %2, %c) : (!v, !v, !m) -> ()"


def differences(last: str) -> list[str]:
    """What differs, run op by op, between the module that ends with `last` and one whose last result is allocated."""
    modules = [parse_module(MODULE.replace("LAST", each), make_context()) for each in (f"{FRESH}\n{LAST}", last)]
    inputs = random_inputs(modules[0])
    before, after = (run_reference(module, inputs) for module in modules)
    return before.differences(after)


def test_wrong_plans_show_in_run_check():
    """Catches a reference executor that hides what a wrong plan does to compiled regions, which write at any time."""
    assert differences(f'%c = "dovetail.reuse"(%1) : (!v) -> !m\n{LAST}') == []
    # The region's result is where its argument is.
    overlapping = '%d = torch.operator "torch.aten.detach"(%2) {dovetail.reason = "test"} : (!v) -> !v\n'
    overlapping += '%c = "dovetail.reuse"(%a) : (!m) -> !m\n' + LAST.replace("%2, %2", "%d, %d")
    with pytest.raises(UnboundLocalError):  # a view's name is gone with its memory's
        differences(overlapping)
    hidden = overlapping.replace("aten.detach", "aten.positive")
    assert "results[0]" in differences(hidden)[0]
