"""What the minimum cut saves for the backward, asked of the network itself, and how large that is."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module
from dovetail.errors import PassError
from dovetail.passes.partition.choose_saved import save_costs
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.min_cut import RecomputeNetwork
from dovetail.passes.partition.recompute_price import CHAIN, recompute_prices
from dovetail.passes.partition.saved_memory import SavedMemory

TYPES = """
!v = !torch.vtensor<[8],f32>
!half = !torch.vtensor<[8],f16>
!scalar = !torch.vtensor<[],f32>
!m = !torch.vtensor<[8,8],f32>
!n = !torch.vtensor<*,si64>
!r = !dovetail.ref<!v, strided<[1]>>
!rm = !dovetail.ref<!m, strided<[8, 1]>>
"""
WATCHED = "dovetail.watched = array<i64: 0>"
ARGUMENTS = f"%x: !r {{{WATCHED}}}, %y: !r {{{WATCHED}}}, %w: !r {{dovetail.static, {WATCHED}}}, %m: !rm {{{WATCHED}}}"


def solved(text: str, price: int | None = None) -> tuple[list[str], int]:
    """The names of the ops whose results are saved, in order, and the number of edges of the network.

    The body's last op, `func.return`, says what the backward needs. Arguments: memory %x, %y, %w, %m; %w is free.
    `price` is what running ops with work again costs.
    """
    module = parse_module(f"{TYPES}func.func @joint({ARGUMENTS}) -> ({text}", make_context())
    graph = JointGraph(Module(module).functions["joint"])
    prices = [price if work else work for work in recompute_prices(graph, set(range(len(graph.nodes))))]
    network = RecomputeNetwork(graph, graph.nodes[-1].operands, prices)
    values = network.cut(save_costs(graph, SavedMemory(graph)), prices)
    return [_describe(graph, value) for value in values], len(network.tails)


def saved(text: str, price: int | None = None) -> list[str]:
    """The names of the ops whose results are saved, in order."""
    return solved(text, price)[0]


def _describe(graph: JointGraph, value: int) -> str:
    op = graph.values[value].owner.operation
    if isinstance(op.opview, ReadOp):
        return f"read {'xywm'[graph.numbers[op.opview.ref]]}"
    return op.name if op.name != "torch.operator" else ir.StringAttr(op.attributes["name"]).value


def test_reinterpreted_memory_is_not_saved():
    """Would catch a saved view of other elements: autograd checks the version of its memory only through the base."""
    text = """!torch.vtensor<[8],si32>) {
      %int3 = torch.constant.int 3
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.view.dtype %0, %int3 : !v, !torch.int -> !torch.vtensor<[8],si32>
      return %1 : !torch.vtensor<[8],si32>
    }"""
    assert saved(text) == ["read x"]


def test_pointwise_ops_save_only_their_input():
    """Would catch saving every intermediate: more bytes than the input that gives them all."""
    text = """!v, !v, !v) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      %2 = torch.aten.sin %0 : !v -> !v
      %3 = torch.aten.tanh %2 : !v -> !v
      return %1, %2, %3 : !v, !v, !v
    }"""
    assert saved(text) == ["read x"]


def test_of_equal_bytes_the_least_is_recomputed():
    """Would catch a chain that is recomputed from its input though its first value costs the same to keep."""
    text = """!v, !v, !v) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      %2 = torch.aten.sin %1 : !v -> !v
      %3 = torch.aten.tanh %2 : !v -> !v
      return %1, %2, %3 : !v, !v, !v
    }"""
    assert saved(text) == ["torch.aten.exp"]


def test_one_narrow_value_is_saved_instead_of_two_wide_ones():
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


def test_smaller_element_type_is_preferred():
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
    ids=["library", "scan", "unknown", "random"],
)
def test_is_saved_and_not_recomputed(op: str, what: str):
    """Would catch a matrix product or a scan that runs twice, and a mask that is drawn again in the backward."""
    text = f"""!m, !m) {{
      %zero = torch.constant.int 0
      %half = torch.constant.float 5.000000e-01
      %none = torch.constant.none
      %0 = "dovetail.read"(%m) : (!rm) -> !m
      %1 = torch.aten.sin %0 : !m -> !m
      %2 = {op}
      %3 = torch.aten.exp %2 : !m -> !m
      %4 = torch.aten.mul.Tensor %3, %2 : !m, !m -> !m
      return %4, %3 : !m, !m
    }}"""
    assert saved(text) == [what]


SOFTMAX = """!m, !m) {
      %one = torch.constant.int 1
      %false = torch.constant.bool false
      %0 = "dovetail.read"(%m) : (!rm) -> !m
      %1 = torch.aten._softmax %0, %one, %false : !m, !torch.int, !torch.bool -> !m
      return %0, %1 : !m, !m
    }"""

ROW_SUM = """!m, !scalar) {
      %none = torch.constant.none
      %0 = "dovetail.read"(%m) : (!rm) -> !m
      %1 = torch.aten.sum %0, %none : !m, !torch.none -> !scalar
      return %0, %1 : !m, !scalar
    }"""


def test_wide_reduction_is_recomputed():
    """Would catch a softmax that is saved beside what it comes from: as many bytes again."""
    assert saved(SOFTMAX) == ["read m"]


def test_narrow_reduction_is_saved_unless_work_is_free():
    """Would catch a sum over a matrix that runs twice to save four bytes, and one that does not when bytes are all."""
    assert saved(ROW_SUM) == ["read m", "torch.aten.sum"]
    assert saved(ROW_SUM, price=0) == ["read m"]


def test_work_is_repeated_for_less_than_its_bytes():
    """Would catch a price that is ignored: the product is worth its 256 bytes or it is not."""
    text = """!m, !m) {
      %0 = "dovetail.read"(%m) : (!rm) -> !m
      %1 = torch.aten.mm %0, %0 : !m, !m -> !m
      return %0, %1 : !m, !m
    }"""
    cost = 256 * 4096
    assert saved(text, price=cost - 1) == ["read m"]
    assert saved(text, price=cost + 2) == ["read m", "torch.aten.mm"]


def chain(length: int) -> str:
    """Cheap ops in a row, of which the backward needs the first and the last."""
    rows = "".join(f"%v{index + 1} = torch.aten.sin %v{index} : !v -> !v\n" for index in range(length))
    return f'!v, !v) {{ %v0 = "dovetail.read"(%x) : (!r) -> !v\n {rows} return %v0, %v{length} : !v, !v }}'


def test_long_chains_are_cut():
    """Would catch a backward that begins with the whole of a deep network's forward, to save one value less."""
    assert saved(chain(CHAIN)) == ["read x"]
    assert saved(chain(CHAIN + 1)) == ["read x", "torch.aten.sin"]


def test_network_grows_with_the_ops():
    """Would catch an edge for each pair of a value and a later op: 10,000 ops would be 50 million edges."""
    sizes = [solved(chain(length), price=0)[1] for length in (1000, 2000)]
    assert sizes[0] < 5000
    assert sizes[1] < 2 * sizes[0] + 10


def test_what_can_be_had_in_no_way_is_named():
    """Would catch a cut through an edge that must not be cut, hence a backward that asks for a value nobody has."""
    text = """!torch.str) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.operator "torch.aten.item"(%0) {dovetail.reason = "has an effect"} : (!v) -> !torch.str
      return %1 : !torch.str
    }"""
    with pytest.raises(PassError) as caught:
        saved(text)
    assert str(caught.value).endswith(
        "'torch.operator' op is needed by the backward, never computed twice, and '!torch.str' can't be saved"
    )


def test_what_cannot_be_saved_is_computed_again_at_any_price():
    """Would catch a price above that of saving everything that is taken for "never", where there is no choice."""
    text = """!n, !n, !v) {
      %0 = "dovetail.read"(%x) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      %2 = torch.aten.nonzero %0 : !v -> !n
      %3 = torch.aten.nonzero %1 : !v -> !n
      return %2, %3, %1 : !n, !n, !v
    }"""
    everything = 2 * (1 + 32 * 4096)
    # Beyond the bound that a price is cut off at, below it, and below it though the two together are not.
    for price in (10**12, 1, everything - 1):
        assert saved(text, price) == ["read x"]


def test_views_are_never_saved():
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


def test_free_values_are_saved_before_anything_else():
    """Would catch a parameter that is not used though it costs nothing to keep."""
    text = """!v) {
      %0 = "dovetail.read"(%w) : (!r) -> !v
      %1 = torch.aten.exp %0 : !v -> !v
      return %1 : !v
    }"""
    assert saved(text) == ["read w"]


def test_a_free_value_is_not_saved_in_vain():
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


def test_from_constants_nothing_is_saved():
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


def test_nothing_needed_nothing_saved():
    """Would catch a network without a sink that ends in OR-Tools' error."""
    assert saved(") { return }") == []
