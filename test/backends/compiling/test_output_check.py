"""What the compiler wrote, held against what was asked for."""

import pytest

from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.compiling.output_check import wrong_output
from dovetail.backends.target import CpuTarget

REGION = """
func.func @copies(%a: !torch.vtensor<[4],f32>, %out: !torch.tensor<[4],f32>) {
  torch.overwrite.tensor.contents %a overwrites %out : !torch.vtensor<[4],f32>, !torch.tensor<[4],f32>
  return
}
"""


@pytest.fixture(scope="module")
def compiled() -> bytes:
    run = CompilerRuns().run(CpuTarget().compile_flags(), REGION, 60)
    assert run.failure is None, run.diagnostics
    return run.output


def test_what_was_asked_for(compiled: bytes):
    """Would catch a check that refuses sound modules, so that every op runs through ATen."""
    assert wrong_output(compiled, ["copies"]) is None


def test_another_region(compiled: bytes):
    """Would catch the numbers of another region, or an error in the midst of the user's program."""
    message = "error: the compiler's output is another module: it has no function adds"
    assert wrong_output(compiled, ["copies", "adds"]) == message


@pytest.mark.parametrize("part", [0, 0.3, 0.7, 0.99])
def test_a_part(compiled: bytes, part: float):
    """Would catch machine code that ends early: IREE loads it without a word if only the archive's end is missing."""
    reason = wrong_output(compiled[: int(len(compiled) * part)], ["copies"])
    assert reason is not None
    assert "the compiler's output is no module" in reason


def test_flipped_bits(compiled: bytes):
    """Would catch machine code that is not what the compiler made."""
    middle = len(compiled) * 3 // 4
    changed = compiled[:middle] + bytes([compiled[middle] ^ 1]) + compiled[middle + 1 :]
    assert wrong_output(changed, ["copies"]) is not None
