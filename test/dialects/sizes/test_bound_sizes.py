"""What a region's text tells IREE of its open sizes, and what its plan checks of them."""

import pytest
import torch
from torch_mlir import ir

from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import body
from dovetail.dialects.statements.plans import plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.cuda.read_plan import read_record

STEPS = {"values": [], "transients": [], "constants": [], "steps": []}


def module(least: int, written: str = "s2 * 2", other: str = "s2") -> ir.Module:
    """A region of two tensors, one of `other` rows, and a destination of `written` rows."""
    second = f"affine_map<()[s0, s1, s2] -> ({other}, 48)>"
    one, twice = "affine_map<()[s0, s1, s2] -> (s2, 48)>", f"affine_map<()[s0, s1, s2] -> ({written}, 48)>"
    value, memory = "!torch.vtensor<[?,48],f32>", "!torch.tensor<[?,48],f32>"
    text = f"""
module attributes {{dovetail.level = "regions"}} {{
  func.func @forward(%n: !torch.int {{dovetail.symbol = 2 : i64, dovetail.range = array<i64: {least}, 4096>}})
      attributes {{dovetail.role = "forward"}} {{
    return
  }}
  func.func private @region(%x: {value} {{dovetail.sizes = {one}}}, %y: {value} {{dovetail.sizes = {second}}},
                            %o: {memory} {{dovetail.sizes = {twice}}}) attributes {{dovetail.role = "region"}} {{
    %dim = torch.constant.int 0
    %l = torch.prim.ListConstruct %x, %y : ({value}, {value}) -> !torch.list<vtensor>
    %0 = torch.aten.cat %l, %dim {{dovetail.sizes = [{twice}]}} : !torch.list<vtensor>, !torch.int -> {value}
    torch.overwrite.tensor.contents %0 overwrites %o : {value}, {memory}
    return
  }}
}}
"""
    return parse_module(text, make_context())


def test_equal_sizes_are_one_symbol():
    """Would catch sizes that IREE takes for two, and a text that another numbering of symbols makes another one."""
    text = region_texts(module(least=2))["region"]
    assert text.count("torch.symbolic_int") == 1
    assert text.count("torch.bind_symbolic_shape") == 2
    assert "affine_map<()[s0] -> (s0, 48)>" in text
    assert "max_val = 4096" in text
    assert "dovetail." not in text


def test_a_size_that_may_be_zero_is_not_said():
    """Would catch code that is made for at least one row and run for none: IREE assumes 1 of every symbol."""
    text = region_texts(module(least=0))["region"]
    assert "symbol" not in text
    assert "dovetail." not in text


def test_a_quotient_below_zero_is_not_said():
    """Would catch rows that stay unwritten: IREE rounds -(-n // 3) down."""
    assert region_texts(module(least=2, other="(s2 + 2) floordiv 3"))["region"].count("bind_symbolic_shape") == 2
    assert region_texts(module(least=2, other="-(-s2 floordiv 3)"))["region"].count("bind_symbolic_shape") == 1


def test_a_size_below_zero_is_a_symbol_of_its_own():
    """Would catch a size s0 - 2 that IREE assumes to be -1 or more, without a sign: such kernels were empty."""
    text = region_texts(module(least=5, other="s2 - 2"))["region"]
    assert text.count("torch.symbolic_int") == 2
    assert "affine_map<()[s0] -> (s0, 48)>" in text
    assert all(bound in text for bound in ("min_val = 3", "max_val = 4094"))
    assert " - 2" not in text
    assert region_texts(module(least=2, other="s2 - 2"))["region"].count("bind_symbolic_shape") == 1
    assert "s0 - 1" in region_texts(module(least=2, other="s2 - 1"))["region"]
    assert f"max_val = {2**63 - 1}" in region_texts(module(least=7, other="(s2 - 6) * 1000000000 * 10000000"))["region"]


def test_a_remainder_is_a_symbol_of_its_own():
    """Would catch `s0 mod 3`, which IREE takes to be at least 1: a call in which it is 0 was refused."""
    for other in ("s2 mod 3", "s2 - (s2 floordiv 2) * 2", "(s2 mod 3) * 2 + 1"):
        assert " mod " not in region_texts(module(least=2, other=other))["region"]
    assert region_texts(module(least=2, other="s2 mod 3"))["region"].count("bind_symbolic_shape") == 1
    assert region_texts(module(least=2, other="(s2 mod 3) * 2 + 1"))["region"].count("bind_symbolic_shape") == 2


def test_a_plan_checks_what_the_region_says():
    """Would catch a destination of another size than the value's, of which a part stays unwritten."""
    made = module(least=2)
    import_plans(made, {"region": (STEPS, "00")})
    assert made.operation.verify()
    names = [op.name for op in body(plans(made)["region"])]
    assert names.count("dovetail.check_equal") == 2
    assert names.count("arith.muli") == 1


def test_a_plan_checks_sizes_as_they_are_rounded():
    """Would catch a size rounded up, -(-n // 3), that is compared with one rounded down: the call is refused."""
    made = module(least=2, written="-(-s2 floordiv 3) + (-s2) mod 5")
    import_plans(made, {"region": (STEPS, "00")})
    record = read_record(plans(made)["region"])
    for rows in range(2, 12):
        x, expected = torch.empty(rows, 48), -(-rows // 3) + -rows % 5
        record.closed([x, x, torch.empty(expected, 48)])
        with pytest.raises(ValueError, match="must be equal"):
            record.closed([x, x, torch.empty(expected + 1, 48)])
