"""`dovetail-run`: what it prints and writes, and which inputs it refuses before anything runs."""

from pathlib import Path

import numpy
import pytest
from modules import SHARED, TRAINED

import dovetail
from dovetail.tools.run.command import main

ZEROS, COUNTED = "--input=2x3xf32=0", "--input=2x3xf32=1,2,3,4,5,6"
LISTED = "\n  input 0 (x): 2x3xf32\n  input 1 (b): 2x3xf32"

NONE = """\
!r = !dovetail.ref<!torch.vtensor<[1],f32>, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint() -> !r attributes {dovetail.role = "joint"} {
    %0 = torch.vtensor.literal(dense<1.0> : tensor<1xf32>) : !torch.vtensor<[1],f32>
    %o = "dovetail.own"(%0) {requires_grad = false} : (!torch.vtensor<[1],f32>) -> !r
    return %o : !r
  }
}
"""
NUMBER = NONE.replace("@joint()", '@joint(%n: !torch.int {dovetail.name = "n"})')

OPEN = """\
!v = !torch.vtensor<[?,3],f32>
!r = !dovetail.ref<!v, strided<[1, ?]>>
#s = affine_map<()[s0] -> (s0 * 2, 3)>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%n: !torch.int {dovetail.name = "n", dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64},
                   %x: !r {dovetail.name = "x", dovetail.sizes = #s}) -> !r attributes {dovetail.role = "joint"} {
    %two = torch.constant.int 2
    %rows = torch.aten.mul.int %n, %two : !torch.int, !torch.int -> !torch.int
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = torch.aten.mul.Scalar %0, %n {dovetail.sizes = [#s]} : !v, !torch.int -> !v
    %o = "dovetail.own"(%1, %rows) {requires_grad = false} : (!v, !torch.int) -> !r
    return %o : !r
  }
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with `o = exp(x) * b; b = -b`."""
    (tmp_path / "trained.mlir").write_text(TRAINED)
    return str(tmp_path / "trained.mlir")


@pytest.fixture
def shared(tmp_path: Path) -> str:
    """A file with `x * y`, y beginning at the second element of x."""
    (tmp_path / "shared.mlir").write_text(SHARED)
    return str(tmp_path / "shared.mlir")


def _refusal(capsys: pytest.CaptureFixture, *arguments: str) -> str:
    """What a run that must fail says; nothing may have been computed."""
    assert main(list(arguments)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_results_changed_inputs_and_gradients_are_printed(path: str, capsys: pytest.CaptureFixture):
    """Would catch a mutation or a gradient that the command hides, or one that it takes for another input's."""
    dovetail.stats(reset=True)  # of the tests before
    assert main([path, ZEROS, COUNTED, "--gradients"]) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        "result 0: 2x3xf32=[[1.,2.,3.],\n [4.,5.,6.]]\n"
        "input 1 (b), changed: 2x3xf32=[[-1.,-2.,-3.],\n [-4.,-5.,-6.]]\n"
        "input 0 (x), gradient: 2x3xf32=[[1.,2.,3.],\n [4.,5.,6.]]\n"
    )
    assert captured.err.startswith("graphs: 1, regions: ")


def test_random_inputs_follow_the_seed(path: str, capsys: pytest.CaptureFixture):
    """Would catch inputs that nobody can reproduce, or that are always the same."""
    outs = []
    for seed in ("0", "0", "1"):
        assert main([path, f"--seed={seed}"]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1] != outs[2]


def test_reference_agrees_with_compiled_code(path: str, capsys: pytest.CaptureFixture):
    """Would catch a reference that runs other inputs, or counts of regions that it did not launch."""
    assert main([path, ZEROS, COUNTED, "--gradients"]) == 0
    compiled = capsys.readouterr().out
    assert main([path, ZEROS, COUNTED, "--gradients", "--reference"]) == 0
    captured = capsys.readouterr()
    assert captured.out == compiled
    assert captured.err == ""


def test_files_go_in_and_out(path: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a transposed file, or a name that numpy changes."""
    x, b = numpy.zeros((2, 3), numpy.float32), numpy.asfortranarray(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "b.npy", b)
    out = tmp_path / "out"
    assert main([path, f"--input=@{tmp_path}/x.npy", f"--input=@{tmp_path}/b.npy", f"--output=@{out}"]) == 0
    numpy.testing.assert_array_equal(numpy.load(out), b)
    assert capsys.readouterr().out.startswith("input 1 (b), changed: ")


def test_inputs_that_share_memory_do(shared: str, capsys: pytest.CaptureFixture):
    """Would catch inputs in memory of their own, which the module was not compiled for."""
    assert main([shared, "--input=3xf32=1,2,3", "--input=3xf32=2,3,4"]) == 0
    assert capsys.readouterr().out == "result 0: 3xf32=[ 2., 6.,12.]\n"


def test_inputs_that_share_memory_must_agree(shared: str, capsys: pytest.CaptureFixture):
    """Would catch one input's values silently replaced by another's."""
    assert _refusal(capsys, shared, "--input=3xf32=1,2,3", "--input=3xf32=4,5,6") == (
        "dovetail-run: input 0 (x): shares memory with another input in this module, which has other values there\n"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("2x4xf32=0", f"expected 2x3xf32, got 2x4xf32; the inputs are:{LISTED}"),
        ("2x3xf64=0", f"expected 2x3xf32, got 2x3xf64; the inputs are:{LISTED}"),
        ("3", f"expected 2x3xf32, got a number of type int; the inputs are:{LISTED}"),
        (
            "2x3xf32",
            "can't read '2x3xf32', expected @FILE.npy, SHAPExTYPE=VALUES as in 2x3xf32=1,2,3,4,5,6, or a number",
        ),
        ("2x3xf32=1,2", "2x3xf32 has 6 elements, got 2 values"),
        (
            "2x3xf32=1,x,3,4,5,6",
            "can't read '2x3xf32=1,x,3,4,5,6', expected @FILE.npy, SHAPExTYPE=VALUES as in 2x3xf32=1,2,3,4,5,6, or a"
            " number",
        ),
        (
            "2x3xfloat=0",
            "unknown element type 'float', valid are f64, f32, f16, bf16, i64, i32, i16, i8, ui8, i1, complex<f32>,"
            " complex<f64>",
        ),
        ("2x3xi64=1.5", "i64 does not have the value 1.5"),
        ("2x3xf32=1+2j", "f32 does not have the value (1+2j)"),
        ("@missing.npy", "missing.npy: No such file or directory"),
    ],
)
def test_wrong_input_is_refused_by_name(path: str, given: str, message: str, capsys: pytest.CaptureFixture):
    """Would catch an input that is cast, cut or broadcast until it fits, or refused without its name."""
    assert _refusal(capsys, path, f"--input={given}", COUNTED) == f"dovetail-run: input 0 (x): {message}\n"


def test_wrong_files_are_refused(path: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a pickle that is executed, and an element type that is silently converted."""
    numpy.save(tmp_path / "double.npy", numpy.zeros((2, 3)))
    numpy.save(tmp_path / "text.npy", numpy.array([["a"] * 3] * 2))
    numpy.save(tmp_path / "pickle.npy", numpy.array([[None] * 3] * 2), allow_pickle=True)
    for name, message in {
        "double": f"expected 2x3xf32, got 2x3xf64; the inputs are:{LISTED}",
        "text": f"{tmp_path}/text.npy: holds elements of type <U1, which torch does not have",
        "pickle": f"{tmp_path}/pickle.npy: expected a .npy file: Object arrays cannot be loaded when"
        " allow_pickle=False",
    }.items():
        found = _refusal(capsys, path, f"--input=@{tmp_path}/{name}.npy", COUNTED)
        assert found == f"dovetail-run: input 0 (x): {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([ZEROS], f"expected 2 inputs, got 1:{LISTED}"),
        (["--output=@a.npy", "--output=@b.npy"], "expected --output for each of 1 results, or none; got 2"),
        (["--output=a.npy"], "--output=a.npy: expected @FILE.npy"),
    ],
)
def test_wrong_arguments_are_refused(path: str, arguments: list, message: str, capsys: pytest.CaptureFixture):
    """Would catch a call with inputs made up for those that are missing, or a result that is thrown away."""
    assert _refusal(capsys, path, *arguments) == f"dovetail-run: {message}\n"


def test_inputs_that_a_module_does_not_take_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a number that is rounded to fit, one that is listed without its type, and a list of nothing."""
    (tmp_path / "none.mlir").write_text(NONE)
    (tmp_path / "number.mlir").write_text(NUMBER)
    assert _refusal(capsys, str(tmp_path / "none.mlir"), "--input=1") == "dovetail-run: expected 0 inputs, got 1\n"
    assert _refusal(capsys, str(tmp_path / "number.mlir"), "--input=1.5") == (
        "dovetail-run: input 0 (n): expected a number of type int, got a number of type float; the inputs are:\n"
        "  input 0 (n): a number of type int\n"
    )


def test_result_that_npy_does_not_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a result that is rounded, or lost after it was computed."""
    (tmp_path / "half.mlir").write_text(SHARED.replace("f32", "bf16").replace("start = 4", "start = 2"))
    assert _refusal(capsys, str(tmp_path / "half.mlir"), "--output=@out.npy") == (
        "dovetail-run: --output=@out.npy: result 0 is 3xbf16, which .npy files don't have\n"
    )


def test_gradients_of_a_module_without_any_are_refused(shared: str, capsys: pytest.CaptureFixture):
    """Would catch gradients asked for and silently not shown."""
    assert _refusal(capsys, shared, "--gradients") == (
        "dovetail-run: no input of this module requires a gradient, so --gradients has none to show\n"
    )


def test_open_sizes_are_given_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a module of open sizes that takes no inputs, or one that runs on sizes that it does not state."""
    (tmp_path / "open.mlir").write_text(OPEN)
    path = str(tmp_path / "open.mlir")
    assert main([path, "--input=2", "--input=4x3xf32=1"]) == 0
    assert capsys.readouterr().out.startswith("result 0: 4x3xf32=[[2.,2.,2.]")
    refused = {
        ("--input=1", "--input=2x3xf32=1"): "input 0 (n): expected 2 to 9, got 1",
        ("--input=10", "--input=20x3xf32=1"): "input 0 (n): expected 2 to 9, got 10",
        (
            "--input=2",
            "--input=5x3xf32=1",
        ): "input 1 (x): expected dimension 0 to be 4, which is (input 0 (n) * 2); it is 5",
        ("--input=2", "--input=4x4xf32=1"): "input 1 (x): expected ?x3xf32, got 4x4xf32",
    }
    for given, message in refused.items():
        assert message in _refusal(capsys, path, *given)


def test_sizes_beyond_64_bits_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a size that wraps around, a bound that the number keeps, and PyTorch's own frames in the message."""
    largest = 2**63 - 1
    (tmp_path / "open.mlir").write_text(OPEN.replace("2, 9>", f"2, {largest}>"))
    path, x = str(tmp_path / "open.mlir"), "--input=4x3xf32=1"
    assert f"input 0 (n): expected 2 to {largest}, got {largest + 1}" in _refusal(
        capsys, path, f"--input={largest + 1}", x
    )
    expected = f"expected dimension 0 to be {2**63}, which is (input 0 (n) * 2); it is 4"
    assert f"input 1 (x): {expected}" in _refusal(capsys, path, f"--input={2**62}", x)
    (tmp_path / "open.mlir").write_text(OPEN.replace("constant.int 2", f"constant.int {2**62}"))
    refusal = _refusal(capsys, path, "--input=2", x)
    assert "can't run the module: TypeError: empty_strided(): argument 'stride' failed to unpack" in refusal
    assert refusal.count("\n") <= 2
