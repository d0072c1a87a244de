"""From regions to executables: what fails is split and tried again, so that only the ops at fault are library calls."""

import pytest
import torch
from torch_mlir import ir

import dovetail
from dovetail import build, compiler, loading
from dovetail.backends.compiling import iree
from dovetail.backends.compiling.compiler_runs import Cause
from dovetail.backends.compiling.iree import Compilation
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.errors import DefectWarning, StartError, StrictError
from dovetail.passes.base import Pass


def _failing_on(monkeypatch, *ops: str, reason: str = "crash: SIGSEGV", cause: Cause = Cause.CRASH) -> list[int]:
    """Makes each region with one of `ops` in it fail; the list gets the number of regions of each round."""
    rounds: list[int] = []

    def compiled(texts, target, **options):
        rounds.append(len(texts))
        bad = {name for name, text in texts.items() if any(f"torch.aten.{op} " in text for op in ops)}
        good = {name: text for name, text in texts.items() if name not in bad}
        failure = CompileFailure(reason, "", "iree-compile FILE", cause)
        compiling = Compilation(good, target, **options)
        outcomes = compiling.outcomes
        compiling.outcomes = lambda: {**outcomes(), **dict.fromkeys(bad, failure)}
        return compiling

    monkeypatch.setattr(loading, "Compilation", compiled)
    return rounds


def _nine_ops(x, y):
    a = torch.relu(x * 2 + 1)
    b = torch.exp(a - y)
    return torch.sigmoid(b.abs() + x.neg()), a


def _run(function, **options):
    dovetail.stats(reset=True)
    arguments = (torch.linspace(-1, 1, 12).reshape(3, 4), torch.ones(3, 4))
    with torch.no_grad():
        results = torch.compile(function, backend="dovetail", options=options)(*arguments)
    torch.testing.assert_close(results, function(*arguments))
    return dovetail.stats()


def test_one_op_at_fault_is_one_library_call(monkeypatch):
    """Would catch eight good ops that run through ATen because a ninth one in their region does not compile."""
    rounds = _failing_on(monkeypatch, "exp")
    stats = _run(_nine_ops)
    assert stats.library_calls == {("aten.exp.default", "fallback: crash: SIGSEGV"): 1}
    assert stats.ops["region"] == 8
    # Nine ops need at most ceil(log2 9) splits, each followed by a round for its two parts.
    assert 1 <= stats.splits <= 4
    assert stats.failures == {"crash: SIGSEGV": stats.splits + 1}
    assert rounds == [1] + [2] * stats.splits


def test_splits_are_bounded(monkeypatch):
    """Would catch a region of n bad ops that costs n compilations: after 2 log2(n) splits the rest is called."""
    _failing_on(monkeypatch, *"exp mul.Scalar relu sub.Tensor abs neg add.Scalar add.Tensor sigmoid".split())
    stats = _run(_nine_ops)
    assert stats.ops["region"] == 0
    assert stats.ops["fallback"] == 9
    assert stats.splits == 8


def test_time_outs_cost_more_splits(monkeypatch):
    """Would catch minutes of waiting: a part of a region that hangs is likely to hang, too."""
    _failing_on(monkeypatch, "exp", reason="time-out after 120 s", cause=Cause.TIME_OUT)
    stats = _run(_nine_ops)
    assert stats.splits == 2
    assert stats.ops["region"] > 0
    assert ("aten.exp.default", "fallback: time-out after 120 s") in stats.library_calls


def test_strict_mode_objects_to_the_op_at_fault(monkeypatch):
    """Would catch an error that names the first op of the region, or none since most of it compiles."""
    _failing_on(monkeypatch, "exp")
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"aten\.exp can't be compiled: crash") as caught:
        _run(_nine_ops, strict=True)
    assert isinstance(caught.value.inner_exception, StrictError)


def test_strict_mode_says_what_is_missing():
    """Would catch an error that goes in a circle: that there is no way to compile it since nothing compiles it."""
    arguments = (torch.ones(4),)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        torch.compile(torch.fft.rfft, backend="dovetail", options={"strict": True})(*arguments)
    location, _, said = str(caught.value.inner_exception).partition("): ")
    assert isinstance(caught.value.inner_exception, StrictError)
    assert "loc(" in location
    assert said == (
        "torch.aten._fft_r2c can't be compiled: no row in dialects/torch_facts/rows; docs/ops.md says which row "
        "decides, CONTRIBUTING.md (\"An ATen op\") how to change it, and without 'strict' it runs through ATen"
    )


def test_an_update_in_place_is_split_by_what_it_stores(monkeypatch):
    """Would catch a part that reads a parameter after another part has overwritten it."""
    _failing_on(monkeypatch, "tanh")

    def step(p, q, g):
        p.add_(g)
        q.mul_(g.tanh())

    expected, actual = ([torch.ones(8), torch.full((8,), 3.0), torch.linspace(-1, 1, 8)] for _ in range(2))
    dovetail.stats(reset=True)
    step(*expected)
    torch.compile(step, backend="dovetail")(*actual)
    torch.testing.assert_close(actual, expected)
    stats = dovetail.stats()
    assert stats.splits == 1
    assert {op for op, _ in stats.library_calls} == {"aten.tanh.default", "aten.mul.Tensor"}


def test_what_the_runtime_refuses_to_load_is_split_too(monkeypatch):
    """Would catch an IndexError in the user's process: IREE's runtime binds a few dozen tensors to a dispatch."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    load = loading.Executable

    def refusing(compiled, driver, name):
        if name == "forward_region_0":
            raise IndexError("OUT_OF_RANGE; dispatch requiring 200 bindings exceeds limit of 64")
        return load(compiled, driver=driver, name=name)

    monkeypatch.setattr(loading, "Executable", refusing)
    stats = _run(_nine_ops)
    assert (stats.splits, stats.ops["region"], stats.ops["fallback"]) == (1, 9, 0)


def test_a_plan_whose_code_cannot_be_loaded_gives_way(monkeypatch):
    """Would catch such a region that is compiled once more for another target or within other limits, or op by op."""
    made: list[tuple] = []

    def compiled(texts, target, **options):
        made.append((target, options))
        return Compilation(texts, target, **options)

    monkeypatch.setattr(iree, "Compilation", compiled)
    monkeypatch.setattr(loading, "Compilation", compiled)
    monkeypatch.setattr(loading, "unloadable", lambda *_: "the code is of another machine")
    stats = _run(_nine_ops, cache=False, timeout=321)
    assert stats.launches == {"iree.runtime: the code is of another machine": 1}
    assert stats.ops["fallback"] == 0
    (first, asked), (again, options) = made
    assert first is again
    assert asked["timeout"] == options["timeout"] == 321
    assert (asked["plans"], options.get("plans", False)) == (True, False)


def test_regions_compile_while_passes_go_on(monkeypatch):
    """Catches a pass behind where regions are begun that changes one, which is then compiled once more."""
    rounds = _failing_on(monkeypatch)
    x, weight = torch.rand(8, 16), torch.rand(4, 16, requires_grad=True)
    rows = torch.zeros(4)

    def step(x, weight, rows):
        rows.add_(weight.detach().sum(-1))
        return torch.layer_norm(x @ weight.t() + rows, (4,)).softmax(-1)

    dovetail.stats(reset=True)
    torch.compile(step, backend="dovetail")(x, weight, rows).sum().backward()
    assert dovetail.stats().regions > 2
    assert len(rounds) == 1


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({}, ["several_loops", "flushed", "read_later"]),
        ({"several_loops": ["forward_region_0"]}, ["several_loops", "several_loops", "flushed", "read_later"]),
        ({"flushed": {"forward_region_0": "a reason"}}, ["several_loops", "flushed"] * 2 + ["read_later"]),
        (
            {"several_loops": ["forward_region_0"], "flushed": {"forward_region_0_0": "a reason"}},
            ["several_loops", *["several_loops", "flushed"] * 2, "read_later"],
        ),
        ({"read_later": {"a reason": ["forward_region_0"]}}, ["several_loops", "flushed", "read_later"]),
    ],
)
def test_what_is_asked_of_plans(monkeypatch, answers: dict, asked: list[str]):
    """Catches regions that are asked of while others of their module are changed: each answer that changes a region
    has all asked anew, but that results lie apart, which changes none."""
    seen: list[str] = []
    left = dict(answers)

    def noting(name: str, ask):
        def noted(*arguments):
            seen.append(name)
            found = ask(*arguments)
            return left.pop(name, found)

        return noted

    for name in ("several_loops", "flushed", "read_later"):
        monkeypatch.setattr(build, name, noting(name, getattr(build, name)))
    stats = _run(_nine_ops)
    assert seen == asked
    assert not left
    assert stats.splits == ("several_loops" in answers)
    assert (stats.ops["fallback"] > 0) == ("flushed" in answers)
    assert stats.kept_apart == ({"a reason": 1} if "read_later" in answers else {})


def test_nothing_is_asked_of_plans_beside_a_failure(monkeypatch):
    """Catches a question about a region that the answer to a failure has taken out of the module."""
    rounds = _failing_on(monkeypatch, "exp")
    asked: list[int] = []
    ask = build.several_loops

    def noting(*arguments):
        asked.append(len(rounds))
        return ask(*arguments)

    monkeypatch.setattr(build, "several_loops", noting)
    _run(_nine_ops)
    assert len(rounds) > 1
    assert asked == [len(rounds)]


class _Failing(Pass, name="test-fails"):
    def run(self, module: ir.Module) -> None:
        raise ValueError("a defect")


def test_what_compiles_ends_where_a_pass_fails(monkeypatch):
    """Catches IREE's processes that go on for a graph that runs eagerly, and delay the end of the program."""
    begun: list[Compilation] = []

    def compiled(*arguments, **options):
        begun.append(Compilation(*arguments, **options))
        return begun[-1]

    monkeypatch.setattr(loading, "Compilation", compiled)
    monkeypatch.setattr(compiler, "AROUND_REGIONS", (_Failing(),))
    with pytest.warns(DefectWarning, match="a defect"):
        _run(_nine_ops, cache=False)
    (compilation,) = begun
    with pytest.raises(StartError, match="compilation was stopped"):
        compilation.outcomes()
