"""Options, logs and dumps, as a user meets them; and what happens when IREE can't compile a region."""

import re
from types import SimpleNamespace

import pytest
import torch
from new_process import run_python

import dovetail
from dovetail import loading
from dovetail.backends.compiling.outcomes import CompiledRegion, CompileFailure
from dovetail.tools.opt.command import main as opt


def fn(x, w):
    return torch.softmax(x * w, -1).sin()


def inputs() -> list[torch.Tensor]:
    return [torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_() for _ in range(2)]


def run(call) -> list[torch.Tensor]:
    arguments = inputs()
    result = call(*arguments)
    (result * torch.arange(12.0).reshape(3, 4)).sum().backward()
    return [result.detach(), *(argument.grad for argument in arguments)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strcit": True}, "unknown option 'strcit' (did you mean 'strict'?)"),
        ({"strict": 1}, "option 'strict' expects bool, got 1"),
        ({"partition": "max-cut"}, "option 'partition' expects one of 'min-cut', 'default', got 'max-cut'"),
    ],
)
def test_bad_options(options, message):
    """Catches an option that is silently ignored."""
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=re.escape(message)):
        torch.compile(torch.sin, backend="dovetail", options=options)(torch.ones(3))


@pytest.mark.parametrize("partition", ["min-cut", "default"])
def test_partitions(partition):
    """Catches an algorithm that saves too little or recomputes something else."""
    actual = run(torch.compile(fn, backend="dovetail", options={"partition": partition}))
    torch.testing.assert_close(actual, run(fn))


def test_region_that_does_not_load(monkeypatch):
    """Catches an exception in the user's process where IREE's runtime refuses what its compiler made."""

    def compiled(texts, target, **_):
        return SimpleNamespace(
            target=target,
            stop=lambda: None,
            outcomes=lambda: {name: CompiledRegion(b"no module", "main") for name in texts},
        )

    monkeypatch.setattr(loading, "Compilation", compiled)
    dovetail.stats(reset=True)
    torch.testing.assert_close(run(torch.compile(fn, backend="dovetail")), run(fn))
    assert any("can't be loaded" in reason for _, reason in dovetail.stats().library_calls)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"StrictError.*can't be loaded"):
        torch.compile(fn, backend="dovetail", options={"strict": True})(*inputs())


def test_region_with_a_constant_that_does_not_compile(monkeypatch):
    """Catches an exception, or one tensor handed out in every call, where a failed region held a constant tensor."""

    def fail(texts, target, **_):
        failure = CompileFailure("crash: SIGSEGV", "", "iree-compile FILE")
        return SimpleNamespace(target=target, stop=lambda: None, outcomes=lambda: dict.fromkeys(texts, failure))

    monkeypatch.setattr(loading, "Compilation", fail)
    compiled = torch.compile(lambda x: (x * torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])), backend="dovetail")
    for _ in range(2):
        product, constant = compiled(torch.ones(2))
        assert (product.tolist(), constant.tolist()) == ([2.0, 3.0], [4.0, 5.0])
        constant.zero_()


def test_region_that_does_not_compile(monkeypatch):
    """Catches a failed region that raises, computes something else or goes uncounted."""
    reason = "time-out after 120 s"

    def fail(texts, target, **_):
        failure = CompileFailure(reason, "", "iree-compile FILE")
        return SimpleNamespace(target=target, stop=lambda: None, outcomes=lambda: dict.fromkeys(texts, failure))

    monkeypatch.setattr(loading, "Compilation", fail)
    before = dovetail.stats().ops["fallback"]
    torch.testing.assert_close(run(torch.compile(fn, backend="dovetail")), run(fn))
    stats = dovetail.stats()
    assert stats.ops["fallback"] > before
    assert any(reason in why for _, why in stats.library_calls)
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="StrictError.*" + reason):
        torch.compile(fn, backend="dovetail", options={"strict": True})(*inputs())


def test_region_that_takes_too_long():
    """Catches a time-out that reaches the user as an exception."""
    options = {"timeout": 0.01, "cache": False}
    torch.testing.assert_close(run(torch.compile(fn, backend="dovetail", options=options)), run(fn))


# PyTorch reads TORCH_LOGS when it is imported, which it is already.
LOGGED = """
import torch
torch._logging._init_logs()
torch.compile(lambda x: x.sin() * 2, backend="dovetail")(torch.ones(3))
"""


def test_logs(capfd, monkeypatch):
    """Catches TORCH_LOGS that knows nothing of us, or logs where nobody asked."""
    with monkeypatch.context() as asking:
        asking.setenv("TORCH_LOGS", "+dovetail")
        assert "func.func @call" in run_python(LOGGED).stderr
    torch.compile(lambda x: x.sin() * 2, backend="dovetail")(torch.ones(3))
    assert "func.func" not in capfd.readouterr().err


def test_dump_replays(monkeypatch, tmp_path, capsys):
    """Catches stages that miss something: each must replay by itself, the last one run in another process."""
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path))
    arguments = inputs()
    with torch.no_grad():
        expected = torch.compile(fn, backend="dovetail")(*arguments)
    (folder,) = tmp_path.iterdir()
    stages = sorted(folder.glob("*.mlir"))
    assert [stage.name.split("_")[0] for stage in stages] == [f"{index:02d}" for index in range(len(stages))]
    assert (folder / "program.py").read_text()
    assert opt([str(stages[0]), "--pass-pipeline=compile"]) == 0
    assert 'dovetail.role = "region"' in capsys.readouterr().out
    torch.save(arguments, folder / "arguments.pt")
    load = (
        "import sys, torch; from torch_mlir import ir; from dovetail.dialects.context import make_context;"
        "from dovetail.runtime.program import load_program; folder, stage = sys.argv[1:];"
        "module = ir.Module.parse(open(stage).read(), make_context());"
        "arguments = torch.load(folder + '/arguments.pt');"
        "torch.save([each.detach() for each in load_program(module, {})[0](list(arguments))], folder + '/results.pt')"
    )
    assert run_python(load, folder, stages[-1]).returncode == 0
    torch.testing.assert_close(torch.load(folder / "results.pt"), [expected])
