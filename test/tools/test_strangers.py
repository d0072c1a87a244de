"""Modules of strangers: a result or one clear error, and nothing of theirs runs."""

import re
from pathlib import Path

import pytest
from modules import TRAINED
from new_process import run_python

from dovetail.dialects.context import make_context, parse_module
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.compile import main as compile_
from dovetail.tools.opt.command import main as opt
from dovetail.tools.run.command import main as run


@pytest.fixture(scope="module")
def lowered() -> str:
    """A module at level `regions`, with a region that computes `exp(x) * b`."""
    module, runner = parse_module(TRAINED, make_context()), Runner()
    # Too small for regions by the cost model, which is not what is tested here.
    runner.run(tuple(each for each in compile_pipeline() if each.name != "call-small-regions"), module)
    text = str(module)
    assert "call @forward_region_0(" in text
    return text


def _calling(text: str, operator: str) -> str:
    """`text` with another operator in place of its `exp`."""
    return re.sub(r"torch\.aten\.exp (%\w+) : (\S+) -> ", rf'torch.operator "{operator}"(\1) : (\2) -> ', text)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a module to a file, in a folder of its own that is the current one; returns its path."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def write(text: str) -> str:
        (tmp_path / "module.mlir").write_text(text)
        return str(tmp_path / "module.mlir")

    return write


HOSTILE = "@\"z(a):\\0A    pass\\0Aopen('made', 'w')\\0Adef forward_region_1\""
INPUTS = ("--input=2x3xf32=0", "--input=2x3xf32=1,2,3,4,5,6")
RESULT = "result 0: 2x3xf32=[[1.,2.,3.],\n [4.,5.,6.]]\n"


@pytest.mark.parametrize("command", ["opt", "run"])
def test_symbol_does_not_run(written, lowered: str, command: str, capsys: pytest.CaptureFixture[str]):
    """Catches a function's name that ends Python's `def`, with statements after it."""
    path = written(lowered.replace("@forward_region_0", HOSTILE))
    status = opt([path, "--run-check"]) if command == "opt" else run([path, "--reference", *INPUTS])
    assert status == 0, capsys.readouterr().err
    assert list(Path().iterdir()) == []
    assert command == "opt" or capsys.readouterr().out.startswith(RESULT)


@pytest.mark.parametrize("name", "ready with_strides v0 torch write_tracked import arguments exp".split())
def test_symbol_takes_no_name_of_ours(written, lowered: str, name: str, capsys: pytest.CaptureFixture[str]):
    """Catches a region that the program calls in place of what the runtime put there."""
    path = written(lowered.replace("@forward_region_0", f"@{name}"))
    assert run([path, "--reference", *INPUTS]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.startswith(RESULT)


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        ("torch.aten.from_file", "may not call the operator 'aten.from_file.default'"),
        ("torch.profiler._record_function_enter_new", "may not call the operator 'profiler._record_function_enter_new"),
        ("torch.load_library.x", "may not call the operator 'load_library.x.default'"),
        ("torch.aten.save", "has no operator 'aten.save.default'"),
        ("torch.aten.__class__.mro", "has no operator 'aten.__class__.mro'"),
        ("torch.aten.exp.default.__call__", "has no operator 'aten.exp.default.__call__'"),
    ],
)
def test_operator_is_one_on_tensors(
    written, lowered: str, operator: str, message: str, capsys: pytest.CaptureFixture[str]
):
    """Catches an operator that opens files, or an attribute of PyTorch's that is none."""
    assert opt([written(_calling(lowered, operator)), "--run-check"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("dovetail-opt: can't run the module as it is: loc(") or "may not call" in error
    assert message in error
    assert list(Path().iterdir()) == []


def test_terminal_gets_no_codes(written, capsys: pytest.CaptureFixture[str]):
    """Catches a name that clears the screen, or writes what looks like another command's output."""
    module = written(TRAINED.replace('dovetail.name = "b"', r'dovetail.name = "\1B]0;owned\07"'))
    assert run([module, "--reference"]) == 0
    assert run([module, "--reference", "--input=3"]) == 1
    printed = capsys.readouterr()
    assert "\x1b" not in printed.err + printed.out
    assert r"(\x1b]0;owned\x07)" in printed.err


@pytest.mark.parametrize(
    ("said", "stated", "message"),
    [
        ('"local-sync"', '"remote"', "expects 'dovetail.driver' to be one of local-sync, local-task, got \"remote\""),
        ('"local-sync"', "3 : i64", "expects 'dovetail.driver' to be one of local-sync, local-task, got 3 : i64"),
        (
            '"region"',
            '"region", dovetail.variant = "--help"',
            "expects 'dovetail.variant' to be default, data-tiling, undistributed, ",
        ),
    ],
)
def test_way_to_compile_is_one_of_ours(
    written, lowered: str, said: str, stated: str, message: str, capsys: pytest.CaptureFixture[str]
):
    """Catches a device that a text chooses, or an option of the compiler's."""
    assert run([written(lowered.replace(said, stated))]) == 1
    assert message in capsys.readouterr().err


def test_level_is_a_word(written, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback for a number where the level should stand."""
    assert run([written(TRAINED.replace('dovetail.level = "joint"', "dovetail.level = 4.0")), "--reference"]) == 1
    assert "expected a module with 'dovetail.level'" in capsys.readouterr().err


def test_remarks_need_sense(written, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback for a saved value that is the caller's memory, which has no size of its own."""
    text = """
!r = !dovetail.ref<!torch.vtensor<[2],f32>, strided<[1]>>
func.func @forward(%x: !r) -> (!r {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
  return %x : !r
}
"""
    assert opt([written(text), "--remarks"]) == 0
    assert "0 are saved between forward and backward" in capsys.readouterr().err


def test_plan_of_no_form_is_an_error(written, lowered: str, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback for a launch plan that names no region."""
    text = lowered.replace('dovetail.level = "regions"', 'dovetail.level = "launches"')
    plan = '  func.func private @plan() attributes {dovetail.plan, dovetail.role = "plan"} {\n    return\n  }\n'
    end = text.rindex("}")
    assert run([written(text[:end] + plan + text[end:]), "--reference"]) == 1
    assert "expected a plan with a body, of one region and with its code, got '@plan'" in capsys.readouterr().err


def test_body_is_one_block_that_returns(written, capsys: pytest.CaptureFixture[str]):
    """Catches a function of which only the first block runs."""
    text = 'func.func private @joint() attributes {dovetail.role = "joint"}\n'
    assert opt([written(text), "--run-check"]) == 1
    assert "expected '@joint' to have one block, which returns, got 0 blocks" in capsys.readouterr().err


def test_wrong_number_of_operands_is_located(written, lowered: str, capsys: pytest.CaptureFixture[str]):
    """Catches an error of Python's that names neither the op nor its line."""
    assert opt([written(_calling(lowered, "torch.aten.add.Tensor")), "--run-check"]) == 1
    error = capsys.readouterr().err
    assert re.search(r"module\.mlir\":\d+:\d+\): 'torch.operator' op can't be said in Python: ", error)
    assert "aten.add.Tensor takes 3 arguments, got 1" in error


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback of the bindings' for a diagnostic that quotes a name of any bytes."""
    path = tmp_path / "module.mlirbc"
    assert opt([_write(tmp_path, TRAINED), "--emit-bytecode", "-o", str(path)]) == 0
    path.write_bytes(path.read_bytes().replace(b"aten.exp", b"\xff\xfe\xff\xfe.exp"))
    assert opt([str(path)]) == 1
    assert "dovetail-opt: MLIR can't read the module, and its message is no UTF-8 text" in capsys.readouterr().err


@pytest.mark.parametrize("change", [("@joint", r'@"\FF\FE"'), ('role = "joint"', r'role = "\FF\FE"')])
def test_names_that_are_no_text(written, change: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    """Catches a traceback of the bindings' for a name that Python can't read, before any pass runs."""
    assert change[0] in TRAINED
    assert opt([written(TRAINED.replace(*change)), "--run-check"]) == 1
    assert "dovetail-opt: the module has a name that is no UTF-8 text: " in capsys.readouterr().err


def test_operator_whose_name_is_no_text(written, lowered: str, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback of the bindings' for an operator's name that Python can't read."""
    assert run([written(_calling(lowered, r"\\FF\\FE")), "--reference"]) == 1
    error = capsys.readouterr().err
    assert re.search(r"module\.mlir.*: the operator's name is no UTF-8 text: ", error)


def _write(folder: Path, text: str) -> str:
    (folder / "module.mlir").write_text(text)
    return str(folder / "module.mlir")


@pytest.mark.parametrize(("tool", "arguments"), [("opt", []), ("run", ["--reference"]), ("compile_", ["-o", "out"])])
def test_signal_is_one_error(tmp_path: Path, tool: str, arguments: list[str]):
    """Catches a command that ends with "Segmentation fault" where MLIR's parser has no stack left."""
    path = _write(tmp_path, f"module attributes {{a = affine_map<(d0) -> ({'-' * 400_000}d0)>}} {{}}")
    program = f"import os; from dovetail.tools import contained; os.chdir({str(tmp_path)!r}); exit(contained.{tool}())"
    done = run_python(program, path, *arguments)
    message = "the input could not be processed, SIGSEGV ended the process that did"
    assert (done.returncode, done.stderr) == (1, f"dovetail-{tool.removesuffix('_')}: {message}\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["module.mlir"]


DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"module attributes {{a = {'tuple<' * DEEP}i1{'>' * DEEP}}} {{}}",
        f"module attributes {{a = {'[' * DEEP}{']' * DEEP}}} {{}}",
        "module {\n" * DEEP + "}\n" * DEEP,
        f"module {{}} loc({'callsite(' * DEEP}unknown{' at unknown)' * DEEP})",
    ],
    ids=["types", "attributes", "regions", "locations"],
)
def test_nesting_is_bounded(written, text: str, capsys: pytest.CaptureFixture[str]):
    """Catches types that MLIR takes a minute to read, and what leaves its parser no stack."""
    assert opt([written(text)]) == 1
    assert re.fullmatch(
        r"dovetail-opt: brackets are nested 2000\d deep, expected at most 500\n", capsys.readouterr().err
    )


def test_nesting_is_of_brackets(written, capsys: pytest.CaptureFixture[str]):
    """Catches what looks like a bracket counted as one: in strings, in comments, arrows and comparisons."""
    strings = ", ".join(['"({[<\\""'] * 600)
    sets = "affine_set<(d0) : (d0 >= 0, d0 - 1 <= 0)>, " * 600
    text = f"module attributes {{dovetail.a = [{strings}], dovetail.b = [{sets}1]}} {{\n{'// ((((' * 600}\n}}"
    assert opt([written(text)]) == 0, capsys.readouterr().err
    below = "func.func private @f() -> i1\n" * 5 + f"module attributes {{a = {'[' * 501}{']' * 501}}} {{}}"
    assert opt([written(below)]) == 1
    assert "nested 502 deep" in capsys.readouterr().err


def test_one_element_may_have_any_stride(written, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback from comparing inputs with what they were: bytes can't be viewed by such a stride."""
    module = TRAINED.replace("[2,3]", "[1]").replace("strided<[3, 1]>", "strided<[99999]>")
    assert run([written(module), "--reference", "--input=1xf32=0", "--input=1xf32=3"]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.startswith("result 0: 1xf32=[3.]\ninput 1 (b), changed: 1xf32=[-3.]\n")


def test_result_that_cannot_be_shown_is_an_error(written, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback for an element type that numpy does not have."""
    text = """
!v = !torch.vtensor<[2],f8E5M2>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    return %x : !r
  }
}
"""
    assert run([written(text), "--reference"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("dovetail-run: can't run the module: ")
    assert error.count("\n") == 1


VALUE = "!torch.vtensor<[4,4],f32>"
REF = f"!dovetail.ref<{VALUE}, strided<[4, 1]>>"
JOINT = f"""
module attributes {{dovetail.level = "joint"}} {{
  func.func @joint(%x: {REF}) -> {REF} attributes {{dovetail.role = "joint"}} {{
    %0 = "dovetail.read"(%x) : ({REF}) -> {VALUE}
    %none = torch.constant.none
    %true = torch.constant.bool true
    %1 = OP
    %o = "dovetail.own"(%1) {{requires_grad = false}} : ({VALUE}) -> {REF}
    return %o : {REF}
  }}
}}
"""
BRANCHES = "dovetail.then = @a, dovetail.else = @b"
CAST = f"({VALUE}, !torch.bool, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none) -> {VALUE}"


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            f'torch.operator "torch.dovetail.cond"(%0) {{dovetail.then = @a}} : ({VALUE}) -> {VALUE}',
            "'torch.operator' op expects a symbol as attribute 'dovetail.else', got none",
        ),
        (
            f'torch.operator "torch.dovetail.cond"(%0) {{{BRANCHES}}} : ({VALUE}) -> {VALUE}',
            "'torch.operator' op can't be said in Python: there is no function '@a' that can be called here, valid are",
        ),
        (
            f'torch.operator "torch.aten.mul.Tensor"(%0) : ({VALUE}) -> {VALUE}',
            "aten.mul.Tensor takes 2 arguments, got 1; they are self, other",
        ),
        (
            f'torch.operator "torch.aten._to_copy"(%0, %true, %none, %none, %none, %none, %none) : {CAST}',
            "PyTorch's type Optional[ScalarType] has no number True, valid are 0 to ",
        ),
        (
            f'torch.operator "torch.aten.dot"(%0, %0) : ({VALUE}, {VALUE}) -> {VALUE}',
            "'torch.operator' op can't be run: 1D tensors expected",
        ),
    ],
)
def test_op_that_can_not_run_is_named(written, op: str, message: str, capsys: pytest.CaptureFixture[str]):
    """Catches errors of Python's, of the bindings' and of ATen's that name no op, no place, and nothing valid."""
    assert opt([written(JOINT.replace("OP", op)), "--run-check"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert re.search(r'module\.mlir":7:\d+\): ', error)
    assert not re.search(r"(Key|Value|Runtime)Error: ", error)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("forward = @forward", "forward = @call"), "'dovetail.forward' names '@call', expected a forward: '@forward'"),
        (
            ("tangent_of = 0 : i64", "tangent = 0 : i64"),
            "expects an integer as attribute 'dovetail.tangent_of', got none",
        ),
        (("strided<[3, 1]>", "strided<[3, 0]>"), "of which no tensor can be made and filled"),
    ],
)
def test_function_that_says_too_little_is_named(
    written, lowered: str, change: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
):
    """Catches a KeyError for a border's half, a tangent or a call that is not there, and an argument that can't be."""
    assert change[0] in lowered
    assert opt([written(lowered.replace(*change)), "--run-check"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert re.search(r'module\.mlir":\d+:\d+\): ', error)


OPEN = """
!v = !torch.vtensor<[?,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
#s = affine_map<()[s0] -> (s0, 4)>
module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint"} {
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.sizes = [#s]} : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""  # noqa: E501 (a signature stands on one line)
COMMANDS = {
    "opt": lambda path: opt([path, "--run-check"]),
    "run": lambda path: run([path, "--reference"]),
    "compile": lambda path: compile_([path, "-o", "out"]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("array<i64: 2, 100>", "array<i64: 2>"), "expects 'dovetail.range' of argument 0 to be the least and the "),
        (("array<i64: 8>", '"x"'), "expects 'dovetail.hints' to be an array of numbers"),
        (("(s0, 4)>", "(s0)>"), "expects 'dovetail.sizes' of argument 1 to be a map to 2 sizes, those of "),
        (("(s0, 4)>", "(s0 floordiv 0, 4)>"), "quotients and remainders by more than 0, rounded down"),
        (("[s0] -> (s0, 4)>", "[s0, s1] -> (s1, 4)>"), "of argument 1 by symbols that it takes, got s1"),
        (("exp %0 {dovetail.sizes = [#s]}", "exp %0 {dovetail.sizes = #s}"), "an entry for each of 1 results"),
    ],
)
def test_facts_of_open_sizes_are_checked(
    written, change: tuple[str, str], message: str, command: str, capsys: pytest.CaptureFixture[str]
):
    """Catches tracebacks, and errors of Python's, for facts that have another form than their readers expect."""
    assert change[0] in OPEN
    assert COMMANDS[command](written(OPEN.replace(*change))) == 1
    error = capsys.readouterr().err
    assert re.match(r'dovetail-\w+: loc\("[^"]*module\.mlir":\d+:\d+\): ', error)
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("size", ["s0 - 50", "s0 * s0 * 9223372036854775807", "s0 floordiv (s0 floordiv 1000)"])
def test_size_that_no_tensor_has_is_an_error(written, size: str, capsys: pytest.CaptureFixture[str]):
    """Catches a traceback, or an error of Python's, for sizes whose form is right."""
    path = written(OPEN.replace("(s0, 4)>", f"({size}, 4)>"))
    assert opt([path, "--run-check"]) == 1
    assert re.search(r"no tensor has a size of \S.*, where s0 = \d", capsys.readouterr().err)
    assert run([path, "--reference", "--input=3", "--input=3x4xf32=1"]) == 1
    assert "input 1: expected dimension 0 to be " in capsys.readouterr().err


def test_work_that_no_memory_holds_has_a_price(written, capsys: pytest.CaptureFixture[str]):
    """Catches a minimum cut whose costs are no numbers of 64 bits."""
    text = TRAINED.replace("[2,3]", "[4294967296,1073741824]").replace("strided<[3, 1]>", "strided<[1073741824, 1]>")
    assert opt([written(text), "--partition"]) == 0, capsys.readouterr().err


GATHER = """
!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si64>
!o = !torch.vtensor<[2,6,4],f32>
!rx = !dovetail.ref<!x, strided<[32, 4, 1]>>
!ri = !dovetail.ref<!i, strided<[1]>>
!ro = !dovetail.ref<!o, strided<[24, 4, 1]>>
module attributes {dovetail.level = "program", dovetail.target = "TARGET"} {
  func.func private @forward_region_0(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %far = torch.constant.int 100000000
    %1 = torch.constant.int 1
    %0 = torch.aten.add.Scalar %i, %far, %1 : !i, !torch.int, !torch.int -> !i
    %2 = torch.aten.index_select %x, %1, %0 : !x, !torch.int, !i -> !o
    return %2 : !o
  }
  func.func @forward(%x: !rx, %i: !ri) -> !ro attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%i) : (!ri) -> !i
    %2 = call @forward_region_0(%0, %1) : (!x, !i) -> !o
    %o = "dovetail.own"(%2) {requires_grad = false} : (!o) -> !ro
    return %o : !ro
  }
  func.func @call(%x: !rx, %i: !ri) -> !ro attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %i) : (!rx, !ri) -> !ro
    return %0 : !ro
  }
}
"""
"""A region that reads 1.6 GB behind a tensor of 256 bytes."""


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
@pytest.mark.parametrize("command", ["opt", "compile", "run", "reference"])
def test_a_region_reads_no_memory_but_its_own(written, target: str, command: str, capsys: pytest.CaptureFixture[str]):
    """Catches a region that gathers by whatever it is given: it ended the process by a signal, or read other memory."""
    path = written(GATHER.replace("TARGET", target))
    commands = {
        "opt": lambda: opt([path, "--pass-pipeline=verify-level{level=program}"]),
        "compile": lambda: compile_([path, "-o", "artifact"]),
        "run": lambda: run([path]),
        "reference": lambda: run([path, "--reference"]),
    }
    assert commands[command]() == 1
    expected = {
        "cpu": "has no place in a region, which IREE compiles",
        "cuda:sm_90": "gathers in a region, unchecked: expected indices that surely lie from 0 to 7, got such from",
    }
    assert f"'torch.aten.index_select' op {expected[target]}" in capsys.readouterr().err
    assert list(Path().iterdir()) == []
