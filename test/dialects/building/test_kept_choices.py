"""Choices of one tensor in a region's text: which are expanded, and to what sizes."""

import pytest

from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.context import make_context, parse_module


def region(condition: str, value: str, result: str, other: str = "%a") -> str:
    """The text of a region that chooses from `%a`, `%b`, or `%c` and `%d`, which are computed alike."""
    types = {name: f"!torch.vtensor<[{shape}],f32>" for name, shape in (("value", value), ("result", result))}
    first = "%c" if other in ("%d", "%e") else "%a"
    text = f"""
module attributes {{dovetail.level = "regions"}} {{
  func.func private @region(%m: !torch.vtensor<[{condition}],i1>, %a: {types["value"]}, %b: {types["value"]},
                            %o: !torch.tensor<[{result}],f32>) attributes {{dovetail.role = "region"}} {{
    %one = torch.constant.int 1
    %same = torch.constant.int 1
    %two = torch.constant.int 2
    %c = torch.aten.mul.Scalar %a, %one : {types["value"]}, !torch.int -> {types["value"]}
    %d = torch.aten.mul.Scalar %a, %same : {types["value"]}, !torch.int -> {types["value"]}
    %e = torch.aten.mul.Scalar %a, %two : {types["value"]}, !torch.int -> {types["value"]}
    %0 = torch.aten.where.self %m, {first}, {other}
      : !torch.vtensor<[{condition}],i1>, {types["value"]}, {types["value"]} -> {types["result"]}
    torch.overwrite.tensor.contents %0 overwrites %o : {types["result"]}, !torch.tensor<[{result}],f32>
    return
  }}
}}
"""
    return region_texts(parse_module(text, make_context()))["region"]


@pytest.mark.parametrize(
    ("condition", "value", "result", "sizes"),
    [
        ("4,8", "", "4,8", ["int4", "int8"]),
        ("4,1", "1,8", "4,8", ["int4", "int8"]),
        ("?", "", "?", ["int0", "size.int %arg0, %int0"]),
        ("?,1", "1,?", "?,?", ["size.int %arg0, %int0", "int-1"]),
        ("?", "4,1,1", "4,1,?", ["int4", "int1", "size.int %arg0, %int0"]),
    ],
)
def test_a_smaller_tensor_is_expanded(condition: str, value: str, result: str, sizes: list[str]):
    """Would catch `where(c, x, x)` that IREE's compiler takes for `x`: the rest of its memory stays unwritten."""
    for text in (region(condition, value, result), region(condition, value, result, other="%d")):
        assert "where" not in text
        assert "torch.aten.expand" in text
        assert all(size in text for size in sizes)


def test_other_choices_stay():
    """Would catch a choice of two tensors whose condition counts for nothing, and work where nothing is folded."""
    for text in (region("4,8", "", "4,8", other="%b"), region("4,8", "", "4,8", other="%e"), region("8", "4,8", "4,8")):
        assert "where.self" in text
        assert "expand" not in text
