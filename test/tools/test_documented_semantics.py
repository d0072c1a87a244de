"""The page of semantics shows the lines that a row is about."""

from dovetail.tools.documented_semantics import Row, trimmed

TEXT = """
!ref4 = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%arg0: !ref4) -> !ref4 attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%arg0) : (!ref4) -> !value4
    %int2 = torch.constant.int 2
    %1 = torch.aten.mul.Scalar %0, %int2 : !value4, !torch.int -> !value4
    %2 = torch.aten.sin %1 : !value4 -> !value4
    %3 = torch.aten.cos %2 : !value4 -> !value4
    return %arg0 : !ref4
  }
}
"""


def test_computations_that_a_row_checks_are_kept():
    """The page leaves out an op that the row is about, or fills up with those that it is not."""
    row = Row("I0", "", abs, list, "CHECK: torch.aten.mul.Scalar")
    assert trimmed(TEXT, row).splitlines() == [
        'func.func @joint(%arg0: !ref4) -> !ref4 attributes {dovetail.role = "joint"} {',
        '  %0 = "dovetail.read"(%arg0) : (!ref4) -> !value4',
        "  %1 = torch.aten.mul.Scalar %0, %int2 : !value4, !torch.int -> !value4",
        "  ...",
        "  return %arg0 : !ref4",
    ]
