"""`@layouts` as the runtime reads it."""

import re

import pytest

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.errors import ModuleError
from dovetail.runtime.autograd.read_layouts import read_layouts

TEXT = """
!r = !dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>
module attributes {dovetail.level = "split"} {
  func.func private @layouts(%s: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {FACTS}) -> !torch.vtensor<[?,4],f32>
      attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%x) : (!r) -> !torch.vtensor<[?,4],f32>
    return %0 : !torch.vtensor<[?,4],f32>
  }
}
"""
SIZES = "dovetail.sizes = affine_map<()[s0] -> (s0, 4)>"
STRIDES = "dovetail.strides = affine_map<()[s0] -> (s0 + 4, 1)>"


def read(*facts: str):
    return read_layouts(Module(parse_module(TEXT.replace("FACTS", ", ".join(facts)), make_context())))


def test_open_argument():
    """Catches sizes for strides, or those of another symbol."""
    layouts = read(SIZES, STRIDES)
    assert layouts is not None
    argument = layouts.arguments[1]
    assert argument.given({}, {0: 7}) == ((7, 4), (11, 1))


@pytest.mark.parametrize(("facts", "missing"), [((SIZES,), "strides"), ((STRIDES,), "sizes")])
def test_what_is_open_is_told(facts, missing):
    """Catches an error that names neither the argument nor which of both it lacks."""
    expected = re.escape(
        "argument 1 of '@layouts', !dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>: expects "
    )
    with pytest.raises(ModuleError, match=f"{expected}'dovetail.{missing}' to tell what is open"):
        read(*facts)
