"""The options of `dovetail-opt`: what they do, and what a mistake is told."""

from pathlib import Path

import pytest

from dovetail.passes.base import registry
from dovetail.passes.pipeline import PIPELINES, compile_pipeline
from dovetail.tools.opt.command import main

MODULE = """\
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %2 = torch.aten.exp %0 : !v -> !v
    %3 = torch.aten.mul.Tensor %1, %2 : !v, !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a module at level `joint`."""
    (tmp_path / "module.mlir").write_text(MODULE)
    return str(tmp_path / "module.mlir")


def _run(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[str, str]:
    """What a run that must succeed writes to stdout and stderr."""
    assert main(list(arguments)) == 0, capsys.readouterr().err
    captured = capsys.readouterr()
    return captured.out, captured.err


def _headers(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("// -----//")]


@pytest.mark.parametrize(
    ("single", "pipeline"),
    [
        (["--merge-equal-values"], "merge-equal-values"),
        (["--partition=algorithm=default", "--cse"], "partition{algorithm=default},cse"),
        (["--merge-equal-values", "--partition", "--verify-level=level=split"], None),
        (["--compile=partition=default memory-budget=1.0"], "compile{partition=default}"),
        (["--partition="], "partition"),
    ],
)
def test_single_passes_are_a_pipeline(path: str, single: list, pipeline: str | None, capsys: pytest.CaptureFixture):
    """Would catch options of a pass that are lost, or passes out of order."""
    pipeline = pipeline or "merge-equal-values,partition,verify-level{level=split}"
    assert _run(capsys, *single, path) == _run(capsys, path, f"--pass-pipeline={pipeline}")


def test_single_pass_does_not_take_the_file_for_its_options(path: str, capsys: pytest.CaptureFixture):
    """Would catch `--cse FILE`, as people write it, that waits for a module on standard input."""
    out, _ = _run(capsys, "--merge-equal-values", path)
    assert out.count("torch.aten.exp") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--partition", "--pass-pipeline=cse"],
            "either --pass-pipeline or passes as options, got also --partition",
        ),
        (
            ["--emit-bytecode", "--split-input-file"],
            "--emit-bytecode writes one module, which --split-input-file does not leave",
        ),
        (["--zzz-qqq"], "unknown option '--zzz-qqq'; see --help, and --list-passes for the passes"),
        (["--partitoin"], "unknown option '--partitoin'; did you mean '--partition'?"),
        (["--stop-affter=split"], "unknown option '--stop-affter=split'; did you mean '--stop-after'?"),
        (["-canonicalize"], "unknown option '-canonicalize'; did you mean '--canonicalize'?"),
        (["-outline-regions"], "unknown option '-outline-regions'; did you mean '--outline-regions'?"),
        (["--inline"], "unknown option '--inline'; MLIR's pass 'inline' stands in --pass-pipeline=inline"),
        (["-sroa"], "unknown option '-sroa'; MLIR's pass 'sroa' stands in --pass-pipeline=sroa"),
        (["other.mlir"], "expected one FILE, got also 'other.mlir'"),
        (
            ["--stop-after=last"],
            "argument --stop-after: invalid choice: 'last' (choose from 'joint', 'split', 'program', 'regions')",
        ),
        (["--verify-each=no"], "argument --verify-each: invalid choice: 'no' (choose from 'true', 'false')"),
    ],
)
def test_wrong_options_are_told(path: str, arguments: list, message: str, capsys: pytest.CaptureFixture):
    """Would catch a combination of which one half is silently ignored, or a message without the option's name."""
    with pytest.raises(SystemExit) as ended:
        main([path, *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"usage: dovetail-opt [OPTION ...] [FILE]\ndovetail-opt: error: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--partition=algo=default"], "pass 'partition' has no option 'algo', valid are "),
        (
            ["--partition=default"],
            "pass 'partition': can't read option 'default', expected name=value; valid are 'algorithm',"
            " 'memory-budget'\n",
        ),
        (["--partition", "--mlir-print-ir-after=cse"], "--mlir-print-ir-after=cse: the pipeline has 'partition'"),
        (["--mlir-print-ir-before=cse"], "--mlir-print-ir-before=cse: the pipeline has no pass"),
        (
            ["--partition", "--stop-after=split"],
            "the pipeline has no 'verify-level{level=split}', where level 'split' is reached",
        ),
    ],
)
def test_wrong_passes_are_told(path: str, arguments: list, message: str, capsys: pytest.CaptureFixture):
    """Would catch a module printed for nothing: never where asked, and with success."""
    assert main([path, *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"dovetail-opt: {message}")
    assert captured.out == ""


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        (["--mlir-print-ir-before=partition"], ["Before partition"]),
        (["--mlir-print-ir-after=partition", "--mlir-print-ir-after=cse"], ["After partition", "After cse"]),
        (["--mlir-print-ir-before-all"], ["Before merge-equal-values", "Before partition", "Before cse"]),
        (["--mlir-print-ir-after-all"], ["After merge-equal-values", "After partition", "After cse"]),
    ],
)
def test_module_is_printed_around_passes(path: str, arguments: list, headers: list, capsys: pytest.CaptureFixture):
    """Would catch a module that is not printed where asked, in a form that other tools don't know, or on stdout."""
    passes = ["--merge-equal-values", "--partition", "--cse"]
    plain, _ = _run(capsys, path, *passes)
    out, err = _run(capsys, path, *passes, *arguments)
    assert out == plain
    assert _headers(err) == [f"// -----// IR Dump {each} //----- //" for each in headers]


def test_printed_module_is_that_of_its_stage(path: str, capsys: pytest.CaptureFixture):
    """Would catch 'before' and 'after' printing the same."""
    _, before = _run(capsys, path, "--merge-equal-values", "--mlir-print-ir-before-all")
    _, after = _run(capsys, path, "--merge-equal-values", "--mlir-print-ir-after-all")
    assert before.count("torch.aten.exp") == 2
    assert after.count("torch.aten.exp") == 1


def test_timing_lists_each_pass(path: str, capsys: pytest.CaptureFixture):
    """Would catch a pass that nobody times, a share of nothing, and a table in the way of the module."""
    out, err = _run(capsys, path, "--merge-equal-values", "--partition", "--mlir-timing")
    assert out == _run(capsys, path, "--merge-equal-values", "--partition")[0]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in err.splitlines() if line.startswith("│")]
    assert [stage for _, _, stage in rows] == ["(parse)", "merge-equal-values", "partition", "(print)", "total"]
    assert sum(float(share) for _, share, _ in rows[:-1]) == pytest.approx(100, abs=0.3)


@pytest.mark.parametrize("level", ["joint", "split", "program", "regions"])
def test_stop_after_ends_the_pipeline_where_the_level_is_verified(level: str, path: str, capsys: pytest.CaptureFixture):
    """Would catch a stage too many or too few, or a level that is claimed and not verified."""
    _, err = _run(capsys, path, f"--stop-after={level}", "--mlir-print-ir-after-all")
    names = [each.name for each in compile_pipeline()]
    verified = [str(each) for each in compile_pipeline()].index(
        "verify-level" + f"{{level={level}}}" * (level != "joint")
    )
    assert _headers(err) == [f"// -----// IR Dump After {name} //----- //" for name in names[: verified + 1]]


def test_stop_after_cuts_a_given_pipeline(path: str, capsys: pytest.CaptureFixture):
    """Would catch the pipeline's own options that are lost, or passes beyond the level that run."""
    out, _ = _run(capsys, path, "--pass-pipeline=compile{partition=default}", "--stop-after=split")
    assert 'dovetail.level = "split"' in out


def test_every_pass_is_listed(capsys: pytest.CaptureFixture):
    """Would catch a pass, an option or a pipeline that exists and that the user can't find."""
    out, _ = _run(capsys, "--list-passes")
    lines = out.splitlines()
    for name, each in registry().items():
        at = lines.index(f"  --{name}")
        assert lines[at + 1] == f"      {each.summary()}"
        for option in each.described_options():
            assert f"      - {option}" in lines[at:]
    for name in PIPELINES:
        assert f"  --{name}" in lines
