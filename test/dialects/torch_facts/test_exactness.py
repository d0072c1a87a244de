"""What is known of torch ops down to the last bit, op by op."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.dialects.torch_facts.exactness import deciding_operands, is_repeatable
from dovetail.dialects.torch_facts.ops import row

FLOAT, HALF, WHOLE, TRUTH = (f"!torch.vtensor<[2,2],{each}>" for each in ("f32", "bf16", "si64", "i1"))


@pytest.fixture
def op():
    with make_context(), ir.Location.unknown():
        module = ir.Module.create()

        def build(name: str, operands: str, result: str) -> ir.Operation:
            with ir.InsertionPoint(module.body):
                made = [_operator("torch.source", [], each).result for each in operands.split()]
                return _operator(f"torch.aten.{name}", made, result)

        yield build


def _operator(name: str, operands: list[ir.Value], result: str) -> ir.Operation:
    attributes = {"name": ir.StringAttr.get(name)}
    return ir.Operation.create("torch.operator", [ir.Type.parse(result)], operands, attributes)


@pytest.mark.parametrize(
    ("name", "operands", "result", "indices"),
    [
        ("eq.Tensor", f"{FLOAT} {FLOAT}", TRUTH, (0, 1)),
        ("eq.Tensor", f"{WHOLE} {WHOLE}", TRUTH, (0, 1)),
        ("logical_and", f"{TRUTH} {TRUTH}", TRUTH, ()),
        ("floor", FLOAT, FLOAT, (0,)),
        ("div.Tensor_mode", f"{FLOAT} {FLOAT}", FLOAT, (0, 1)),
        ("div.Tensor", f"{FLOAT} {FLOAT}", FLOAT, ()),
        ("threshold_backward", f"{FLOAT} {FLOAT}", FLOAT, (1,)),
        ("argmax", FLOAT, WHOLE, (0,)),
        ("sort", FLOAT, WHOLE, (0,)),
        ("_to_copy", FLOAT, WHOLE, (0,)),
        ("_to_copy", FLOAT, HALF, ()),
        ("isnan", FLOAT, TRUTH, ()),
        ("cummax", FLOAT, WHOLE, (0,)),
        ("native_dropout", FLOAT, TRUTH, ()),
        ("where.self", f"{TRUTH} {FLOAT} {FLOAT}", FLOAT, ()),
    ],
)
def test_deciding_operands(op, name, operands, result, indices):
    """Would catch a comparison that nobody checks, and a value that is pinned for an op that has no use for it."""
    assert deciding_operands(op(name, operands, result)) == indices


@pytest.mark.parametrize(
    ("name", "result", "repeatable"),
    [
        ("add.Tensor", FLOAT, True),
        ("add.Tensor", HALF, True),
        ("mul.Tensor", FLOAT, False),
        ("mul.Tensor", WHOLE, True),
        ("tanh", FLOAT, False),
        ("sum", FLOAT, False),
        ("amax", FLOAT, True),
        ("floor", FLOAT, True),
        ("remainder.Tensor", FLOAT, False),
        ("div.Tensor", FLOAT, True),
        ("div.Tensor_mode", FLOAT, False),
        ("view", FLOAT, True),
        ("mm", FLOAT, False),
        ("never_heard_of", FLOAT, False),
    ],
)
def test_repeatable(op, name, result, repeatable):
    """Would catch a value that is computed twice though its bits then differ: products are fused with sums."""
    assert is_repeatable(op(name, result, result)) == repeatable


@pytest.mark.parametrize(
    ("name", "kept"),
    [("amax", True), ("exp", True), ("gather", True), ("never_heard_of", True), ("sum", False), ("mm", False)],
)
def test_equality_is_kept(op, name, kept):
    """Would catch pins for sums and products, of which nothing is equal to what went in."""
    assert row(op(name, FLOAT, FLOAT)).keeps_equality == kept


@pytest.mark.parametrize("name", ["floor", "sort", "add.Tensor"])
def test_nothing_is_known_of_custom_ops(op, name):
    """Would catch a custom op that is taken for ATen's of the same name: computed twice, or not at all."""
    made = op(name, FLOAT, FLOAT)
    made.attributes["name"] = ir.StringAttr.get(f"torch.mine.{name}")
    assert not is_repeatable(made)
    assert deciding_operands(made) == ()
