"""What running an op again costs: the products' flops, and nothing for what a region does along the way."""

import pytest

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.recompute_price import FLOPS_PER_BYTE, recompute_prices

TENSOR = 8 * 8 * 4  # bytes of %m
IMAGE = 1 * 8 * 4 * 4 * 4  # of %i
CONSTANTS = """
%zero = torch.constant.int 0
%one = torch.constant.int 1
%false = torch.constant.bool false
%none = torch.constant.none
%scale = torch.constant.float 0.0
%ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
"""


def price(op: str, in_forward: bool = True, is_written_again: bool = False) -> int | None:
    """The price of the one op that is no constant."""
    text = f"""
    !m = !torch.vtensor<[8,8],f32>
    !i = !torch.vtensor<[1,8,4,4],f32>
    !w = !torch.vtensor<[8,8,1,1],f32>
    !n = !torch.vtensor<[8,8],si64>
    func.func @joint(%m: !m, %i: !i, %w: !w, %n: !n)
        attributes {{dovetail.role = "joint"}} {{ {CONSTANTS} {op} return }}"""
    module = parse_module(text, make_context())
    graph = JointGraph(Module(module).joint)
    nodes = set(range(len(graph.nodes)))
    prices = recompute_prices(graph, nodes if in_forward else set(), nodes if is_written_again else set())
    return prices[-2]


@pytest.mark.parametrize(
    ("op", "moved", "flops"),
    [
        ("%0 = torch.aten.mm %m, %m : !m, !m -> !m", 3 * TENSOR, 2 * 8**3),
        (
            "%0 = torch.aten.addmm %m, %m, %m, %one, %one : !m, !m, !m, !torch.int, !torch.int -> !m",
            4 * TENSOR,
            2 * 8**3,
        ),
        (
            "%0 = torch.aten.convolution %i, %w, %none, %ones, %ones, %ones, %false, %ones, %one : !i, !w, "
            "!torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, "
            "!torch.int -> !i",
            2 * IMAGE + TENSOR,
            2 * 128 * 8,
        ),
        (
            '%0:2 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%i, %i, %i, %scale, '
            "%false, %none, %none) : (!i, !i, !i, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!i, !i)",
            5 * IMAGE,
            4 * 128 * 4,
        ),
        ("%0 = torch.aten.sum %m, %none : !m, !torch.none -> !torch.vtensor<[],f32>", TENSOR + 4, 8 * 8),
    ],
    ids=["mm", "addmm", "convolution", "attention", "sum"],
)
def test_work(op, moved, flops):
    """Would catch flops that are read from the wrong operand, so that a budget repeats the dearest op first."""
    assert price(op) == 1 + moved + flops // FLOPS_PER_BYTE


@pytest.mark.parametrize(
    "op",
    [
        "%0 = torch.aten.exp %m : !m -> !m",
        "%0 = torch.aten.gather %m, %zero, %n, %false : !m, !torch.int, !n, !torch.bool -> !m",
        "%0 = torch.aten.upsample_nearest2d %i, %ones, %none, %none : !i, !torch.list<int>, !torch.none, !torch.none "
        "-> !torch.vtensor<[1,8,1,1],f32>",
        "%0 = torch.aten._softmax %m, %one, %false : !m, !torch.int, !torch.bool -> !m",
        '%0 = torch.aten.mm %m, %m {dovetail.recompute = "must_recompute"} : !m, !m -> !m',
    ],
    ids=["pointwise", "gather", "interpolation", "softmax", "wanted"],
)
def test_cheap(op):
    """Would catch an op that PyTorch's partitioner runs again, or that the user wants run again, and ours saves."""
    assert price(op) == 0


@pytest.mark.parametrize(
    "op",
    [
        '%0 = torch.operator "torch.mine.op"(%m) : (!m) -> !m',
        '%0 = torch.operator "torch.aten.bernoulli"(%m, %none) {dovetail.reason = "effect"} : (!m, !torch.none) -> !m',
        '%0 = torch.aten.exp %m {dovetail.recompute = "must_save"} : !m -> !m',
    ],
    ids=["unknown", "random", "saved"],
)
def test_never(op):
    """Would catch a custom op or a draw that a budget repeats, and a policy that bytes override."""
    assert price(op) is None


def test_what_the_backward_alone_computes_is_no_repetition():
    """Would catch a product that only the backward needs, computed in the forward and saved."""
    assert price("%0 = torch.aten.mm %m, %m : !m, !m -> !m", in_forward=False) == 0


def test_what_a_library_call_of_the_backward_takes_is_work():
    """Would catch a GELU that a memory budget keeps although it moves fewer bytes than a product; and a user's wish."""
    assert price("%0 = torch.aten.exp %m : !m -> !m", is_written_again=True) == 1 + 2 * TENSOR + 64 // FLOPS_PER_BYTE
    wanted = '%0 = torch.aten.exp %m {dovetail.recompute = "must_recompute"} : !m -> !m'
    assert price(wanted, is_written_again=True) == 0
