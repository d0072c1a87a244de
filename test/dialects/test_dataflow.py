"""What is computed from what, through calls of regions and the memory that they are given."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.dialects.dataflow import follow
from dovetail.dialects.reading import Module, body

TEXT = """
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
module {
  func.func @forward(%x: !v, %y: !v) -> (!v, !v, !v) attributes {dovetail.role = "forward"} {
    %d = "dovetail.alloc"() : () -> !m
    call @twice(%x, %y, %d) : (!v, !v, !m) -> ()
    %0 = torch.copy.to_vtensor %d : !v
    call @update(%y, %d) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %d : !v
    %2 = call @declared(%1) : (!v) -> !v
    return %0, %1, %2 : !v, !v, !v
  }
  func.func private @twice(%x: !v, %y: !v, %d: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %y overwrites %d : !v, !m
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %d : !v, !m
    return
  }
  func.func private @update(%y: !v, %d: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %int1 = torch.constant.int 1
    %1 = torch.aten.add.Tensor %0, %y, %int1 : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    return
  }
  func.func private @declared(!v) -> !v
}
"""


def spelt(op: ir.Operation, operands: list[str | None]) -> list[str]:
    """The expression that an op computes."""
    name = op.name.removeprefix("torch.").removeprefix("aten.")
    return [f"{name}({', '.join(operand or '?' for operand in operands)})"] * len(op.results)


def test_values_are_followed_through_memory():
    """Catches a load that gives what memory held before, or what a region stored first, not last."""
    module = ir.Module.parse(TEXT, make_context())
    found = Module(module)
    exp, added = "exp(x)", "add.Tensor(exp(x), y, constant.int())"
    assert follow(found.forward, ["x", "y"], found, spelt) == [exp, added, f"func.call({added})"]


def test_memory_that_a_region_leaves():
    """Catches a region of which only the results are told: it has none, and overwrites what it was given."""
    module = ir.Module.parse(TEXT, make_context())
    found = Module(module)
    assert follow(found.functions["twice"], ["x", "y", None], found, spelt) == ["exp(x)"]


def test_what_is_known_of_all_values():
    """Catches a walk that forgets what stands for values inside of the regions that it went into."""
    module = ir.Module.parse(TEXT, make_context())
    found, known = Module(module), dict[ir.Value, str | None]()
    follow(found.forward, ["x", "y"], found, spelt, known)
    first = body(found.functions["twice"])[1]
    assert known[first.operands[0]] == "x"
    assert known[first.results[0]] == "exp(x)"


def test_an_op_of_which_too_little_is_told():
    """Catches a computation that leaves results out: nothing would be known of them, as of new memory."""
    module = ir.Module.parse(TEXT, make_context())
    found = Module(module)
    with pytest.raises(ValueError, match="shorter"):
        follow(found.forward, ["x", "y"], found, lambda op, operands: [])
