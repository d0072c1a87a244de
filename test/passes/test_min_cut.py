"""What the minimum cut saves for the backward, asked of `saved_values` itself."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.dovetail import ReadOp
from dovetail.passes.min_cut import saved_values
from dovetail.passes.rewriting import body, functions

TYPES = """
!v = !torch.vtensor<[8],f32>
!half = !torch.vtensor<[8],f16>
!scalar = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[1]>>
"""


@pytest.fixture
def saved():
    """Returns a function from a body to the names of the ops whose results are saved, in order.

    The body's last op, `func.return`, says what the backward needs. Arguments: memory %x, %y, %w; %w is free.
    """
    context = make_context()

    def run(text: str) -> list[str]:
        module = parse_module(f"{TYPES}func.func @joint(%x: !r, %y: !r, %w: !r) -> ({text}", context)
        joint = functions(module)["joint"]
        weight = joint.body.blocks[0].arguments[2]

        def is_free(value: ir.Value) -> bool:
            owner = value.owner.operation.opview
            return isinstance(owner, ReadOp) and owner.ref == weight

        values = saved_values(list(body(joint)[-1].operands), is_free)
        return [_describe(value, joint) for value in values]

    return run


def _describe(value: ir.Value, joint) -> str:
    op = value.owner.operation
    if isinstance(op.opview, ReadOp):
        return f"read {'xyw'[list(joint.body.blocks[0].arguments).index(op.opview.ref)]}"
    return op.name if op.name != "torch.operator" else ir.StringAttr(op.attributes["name"]).value


def test_reinterpreted_memory_is_not_saved(saved):
    """Would catch a saved view of other elements: autograd checks the version of its memory only through the base."""
    text = """!torch.vtensor<[8],si32>) {
      %int3 = torch.constant.int 3
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.view.dtype %0, %int3 : !v, !torch.int -> !torch.vtensor<[8],si32>
      return %1 : !torch.vtensor<[8],si32>
    }"""
    assert saved(text) == ["read x"]


def test_pointwise_ops_save_only_their_input(saved):
    """Would catch saving every intermediate: more bytes than the input that gives them all."""
    text = """!v, !v, !v) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      %2 = torch.aten.sin %0 : !v -> !v
      %3 = torch.aten.tanh %2 : !v -> !v
      return %1, %2, %3 : !v, !v, !v
    }"""
    assert saved(text) == ["read x"]


def test_of_equal_bytes_the_least_is_recomputed(saved):
    """Would catch a chain that is recomputed from its input though its first value costs the same to keep."""
    text = """!v, !v, !v) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      %2 = torch.aten.sin %1 : !v -> !v
      %3 = torch.aten.tanh %2 : !v -> !v
      return %1, %2, %3 : !v, !v, !v
    }"""
    assert saved(text) == ["torch.aten.exp"]


def test_one_narrow_value_is_saved_instead_of_two_wide_ones(saved):
    """Would catch a cut at the inputs out of habit: the sum of both is half of their bytes."""
    text = """!v) {
      %one = torch.constant.int 1
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = "dovetail.read"(%y) : (!r) -> !v
      %2 = torch.aten.add.Tensor %0, %1, %one : !v, !v, !torch.int -> !v
      %3 = torch.aten.exp %2 : !v -> !v
      return %3 : !v
    }"""
    assert saved(text) == ["torch.aten.exp"]


def test_smaller_element_type_is_preferred(saved):
    """Would catch a cut that counts values instead of bytes."""
    text = """!v) {
      %five = torch.constant.int 5
      %six = torch.constant.int 6
      %false = torch.constant.bool false
      %none = torch.constant.none
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten._to_copy %0, %five, %none, %none, %none, %false, %none
          : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !half
      %2 = torch.aten._to_copy %1, %six, %none, %none, %none, %false, %none
          : !half, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
      %3 = torch.aten.exp %2 : !v -> !v
      return %3 : !v
    }"""
    assert saved(text) == ["torch.aten._to_copy"]


@pytest.mark.parametrize(
    ("op", "what"),
    [
        ("torch.aten.mm %0, %1 : !m, !m -> !m", "torch.aten.mm"),
        ("torch.aten.cumsum %0, %zero, %none : !m, !torch.int, !torch.none -> !m", "torch.aten.cumsum"),
        ('torch.operator "torch.aten.nonsense"(%0) : (!m) -> !m', "torch.aten.nonsense"),
        (
            'torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.reason = "has an effect"} '
            ": (!m, !torch.float, !torch.none) -> !m",
            "torch.aten.bernoulli.p",
        ),
    ],
    ids=["library", "reduction", "unknown", "random"],
)
def test_is_saved_and_not_recomputed(op: str, what: str):
    """Would catch a matrix product or a reduction that runs twice, and a mask that is drawn again in the backward."""
    text = f"""
    !m = !torch.vtensor<[8,8],f32>
    !rm = !dovetail.ref<!m, strided<[8, 1]>>
    func.func @joint(%x: !rm, %y: !rm) -> !m {{
      %zero = torch.constant.int 0
      %half = torch.constant.float 5.000000e-01
      %none = torch.constant.none
      %0 = "dovetail.read"(%x) : (!rm) -> !m
      %1 = "dovetail.read"(%y) : (!rm) -> !m
      %2 = {op}
      %3 = torch.aten.exp %2 : !m -> !m
      %4 = torch.aten.mul.Tensor %3, %2 : !m, !m -> !m
      return %4 : !m
    }}"""
    module = parse_module(text, make_context())
    joint = functions(module)["joint"]
    values = saved_values([body(joint)[-1].operands[0], body(joint)[-2].operands[0]], lambda value: False)
    assert [_describe(value, joint) for value in values] == [what]


def test_views_are_never_saved(saved):
    """Would catch a saved view, which would keep its base's memory alive and need its layout told."""
    text = """!torch.vtensor<[2,4],f32>) {
      %two = torch.constant.int 2
      %four = torch.constant.int 4
      %size = torch.prim.ListConstruct %two, %four : (!torch.int, !torch.int) -> !torch.list<int>
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.view %0, %size : !v, !torch.list<int> -> !torch.vtensor<[2,4],f32>
      return %1 : !torch.vtensor<[2,4],f32>
    }"""
    assert saved(text) == ["read x"]


def test_free_values_are_saved_before_anything_else(saved):
    """Would catch a parameter that is not used though it costs nothing to keep."""
    text = """!v) {
      %0 = "dovetail.read"(%w) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      return %1 : !v
    }"""
    assert saved(text) == ["read w"]


def test_a_free_value_is_not_saved_in_vain(saved):
    """Would catch saving a parameter beside values that already give all that is needed."""
    text = """!v, !v) {
      %none = torch.constant.none
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = "dovetail.read"(%w) : (!r) -> !v
      %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
      %3 = torch.aten.sum %2, %none : !v, !torch.none -> !scalar
      %4 = torch.aten.mul.Tensor %2, %3 : !v, !scalar -> !v
      return %2, %4 : !v, !v
    }"""
    assert sorted(saved(text)) == ["torch.aten.mul.Tensor", "torch.aten.sum"]


def test_from_constants_nothing_is_saved(saved):
    """Would catch saving what the backward makes from nothing."""
    text = """!v) {
      %eight = torch.constant.int 8
      %none = torch.constant.none
      %size = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
      %0 = torch.aten.ones %size, %none, %none, %none, %none
          : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      return %1 : !v
    }"""
    assert saved(text) == []


def test_nothing_needed_nothing_saved(saved):
    """Would catch a network without a sink that ends in networkx's error."""
    assert saved(") { return }") == []
