"""Whole numbers beside floating-point tensors in a region's text: which are written as floats."""

import pytest

from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.context import make_context, parse_module


def region(dtype: str, number: str) -> str:
    """The text of a region that compares a tensor with `number`, a constant of one kind."""
    kind = number.partition(" ")[0]
    compared = f"""
    %n = torch.constant.{number}
    %c = torch.aten.gt.Scalar %a, %n : !torch.vtensor<[4],{dtype}>, !torch.{kind} -> !torch.vtensor<[4],i1>"""
    text = f"""
module attributes {{dovetail.level = "regions"}} {{
  func.func private @region(%a: !torch.vtensor<[4],{dtype}>, %o: !torch.tensor<[4],i1>)
      attributes {{dovetail.role = "region"}} {{{compared}
    torch.overwrite.tensor.contents %c overwrites %o : !torch.vtensor<[4],i1>, !torch.tensor<[4],i1>
    return
  }}
}}
"""
    return region_texts(parse_module(text, make_context()))["region"]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(("number", "written"), [("int -3", "-3.000000e+00"), ("float 5.0e-1", "5.000000e-01")])
def test_a_number_beside_floats_is_a_float(dtype: str, number: str, written: str):
    """Would catch torch-mlir, which takes the bits of a whole number for those of a float: `full(2.0) > 0` is false."""
    text = region(dtype, number)
    assert f"torch.constant.float {written}" in text
    assert ", !torch.float ->" in text


@pytest.mark.parametrize(("dtype", "number"), [("si64", "int 3"), ("f32", f"int {2**60 + 1}")])
def test_other_numbers_stay(dtype: str, number: str):
    """Would catch a number that a float can't hold, and whole numbers that are compared as floats."""
    text = region(dtype, number)
    assert f"torch.constant.{number}" in text
    assert ", !torch.int ->" in text
