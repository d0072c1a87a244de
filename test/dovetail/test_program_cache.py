"""Programs from the cache: the same as they would be compiled now, or compiled."""

from pathlib import Path

import pytest
import torch
from new_process import run_python

import dovetail
from dovetail import compiler, program_cache
from dovetail.dialects.reading import Module
from dovetail.passes.pipeline import fallback_pipeline

pytestmark = pytest.mark.host


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of an empty cache that keeps programs."""
    monkeypatch.setenv("DOVETAIL_CACHE_PROGRAMS", "1")
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    return tmp_path


def origin(function, *inputs, **options) -> dict[str, int]:
    """Where the programs of a call come from, in a process that knows none; the call's results are compared."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    given, others = ([each.detach().clone().requires_grad_(each.requires_grad) for each in inputs] for _ in range(2))
    results = torch.compile(function, backend="dovetail", **options)(*given)
    expected = function(*others)
    torch.testing.assert_close([results, *given], [expected, *others])
    if results.requires_grad:
        results.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close([each.grad for each in given], [each.grad for each in others])
    return dict(dovetail.stats().programs)


def product(x, y):
    """A program without a region: nothing waits for IREE's compiler."""
    return torch.mm(x, y)


def matrices(count: int = 2) -> list[torch.Tensor]:
    return [torch.rand(3, 3).requires_grad_() for _ in range(count)]


FROM_CACHE, COMPILED = {"from the cache": 1}, {"compiled": 1}

PROGRAM = """
import torch, dovetail
torch.manual_seed(0)

def f(x, w, state):
    state.add_(1)
    return torch.nn.functional.gelu(x @ w) * 2, x.t()

x, w, state = torch.rand(4, 4).requires_grad_(), torch.rand(4, 4).requires_grad_(), torch.zeros(4)
result, view = torch.compile(f, backend="dovetail")(x, w, state)
result.sum().backward()
expected, _ = f(x, w, torch.zeros(4))
gradients = torch.autograd.grad(expected.sum(), (x, w))
torch.testing.assert_close([result, x.grad, w.grad], [expected, *gradients])
assert view._base is x and state.tolist() == [1.0] * 4
stats = dovetail.stats()
assert stats.executables == stats.regions > 0, stats
captured = [each for each in stats.compile_seconds if each in ("capture", "passes", "regions")]
print(dict(stats.programs), stats.cache_hits == stats.executables, captured)
"""


def test_a_second_process_finds_what_the_first_one_compiled(tmp_path):
    """Catches a warm start that traces, or that forgets writes, views or gradients."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    runs = [run_python("import runpy, sys; runpy.run_path(sys.argv[1])", script) for _ in range(2)]
    assert [each.returncode for each in runs] == [0, 0], runs
    assert runs[0].stdout.strip() == "{'compiled': 1} False ['capture', 'passes', 'regions']"
    assert runs[1].stdout.strip() == "{'from the cache': 1} True []"


def test_the_same_call_is_found_and_another_one_is_not():
    """Catches a key that lacks what the second call differs in."""
    x, y = matrices()
    assert origin(product, x, y) == COMPILED
    assert origin(product, x, y) == FROM_CACHE
    assert origin(product, x.detach(), y) == COMPILED
    with torch.no_grad():
        assert origin(product, x, y) == COMPILED
    assert origin(product, x, y) == FROM_CACHE
    assert origin(product, x, y, options={"memory_budget": 0.5}) == COMPILED
    assert origin(product, x.detach().t(), y) == COMPILED


@pytest.mark.parametrize("together", [False, True])
def test_arguments_that_share_memory_have_programs_of_their_own(together):
    """Catches a program for arguments that are apart, run on arguments that are one."""

    def function(x, y):
        y.copy_(torch.mm(x, y))
        return torch.mm(x, y)

    x = torch.rand(3, 3)
    expected = function(x.clone(), x.clone())
    assert origin(function, x, x) == COMPILED
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    shared = x.clone()
    result = torch.compile(function, backend="dovetail")(shared, shared if together else shared.clone())
    assert dict(dovetail.stats().programs) == (COMPILED if together else FROM_CACHE)
    if together:
        other = x.clone()
        torch.testing.assert_close(result, function(other, other))
    else:
        torch.testing.assert_close(result, expected)


def test_changed_sources_are_compiled_with(monkeypatch):
    """Catches a program that an earlier version of Dovetail made."""
    x, y = matrices()
    origin(product, x, y)
    monkeypatch.setattr(program_cache, "_sources", lambda: "other")
    assert origin(product, x, y) == COMPILED
    monkeypatch.setattr(program_cache.torch, "__version__", "other")
    assert origin(product, x, y) == COMPILED


def test_a_damaged_entry_is_compiled_again(kept):
    """Catches half of a program, or another one, that is run."""
    x, y = matrices()
    origin(product, x, y)
    (entry,) = (path for path in kept.rglob("*") if path.is_file())
    sound = entry.read_bytes()
    for damaged in (sound[:-9], sound[:-9] + b"x" + sound[-8:], b""):
        entry.write_bytes(damaged)
        assert origin(product, x, y) == {"compiled, since its entry was damaged": 1}
        assert entry.read_bytes() == sound
        assert origin(product, x, y) == FROM_CACHE


def test_an_entry_that_is_no_program_is_compiled_again(kept, monkeypatch):
    """Catches an entry of another machine or format that ends a call."""
    x, y = matrices()
    origin(product, x, y)
    monkeypatch.setattr("dovetail.runtime.artifact.FORMAT", 99)
    (why,) = origin(product, x, y)
    assert why.startswith("compiled, since its entry can't be loaded: program-")
    assert "is of format 3, this version of Dovetail reads format 99" in why
    assert origin(product, x, y) == FROM_CACHE


@torch._dynamo.allow_in_graph
def opaque(x):
    return torch.mm(x, x)


def test_what_has_no_key_is_counted_with_its_reason():
    """Catches a graph that is compiled anew in each process, and nobody says why."""
    (x,) = matrices(1)
    for _ in range(2):
        assert origin(lambda x: opaque(x), x) == {"not kept: opaque is a function in Python that is not PyTorch's": 1}
    assert origin(lambda x: torch.mm(x, x), x, dynamic=True) == {"not kept: sizes that Dynamo leaves open": 1}
    assert origin(lambda x: torch.mm(x, x), x, options={"cache": False}) == {"not kept: the option 'cache' is off": 1}


def test_the_environment_turns_it_off(monkeypatch):
    """Catches a switch that is taken for another, or passed over."""
    x, y = matrices()
    monkeypatch.setenv("DOVETAIL_CACHE_PROGRAMS", "0")
    for _ in range(2):
        assert origin(product, x, y) == {"not kept: DOVETAIL_CACHE_PROGRAMS=0": 1}
    monkeypatch.setenv("DOVETAIL_CACHE_PROGRAMS", "no")
    with pytest.raises(Exception, match="DOVETAIL_CACHE_PROGRAMS=no: expected 0 or 1"):
        origin(product, x, y)


def test_a_region_that_did_not_compile_is_tried_again(monkeypatch):
    """Catches a time-out on a busy machine that outlives the process."""

    def failing(module, options, runner, regions):
        runner.run(fallback_pipeline([next(iter(Module(module).regions))], "time-out"), module)
        return {}

    monkeypatch.setattr(compiler, "build", failing)
    assert origin(lambda x: x.sin() + 1, torch.rand(8)) == {
        "not kept: a region did not compile, which is tried again": 1
    }


def test_what_shows_its_stages_is_counted(tmp_path, monkeypatch):
    """Programs whose stages were dumped stood in no line of the statistics."""
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path / "dump"))
    for _ in range(2):
        assert origin(product, *matrices()) == {"not kept: its stages are dumped or explained": 1}
