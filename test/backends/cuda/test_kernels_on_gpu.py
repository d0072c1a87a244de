"""Each form that kernels are tiled in, on a GPU, against float64: only what is right here may be on the list."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

import dovetail
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.cuda.read_plan import load_cuda_plan
from test.support.gpu_regions import (
    COLUMNS,
    SOFTMAX,
    moments_of_parts,
    region,
    rounded_columns,
    rounded_softmax,
    turn,
)
from test.support.special_values import all_numbers

pytestmark = pytest.mark.cuda

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
ERRORS = {"f32": 2e-6, "bf16": 6e-3, "f16": 8e-4}
"""Of the norm of what is expected."""


@dataclass(frozen=True)
class Case:
    """A region on random numbers of one shape, and what it computes."""

    ops: str
    shape: tuple[int, ...]
    expected: Callable[[torch.Tensor], torch.Tensor]
    form: str
    dtype: str = "f32"
    result: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.expected.__name__[1:]}-{self.form}-{'x'.join(map(str, self.shape))}-{self.dtype}"


def _norm(x: torch.Tensor) -> torch.Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(-1)


def _columns(x: torch.Tensor) -> torch.Tensor:
    return x.sum(-2)


def _variances(x: torch.Tensor) -> torch.Tensor:
    return x.var(1, correction=0, keepdim=True)


def _mixed(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * torch.exp(-x * x) / (1 + torch.exp(x)) + torch.erf(x)


MIXED = """%minus = torch.aten.neg %x : !X -> !X
    %square = torch.aten.mul.Tensor %minus, %x : !X, !X -> !X
    %small = torch.aten.exp %square : !X -> !X
    %tanh = torch.aten.tanh %x : !X -> !X
    %product = torch.aten.mul.Tensor %tanh, %small : !X, !X -> !X
    %large = torch.aten.exp %x : !X -> !X
    %below = torch.aten.add.Scalar %large, %one, %one : !X, !torch.int, !torch.int -> !X
    %quotient = torch.aten.div.Tensor %product, %below : !X, !X -> !X
    %erf = torch.aten.erf %x : !X -> !X
    %y = torch.aten.add.Tensor %quotient, %erf, %one : !X, !X, !torch.int -> !X"""
BATCHED = COLUMNS.replace("%rows", "%middle")
ROWS = [(8192, 4096), (512, 1024), (4096, 768), (4096, 64), (4096, 8), (8192, 3001), (64, 50257), (3, 5000)]
MORE_ROWS = [(5000, 100), (16, 12, 128), (1, 4096), (1, 512), (1, 32768), (4096, 256), (512, 16, 512), (4100, 768)]
HALF_ROWS = [(64, 16384), (64, 65536), (4096, 1024), (5, 384), (512, 128), (7, 1001)]
ROUNDED = [(2048, 1024), (8192, 4096), (512, 4096), (1536, 4096), (1024, 12288), (768, 4096), (1024, 4112)]
TALL = [(2048, 1024), (64, 16), (8192, 4096), (192, 48), (128, 32), (256, 16), (1536, 48)]
PARTS = [(448, 448, 64), (256, 3136, 64), (28, 448, 256), (7, 448, 512), (1024, 256, 16), (2, 4096, 48)]
FLAT = [(2048, 1024), (7456561,), (4096, 4099), (33, 128), (64, 8, 24)]
CASES = [
    *(Case(SOFTMAX, shape, _softmax, "rows") for shape in ROWS),
    *(Case(SOFTMAX, shape, _softmax, "rows", dtype) for shape in [*ROWS, *HALF_ROWS] for dtype in ("bf16", "f16")),
    *(Case("NORM", shape, _norm, "rows") for shape in [*ROWS, *MORE_ROWS]),
    *(Case(COLUMNS, shape, _columns, "columns", result=shape[1:]) for shape in TALL),
    *(Case(rounded_columns(*shape), shape, _columns, "columns", "bf16", result=shape[1:]) for shape in ROUNDED),
    Case(BATCHED, (16, 512, 768), _columns, "columns", result=(16, 768)),
    *(Case(moments_of_parts(*each), each, _variances, "columns", result=(each[0], 1, each[2])) for each in PARTS),
    *(Case(MIXED, shape, _mixed, "pointwise") for shape in FLAT),
    *(Case(MIXED, (2048, 1024), _mixed, "pointwise", dtype) for dtype in ("bf16", "f16")),
]


def _text(case: Case) -> str:
    ops = case.ops
    if ops == "NORM":
        *outer, last = case.shape
        kept = f"!torch.vtensor<[{','.join(map(str, [*outer, 1]))}],f32>"
        ops = f"""%end = torch.constant.int -1
    %true = torch.constant.bool true
    %last = torch.prim.ListConstruct %end : (!torch.int) -> !torch.list<int>
    %count = torch.constant.float {float(last)}
    %eps = torch.constant.float 1.0e-05
    %sum = torch.aten.sum.dim_IntList %x, %last, %true, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> {kept}
    %mean = torch.aten.div.Scalar %sum, %count : {kept}, !torch.float -> {kept}
    %c = torch.aten.sub.Tensor %x, %mean, %one : !X, {kept}, !torch.int -> !X
    %q = torch.aten.mul.Tensor %c, %c : !X, !X -> !X
    %t = torch.aten.sum.dim_IntList %q, %last, %true, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> {kept}
    %v = torch.aten.div.Scalar %t, %count : {kept}, !torch.float -> {kept}
    %w = torch.aten.add.Scalar %v, %eps, %one : {kept}, !torch.float, !torch.int -> {kept}
    %r = torch.aten.rsqrt %w : {kept} -> {kept}
    %y = torch.aten.mul.Tensor %c, %r : !X, {kept} -> !X"""
    if "%middle =" not in ops:
        ops = "%middle = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>\n    " + ops
    sizes = ",".join(map(str, case.shape))
    return region(sizes, case.dtype, ops, ",".join(map(str, case.result)) if case.result else "")


@pytest.fixture(scope="module")
def compiled() -> dict[Case, object]:
    """All regions, compiled at once."""
    major, minor = torch.cuda.get_device_capability()
    texts = {str(case): _text(case) for case in CASES}
    outcomes = compile_regions(texts, target_for_device(f"cuda:sm_{major}{minor}"), timeout=120, plans=True, jobs=16)
    return {case: outcomes[str(case)] for case in CASES}


def _runner(text: str, outcome: LaunchPlan):
    module = parse_module(text, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (outcome.steps, digest(outcome.code))})
    [plan] = plans(module).values()
    return load_cuda_plan(plan, outcome.code)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_form_is_right(compiled, case: Case):
    """Catches tiles that IREE computes wrongly without a word: parts of sums that never arrive."""
    outcome = compiled[case]
    assert isinstance(outcome, LaunchPlan), outcome
    assert {step["tiling"] for step in outcome.steps["steps"] if step["op"] == "dispatch"} == {case.form}
    run = _runner(_text(case), outcome)
    for seed in range(2):
        torch.manual_seed(seed)
        x = torch.randn(case.shape, device="cuda", dtype=DTYPES[case.dtype]) + 0.5
        expected = case.expected(x.double())
        y = torch.full(case.result or case.shape, float("nan"), device="cuda", dtype=x.dtype)
        run(x, y)
        error = torch.linalg.vector_norm(y.double() - expected) / torch.linalg.vector_norm(expected)
        assert error < ERRORS[case.dtype], error


SPECIAL = (
    0.0,
    -0.0,
    float("inf"),
    -float("inf"),
    float("nan"),
    1e-40,
    -1e-40,
    88.0,
    89.0,
    -88.0,
    -104.0,
    1e38,
    -1e38,
    0.5,
)


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "log", "log1p", "expm1", "sin", "cos", "sigmoid"])
def test_functions_of_special_numbers(name: str):
    """Catches a function that is another one on infinities, NaN, signed zeros or subnormal numbers than eager's."""
    text = region("2048,1024", "f32", f"%y = torch.aten.{name} %x : !X -> !X")
    major, minor = torch.cuda.get_device_capability()
    target = target_for_device(f"cuda:sm_{major}{minor}")
    [outcome] = compile_regions({"a": text}, target, timeout=120, plans=True).values()
    assert isinstance(outcome, LaunchPlan), outcome
    run = _runner(text, outcome)
    x = torch.tensor(SPECIAL, device="cuda").repeat(2048 * 1024 // len(SPECIAL) + 1)[: 2048 * 1024].reshape(2048, 1024)
    y = torch.empty_like(x)
    run(x, y)
    torch.testing.assert_close(y, getattr(torch, name)(x), rtol=1e-6, atol=0, equal_nan=True)


def _telling_rows(shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    """Rows whose softmaxes are subnormal numbers, or none at all, in part or whole."""
    torch.manual_seed(0)
    rows, length = shape
    x = (torch.randn(shape, device="cuda") * torch.logspace(-2, 2, rows, device="cuda")[:, None]).to(dtype)
    inf, nan = float("inf"), float("nan")
    x[1::16, 0], x[2::16, :] = inf, -inf
    x[3::16, length // 2], x[4::16, 1:] = nan, -inf
    x[5::16, :], x[6::16, 0] = 3, 1e4
    x[7::16] = -torch.linspace(0, 110, length, device="cuda", dtype=torch.float64).to(dtype)
    return x


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize(
    "shape", [(512, 3001), (256, 4096), (64, 16384), (4096, 64), (4096, 768), (64, 50257)], ids=str
)
def test_softmaxes_of_half_precision(shape: tuple[int, int], dtype: str):
    """Catches an approximation that is less exact than eager's by more than what rounding adds, a subnormal number that
    is 0, a row of no numbers that is some, and sums that start from something else than 0."""
    x = _telling_rows(shape, DTYPES[dtype])
    texts = {is_log: rounded_softmax(",".join(map(str, shape)), dtype, is_log=is_log) for is_log in (False, True)}
    major, minor = torch.cuda.get_device_capability()
    target = target_for_device(f"cuda:sm_{major}{minor}")
    outcomes = compile_regions({str(key): text for key, text in texts.items()}, target, timeout=120, plans=True)
    for is_log, text in texts.items():
        outcome, y = outcomes[str(is_log)], torch.empty_like(x)
        assert isinstance(outcome, LaunchPlan), outcome
        _runner(text, outcome)(x, y)
        function = torch.log_softmax if is_log else torch.softmax
        eager, exact, found = function(x, 1).double(), function(x.double(), 1), y.double()
        is_number = exact.isfinite() & eager.isfinite()
        torch.testing.assert_close(found[~is_number], eager[~is_number], rtol=0, atol=0, equal_nan=True)
        least = 2.0**-22 if is_log else 0.0
        error, allowed = (found - exact).abs()[is_number], 3 * (eager - exact).abs()[is_number].clamp_min(least)
        assert (error <= allowed).all(), (x[is_number][error > allowed], found[is_number][error > allowed])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh"])
def test_functions_of_all_numbers_of_half_precision(name: str, dtype: torch.dtype):
    """Catches an approximation that is less exact, somewhere, than its instruction promises."""
    x, function = all_numbers(dtype).cuda(), getattr(torch, name)
    dovetail.stats(reset=True)
    found, eager, exact = _compiled(function)(x).double(), function(x).double(), function(x.double())
    assert dovetail.stats().kernels == {"pointwise": 1}
    is_number = exact.isfinite() & eager.isfinite()
    torch.testing.assert_close(found[~is_number], eager[~is_number], rtol=0, atol=0, equal_nan=True)
    error, allowed = (found - exact).abs()[is_number], 3 * (eager - exact).abs()[is_number]
    assert (error <= allowed).all(), x[is_number][error > allowed]
    assert torch.equal(found.signbit()[is_number], eager.signbit()[is_number])


SUMS = {
    "one row": ((999983,), lambda x: (x * x).mean()),
    "a small row": ((13, 17), lambda x: (x * x).mean()),
    "rows": ((7, 65537), lambda x: (x * x).mean(1)),
    "columns": ((255, 33), lambda x: (x * x).mean(0)),
    "apart": ((5, 33, 7), lambda x: (x * x).mean((0, 2))),
    "all of an image": ((2, 3, 211, 223), lambda x: (x * x).mean()),
    "of blocks of rows": ((2048, 768), lambda x: ((x - 1) ** 2).mean()),
    "of an odd number of blocks": ((1001, 1024), lambda x: (x * x).sum()),
    "scaled": ((64, 4096), lambda x: (x * 3).sum(1)),
    "negated": ((2048,), lambda x: (-x).sum()),
    "chosen": ((4096,), lambda x: torch.where(x > 1.5, x, 0).sum() / (x > 1.5).sum()),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_as_exact_as_eagers(name: str):
    """Catches what one thread adds up in float32, number by number: of a million, five digits are right."""
    shape, function = SUMS[name]
    x = torch.rand(shape, device="cuda") + 1
    exact, eager = function(x.double()), function(x)
    compiled = torch.compile(function, backend="dovetail")(x)
    bound = 3 * (eager - exact).abs().max() + torch.finfo(torch.float32).eps * exact.abs().max()
    assert (compiled - exact).abs().max() <= bound


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(4096, 4096), (992, 512), (512, 992), (64, 32), (257, 1031), (3, 64, 96)], ids=str)
def test_transpositions_are_right(dtype: torch.dtype, shape: tuple[int, ...]):
    """Catches a transposition through shared memory that is another one where its tiles do not divide the sizes."""
    x, z = torch.randn(2, *shape, device="cuda", dtype=dtype)
    y = torch.randn_like(x.mT.contiguous())
    for fn in (lambda x, y, z: (x.mT + y).abs(), lambda x, y, z: (x + z).mT - y * x.mT):
        assert torch.equal(_compiled(fn)(x, y, z), fn(x, y, z))


@pytest.mark.parametrize("shape", [(4096, 4096), (64, 32), (512, 992), (3, 64, 96), (16, 128, 64)], ids=str)
def test_half_precision_transposed_by_our_tiles(shape: tuple[int, ...]):
    """Catches numbers of the tile's second half left out, or in the places of the first, and writes behind the end."""
    text, behind = turn(",".join(map(str, (1, *shape)[-3:])), "bf16"), 64
    major, minor = torch.cuda.get_device_capability()
    target = target_for_device(f"cuda:sm_{major}{minor}")
    [outcome] = compile_regions({"a": text}, target, timeout=120, plans=True).values()
    assert isinstance(outcome, LaunchPlan), outcome
    assert {step["tiling"] for step in outcome.steps["steps"] if step["op"] == "dispatch"} == {"transposed"}
    x = torch.randn((1, *shape)[-3:], device="cuda", dtype=torch.bfloat16)
    whole = torch.full((x.numel() + behind,), 7.0, device="cuda", dtype=x.dtype)
    y = whole[:-behind].view(x.mT.shape)
    _runner(text, outcome)(x, y)
    assert torch.equal(y, x.mT)
    assert (whole[-behind:] == 7).all()


HALF_WORK = {
    "norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "norm of a sum": lambda x: torch.nn.functional.layer_norm(x + x.sin(), x.shape[-1:]),
    "in float32": lambda x: torch.softmax(x.float(), -1),
    "columns": lambda x: (x * 2).sum(-2),
    "columns of products": lambda x: (x * x.cos()).sum(-2),
    "two sums of columns": lambda x: (x.sum(-2), (x * x).sum(-2)),
}


@pytest.mark.parametrize("shape", [(8192, 4096), (4096, 768), (16, 512, 768), (512, 384), (300, 1001)], ids=str)
@pytest.mark.parametrize("name", HALF_WORK)
def test_rows_and_columns_of_half_precision(name: str, shape: tuple[int, ...]):
    """Catches numbers of a longer vector that are added up twice, or not at all."""
    x, fn = torch.randn(shape, device="cuda").bfloat16() + 0.5, HALF_WORK[name]
    found, eager, exact = (
        each if isinstance(each, tuple) else (each,) for each in (_compiled(fn)(x), fn(x), fn(x.double()))
    )
    for got, by_eager, true in zip(found, eager, exact, strict=True):
        floor = torch.finfo(got.dtype).eps / 2 * true.norm()
        assert (got.double() - true).norm() <= 3 * torch.maximum((by_eager.double() - true).norm(), floor)


FEW = (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16)
TURNED = [
    *((4, few, 512) for few in FEW),
    *((2, 256, few) for few in FEW),
    *((1, 3, 256), (1, 256, 3), (64, 3, 64), (7, 9, 640), (640, 9, 32), (2, 5, 1984), (33, 384, 7), (5, 3, 50176)),
]
"""What the form takes: all divided by its tiles, of which the last ones hold the least."""
TURNED_OTHERWISE = [
    (5, 3, 1001),
    (1001, 3, 5),
    (5, 49, 3),
    (64, 3, 49),
    (7, 9, 30),
    (3, 17, 512),
    (1, 3, 2),
    (31, 1, 9),
]
DTYPES_TURNED = [("f32", "f32"), ("f32", "bf16"), ("bf16", "f32"), ("bf16", "bf16"), ("f16", "f32"), ("f64", "f32")]


@pytest.fixture(scope="module")
def turning() -> dict[tuple, object]:
    """All that turn, compiled at once."""
    cases = [(shape, *dtypes) for shape in TURNED + TURNED_OTHERWISE for dtypes in DTYPES_TURNED]
    major, minor = torch.cuda.get_device_capability()
    texts = {str(case): _turn(*case) for case in cases}
    outcomes = compile_regions(texts, target_for_device(f"cuda:sm_{major}{minor}"), timeout=120, plans=True, jobs=16)
    return {case: outcomes[str(case)] for case in cases}


def _turn(shape: tuple[int, ...], dtype: str, made: str) -> str:
    return turn(",".join(map(str, shape)), dtype, made)


@pytest.mark.parametrize("dtypes", DTYPES_TURNED, ids="-".join)
@pytest.mark.parametrize("shape", TURNED + TURNED_OTHERWISE, ids=str)
def test_what_turns_few_elements_is_right(turning, shape: tuple[int, ...], dtypes: tuple[str, str]):
    """Catches a number that goes to another's place, is left out, or is written behind the end."""
    outcome = turning[shape, *dtypes]
    assert isinstance(outcome, LaunchPlan), outcome
    is_taken = {step["tiling"] for step in outcome.steps["steps"] if step["op"] == "dispatch"} == {"turned"}
    assert is_taken == (shape in TURNED)
    run, behind = _runner(_turn(shape, *dtypes), outcome), 64
    taken, made = (torch.float64 if dtype == "f64" else DTYPES[dtype] for dtype in dtypes)
    for seed in range(2):
        torch.manual_seed(seed)
        x = torch.randn(shape, device="cuda", dtype=taken)
        whole = torch.full((x.numel() + behind,), 7.0, device="cuda", dtype=made)
        y = whole[:-behind].view(x.mT.shape)
        run(x, y)
        assert torch.equal(y, x.mT.to(made))
        assert (whole[-behind:] == 7).all()


@pytest.mark.parametrize("sizes", ["?,3,512", "?,512,3", "?,9,256", "?,7,640"])
def test_open_numbers_of_what_turns(sizes: str):
    """Catches the last of an open number of images left out, and one more that is written behind them."""
    text, behind = turn(sizes, "f32"), 64
    major, minor = torch.cuda.get_device_capability()
    [outcome] = compile_regions(
        {"a": text}, target_for_device(f"cuda:sm_{major}{minor}"), timeout=120, plans=True
    ).values()
    assert isinstance(outcome, LaunchPlan), outcome
    run, known = _runner(text, outcome), [int(size) for size in sizes.split(",")[1:]]
    for count in (2, 3, 5, 64, 129, 1000):
        x = torch.randn(count, *known, device="cuda")
        whole = torch.full((x.numel() + behind,), 7.0, device="cuda")
        y = whole[:-behind].view(x.mT.shape)
        run(x, y)
        assert torch.equal(y, x.mT)
        assert (whole[-behind:] == 7).all()


@pytest.mark.parametrize("shape", [(8, 3, 64, 64), (5, 3, 33, 31), (64, 9, 16, 16)], ids=str)
def test_what_else_a_kernel_that_turns_computes(shape: tuple[int, ...]):
    """Catches operands in the order of the result read in that of what is turned, and results that a thread keeps."""

    def fn(x, y, w):
        turned = x.permute(0, 2, 3, 1)
        return (turned * 2 + y).contiguous(), (turned * w).to(torch.bfloat16).contiguous()

    x = torch.randn(shape, device="cuda")
    y, w = torch.randn_like(x.permute(0, 2, 3, 1).contiguous()), torch.randn(shape[1], device="cuda")
    for found, expected in zip(_compiled(fn)(x, y, w), fn(x, y, w), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("shape", [(512, 1024), (7,), (1003,), (33, 65)], ids=str)
def test_moments_and_parameters_in_one_loop(shape: tuple[int, ...]):
    """Catches a thread that reads a moment which another one has overwritten, and powers of a count left to ATen."""

    def optimizer() -> torch.optim.AdamW:
        torch.manual_seed(0)
        given = [torch.nn.Parameter(torch.randn(shape, device="cuda")) for _ in range(3)]
        for each in given:
            each.grad = torch.randn_like(each)
        return torch.optim.AdamW(given, capturable=True)

    expected, found = optimizer(), optimizer()
    compiled = torch.compile(found.step, backend="dovetail")
    dovetail.stats(reset=True)
    for _ in range(4):
        expected.step()
        compiled()
    assert dovetail.stats().ops["fallback"] == 0
    for eager, ours in zip(expected.param_groups[0]["params"], found.param_groups[0]["params"], strict=True):
        torch.testing.assert_close(ours, eager)
        for name, value in expected.state[eager].items():
            torch.testing.assert_close(found.state[ours][name], value)


@pytest.mark.parametrize("shape", [(4096, 512), (8192, 64), (1000, 33)], ids=str)
def test_columns_of_what_others_take(shape: tuple[int, int]):
    """Catches one kernel for a gradient and the sum of its columns: 19 KiB a thread, assembled for minutes."""
    x, bias = torch.randn(shape, device="cuda"), torch.randn(shape[1], device="cuda")

    def gradients(function: Callable, dtype: torch.dtype) -> list[torch.Tensor]:
        leaves = [each.to(dtype).requires_grad_() for each in (x, bias)]
        return list(torch.autograd.grad(function(*leaves).sin().sum(), leaves))

    def compute(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x + bias)

    exact, eager = gradients(compute, torch.float64), gradients(compute, torch.float32)
    for ours, theirs, true in zip(gradients(_compiled(compute), torch.float32), eager, exact, strict=True):
        floor = torch.finfo(torch.float32).eps * true.norm()
        assert (ours - true).norm() <= 3 * (theirs - true).norm() + floor


def _compiled(function: Callable) -> Callable:
    return torch.compile(function, backend="dovetail")


SMALL = [
    *((shape, (shape[0], 1)) for shape in ((24, 20), (32, 5), (32, 29), (64, 6), (16, 4))),
    *((shape, (1, shape[1])) for shape in ((128, 15), (64, 21), (8, 40), (256, 6), (7, 9))),
    *(
        ((4, 2, 64, 18), (4, 1, 64, 1)),
        ((17, 32, 7), (1, 32, 1)),
        ((6, 4, 4, 5), (6, 1, 4, 5)),
        ((5, 256, 3), (1, 256, 1)),
    ),
]
"""Shapes of two operands. IREE's own tiles lose parts of the sums of most of them."""


@pytest.mark.parametrize(("shape", "other"), SMALL, ids=str)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_small_sums_are_whole(shape: tuple[int, ...], other: tuple[int, ...], dtype: str):
    """Catches a kernel whose lanes don't read what all subgroups found: whole sums are rounded once."""

    def fn(x, y):
        return (x - y).sum(), (x - y).relu().sum((-2, -1))

    x, y = (torch.randint(-2, 3, sizes, device="cuda").to(DTYPES[dtype]) for sizes in (shape, other))
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    for found, expected in zip(compiled(x, y), fn(x.double(), y.double()), strict=True):
        assert torch.equal(found, expected.to(found.dtype))


@pytest.mark.parametrize("shape", [(4,), (18, 8, 8), (34, 2), (23, 7)], ids=str)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.bool], ids=str)
def test_extremes_of_whole_numbers(shape: tuple[int, ...], dtype: torch.dtype):
    """Catches lanes without a number that start from 0 or -1: negative maxima were 0, and minima -1."""

    def fn(x):
        return x.amax(-1, keepdim=True), x.amin(-1), x + x.amax(-1, keepdim=True)

    x = (torch.randint(-9, 9, shape, device="cuda") * 4 - 40).to(dtype)
    for found, expected in zip(torch.compile(fn, backend="dovetail")(x), fn(x), strict=True):
        assert torch.equal(found, expected)
