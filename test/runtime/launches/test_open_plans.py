"""Plans whose numbers follow from sizes: right for many sizes, and nothing written for sizes that do not fit."""

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.target import CpuTarget
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.load_plan import load_plan, unavailable

pytestmark = pytest.mark.skipif(
    bool(unavailable("cpu")), reason=f"needs the extension, which the install builds: {unavailable('cpu')}"
)

X, OUT = "!torch.vtensor<[?,48],f32>", "!torch.tensor<[?,48],f32>"
ROWS, SQUARE = "!torch.vtensor<[?],f32>", "!torch.vtensor<[?,?],f32>"
ROWS_OUT, SQUARE_OUT = "!torch.tensor<[?],f32>", "!torch.tensor<[?,?],f32>"
CONSTANTS = """
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %none = torch.constant.none
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>"""


def softmax(type_: str, rows: str) -> str:
    """Along the last dimension, in parts, as decomposed graphs have it."""
    return f"""
    %m = torch.aten.amax %x, %last, %true : {type_}, !torch.list<int>, !torch.bool -> {rows}
    %s = torch.aten.sub.Tensor %x, %m, %int1 : {type_}, {rows}, !torch.int -> {type_}
    %e = torch.aten.exp %s : {type_} -> {type_}
    %t = torch.aten.sum.dim_IntList %e, %last, %true, %none
        : {type_}, !torch.list<int>, !torch.bool, !torch.none -> {rows}
    %r = torch.aten.div.Tensor %e, %t : {type_}, {rows} -> {type_}"""


def region(arguments: str, body: str, result: str, into: str) -> str:
    return f"""
module {{
  func.func @main({arguments}, %out: {into}) {{{CONSTANTS}{body}
    torch.overwrite.tensor.contents %r overwrites %out : {result}, {into}
    return
  }}
}}
"""


REGIONS = {
    "softmax": region(f"%x: {X}", softmax(X, "!torch.vtensor<[?,1],f32>"), X, OUT),
    "softmax of open rows": region(f"%x: {SQUARE}", softmax(SQUARE, "!torch.vtensor<[?,1],f32>"), SQUARE, SQUARE_OUT),
    "column sums": region(
        f"%x: {X}",
        f"""
    %r = torch.aten.sum.dim_IntList %x, %first, %false, %none
        : {X}, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[48],f32>""",
        "!torch.vtensor<[48],f32>",
        "!torch.tensor<[48],f32>",
    ),
    "mean": region(
        f"%x: {SQUARE}",
        f"""
    %r = torch.aten.mean.dim %x, %last, %false, %none
        : {SQUARE}, !torch.list<int>, !torch.bool, !torch.none -> {ROWS}""",
        ROWS,
        ROWS_OUT,
    ),
    "transposed": region(
        f"%x: {SQUARE}",
        f"""
    %t = torch.aten.transpose.int %x, %int0, %int1 : {SQUARE}, !torch.int, !torch.int -> {SQUARE}
    %r = torch.aten.tanh %t : {SQUARE} -> {SQUARE}""",
        SQUARE,
        SQUARE_OUT,
    ),
    "two waves": region(  # a transient, and a second dispatch that waits
        f"%x: {X}",
        f"""
    %e = torch.aten.exp %x : {X} -> {X}
    %t = torch.aten.sum.dim_IntList %e, %first, %true, %none
        : {X}, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,48],f32>
    %r = torch.aten.div.Tensor %e, %t : {X}, !torch.vtensor<[1,48],f32> -> {X}""",
        X,
        OUT,
    ),
    "inner concatenation": region(
        f"%x: {X}, %y: {X}",
        f"""
    %l = torch.prim.ListConstruct %x, %y : ({X}, {X}) -> !torch.list<vtensor>
    %r = torch.aten.cat %l, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,96],f32>""",
        "!torch.vtensor<[?,96],f32>",
        "!torch.tensor<[?,96],f32>",
    ),
    "number": region(
        f"%x: {ROWS}, %n: !torch.int",
        f"""
    %i = torch.aten.arange %n, %none, %none, %none, %none
        : !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?],si64>
    %r = torch.aten.mul.Tensor %i, %x : !torch.vtensor<[?],si64>, {ROWS} -> {ROWS}""",
        ROWS,
        ROWS_OUT,
    ),
}

SIZES = (0, 1, 2, 3, 7, 31, 64, 65, 257, 1000)


def eager(name: str, x: torch.Tensor, *others) -> torch.Tensor:
    match name:
        case "softmax" | "softmax of open rows":
            return x.softmax(1)
        case "column sums":
            return x.sum(0)
        case "mean":
            return x.mean(1)
        case "transposed":
            return x.t().tanh()
        case "two waves":
            return x.exp() / x.exp().sum(0, keepdim=True)
        case "inner concatenation":
            return torch.cat([x, *others], 1)
        case _:
            return torch.arange(others[0]) * x


def arguments(name: str, size: int) -> list:
    match name:
        case "softmax of open rows" | "mean" | "transposed":
            return [torch.randn(size, size * 3 // 2 + 1)]
        case "inner concatenation":
            return [torch.randn(size, 48), torch.randn(size, 48)]
        case "number":
            return [torch.randn(size), size]
        case _:
            return [torch.randn(size, 48)]


@pytest.fixture(scope="module")
def compiled() -> dict[str, LaunchPlan]:
    outcomes = compile_regions(REGIONS, CpuTarget(), timeout=200, plans=True)
    assert not {name: each for name, each in outcomes.items() if not isinstance(each, LaunchPlan)}
    return outcomes  # type: ignore[return-value]


def planned(text: str, plan: LaunchPlan) -> ir.Module:
    """The region at level `launches`."""
    module = parse_module(text, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (plan.steps, digest(plan.code))})
    module.operation.verify()
    return module


@pytest.fixture(scope="module")
def loaded(compiled: dict[str, LaunchPlan]) -> dict:
    modules = {name: planned(REGIONS[name], plan) for name, plan in compiled.items()}
    reparsed = {name: parse_module(str(module), make_context()) for name, module in modules.items()}
    return {name: load_plan(plans(module)["main"], compiled[name].code) for name, module in reparsed.items()}


@pytest.mark.parametrize("name", REGIONS)
def test_right_for_every_size(loaded: dict, name: str):
    """Would catch a number that is right for the sizes of the trace alone, and rows that no workgroup takes."""
    for size in SIZES:
        given = arguments(name, size)
        expected = eager(name, *given)
        out = torch.full(expected.shape, 7.0)
        loaded[name](*given, out)
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)


def test_other_sizes_are_refused_before_anything_is_written(loaded: dict):
    """Would catch reads and writes beyond a tensor that is smaller than the sizes of another one say."""
    x, out = torch.randn(64, 48), torch.full((63, 48), 7.0)
    with pytest.raises(ValueError, match=r"region 'main': its plan reaches for 12288 bytes from byte 0 of argument 1"):
        loaded["softmax"](x, out)
    with pytest.raises(
        ValueError, match=r"argument 0: got torch.float32, shape \(64, 47\).* expected .*shape \(\?,48\)"
    ):
        loaded["softmax"](torch.randn(64, 47), out)
    with pytest.raises(ValueError, match="argument 0"):
        loaded["softmax"](torch.randn(48), out)
    with pytest.raises(ValueError, match="argument 2, which has"):
        loaded["number"](torch.randn(5), 6, torch.zeros(5))
    assert torch.equal(out, torch.full((63, 48), 7.0))


@pytest.mark.parametrize("number", [-1, 1 << 62, 1 << 63, 2.0, True, None])
def test_numbers_that_are_no_sizes_are_refused(loaded: dict, number: object):
    """Would catch a length that wraps around to one that fits."""
    out = torch.zeros(5)
    with pytest.raises((ValueError, TypeError), match=r"region 'main'"):
        loaded["number"](torch.randn(5), number, out)
    assert not out.any()


def test_sizes_of_what_has_no_elements_may_be_any(loaded: dict):
    """Would catch a tensor of no bytes that is refused, since its sizes but for the 0 come to too many."""
    for shape in ((1 << 62, 0), (0, 1 << 62)):
        loaded["transposed"](torch.empty(shape), torch.empty(shape[::-1]))


def test_an_input_that_lies_otherwise_is_copied(loaded: dict):
    """Would catch a transposed tensor that is read row by row, or refused since its sizes are open."""
    x, out = torch.randn(48, 9).t(), torch.empty(9, 48)
    loaded["softmax"](x, out)
    torch.testing.assert_close(out, x.softmax(1))
