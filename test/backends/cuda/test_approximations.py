"""All numbers of half precision through what approximates their functions: emulated, with errors that PTX allows."""

import re
from collections.abc import Callable

import pytest
import torch

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import Outcome
from test.support.gpu_regions import region, rounded_softmax
from test.support.special_values import all_numbers

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
_SMALLEST_NORMAL = 2.0**-126


def _flushed(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.abs() < _SMALLEST_NORMAL, x * 0, x)


def _off(exact: torch.Tensor, by: float) -> torch.Tensor:
    """float64 numbers as float32, each wrong by that part of it."""
    return (exact * (1 + by)).float()


def _tanh(x: torch.Tensor, sign: int) -> torch.Tensor:
    return _off(x.double().tanh(), sign * 2.0**-11).clamp(-1, 1)


def _exp(x: torch.Tensor, sign: int) -> torch.Tensor:
    return _off(torch.exp2((x * 1.44269504).double()), sign * 2.0**-22)


def _sigmoid(x: torch.Tensor, sign: int) -> torch.Tensor:
    power = (x.double() * torch.tensor(-1.44269504).double() - 2).float()
    total = _flushed(_off(torch.exp2(_flushed(power).double()), -sign * 2.0**-22)) + 0.25
    return _flushed(_off(1 / total.double(), sign * 2.0**-23)) * 0.25


CASES = [("bf16", "tanh", _tanh), *((dtype, of.__name__[1:], of) for dtype in DTYPES for of in (_exp, _sigmoid))]


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize(("dtype", "name", "of"), CASES)
def test_all_numbers_are_about_as_exact_as_eagers(dtype: str, name: str, of: Callable, sign: int):
    """Catches an approximation that is too coarse for some number, as of a large, a subnormal or a negative one."""
    x = all_numbers(DTYPES[dtype])
    eager, exact = getattr(torch, name)(x).double(), getattr(torch, name)(x.double())
    found = of(x.float(), sign).to(x.dtype).double()
    is_number = exact.isfinite() & eager.isfinite()
    torch.testing.assert_close(found[~is_number], eager[~is_number], rtol=0, atol=0, equal_nan=True)
    error, allowed = (found - exact).abs()[is_number], 3 * (eager - exact).abs()[is_number]
    assert (error <= allowed).all(), x[is_number][error > allowed]
    assert torch.equal(found.signbit()[is_number], eager.signbit()[is_number])


def _power(exponent: torch.Tensor, sign: int) -> torch.Tensor:
    return _flushed(_off(torch.exp2(_flushed(exponent).double()), sign * 2.0**-22))


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_softmaxes_beside_all_numbers_are_about_as_exact_as_eagers(dtype: str, sign: int):
    """Catches powers that are flushed to 0 though what they are divided by makes a subnormal number of them, or that
    are too coarse in some distance from the largest one."""
    x = all_numbers(DTYPES[dtype])
    pairs = torch.stack([x, torch.zeros_like(x)], 1)
    eager, exact = pairs.softmax(1).double(), pairs.double().softmax(1)
    less = pairs.float() - pairs.float().amax(1, keepdim=True)
    power = _power((less.double() * torch.tensor(1.44269504).double() + 8).float(), sign)
    factor = _off(1 / power.sum(1, keepdim=True).double(), sign * 2.0**-22)
    found = (power * factor).to(x.dtype).double()
    torch.testing.assert_close(found.isnan(), eager.isnan())
    error, allowed = (found - exact).abs(), 3 * (eager - exact).abs()
    is_worse = (error > allowed) & ~eager.isnan()
    assert not is_worse.any(), pairs[is_worse.any(1)]


INSTRUCTIONS = {
    "tanh": ["tanh.approx.f32"],
    "exp": ["ex2.approx.f32"],
    "sigmoid": ["ex2.approx.ftz.f32", "rcp.approx.ftz.f32"],
}


REGIONS = {
    f"{name} {dtype}": region("2048,1024", dtype, f"%y = torch.aten.{name} %x : !X -> !X")
    for dtype in ("f32", *DTYPES)
    for name in INSTRUCTIONS
}

REGIONS |= {
    f"{'log' if is_log else 'softmax'} {dtype}": rounded_softmax("512,4096", dtype, is_log=is_log)
    for dtype in DTYPES
    for is_log in (False, True)
}
REGIONS["softmax f32"] = rounded_softmax("512,4096", "f32")


def _ptx(plan: Outcome) -> str:
    assert isinstance(plan, LaunchPlan), plan
    [entry] = [step["entry"] for step in plan.steps["steps"] if step["op"] == "dispatch"]
    [ptx] = re.findall(rf"(?s)\.visible \.entry {re.escape(entry)}\(.*?(?=\.visible|\Z)", plan.code.decode())
    return ptx


@pytest.mark.parametrize(("dtype", "name"), [case[:2] for case in CASES])
def test_half_precision_takes_few_instructions(compiled: dict[str, Outcome], dtype: str, name: str):
    """Catches functions that limit a kernel more than memory does, and rounding in between."""
    ptx = _ptx(compiled[f"{name} {dtype}"])
    assert re.findall(r"\w+\.approx\.\w+(?:\.\w+)?", ptx) == INSTRUCTIONS[name] * 8
    assert len(re.findall(rf"cvt\.rn\.{dtype}", ptx)) in (4, 8)
    assert "$L__BB" not in ptx  # as the library's tanh, whose branches threads of a subgroup all go
    assert not re.search(r"(add|mul|neg|sub)\S*\.(bf16|f16)", ptx)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmaxes_take_few_instructions(compiled: dict[str, Outcome], dtype: str):
    """Catches the library's exponential, or a division, for each number of a row whose softmax is rounded."""
    ptx = _ptx(compiled[f"softmax {dtype}"])
    assert len(re.findall(r"ex2\.approx\.ftz\.f32", ptx)) == 32
    assert len(re.findall(r"div\.full\.f32", ptx)) == 1
    assert len(re.findall(r"fma\.rn\.f32 .*0f41000000", ptx)) == 32
    assert "cvt.sat" not in ptx
    of_logarithm = _ptx(compiled[f"log {dtype}"])
    assert len(re.findall(r"ex2\.approx\.ftz\.f32", of_logarithm)) == 32
    assert "cvt.sat" not in of_logarithm


def test_softmaxes_of_float32_are_the_librarys(compiled: dict[str, Outcome]):
    """Catches an approximation of what is stored in float32."""
    ptx = _ptx(compiled["softmax f32"])
    assert "ex2.approx.ftz.f32" in ptx  # of the library's exponential, beside its steps
    assert len(re.findall(r"cvt\.sat", ptx)) == 16


@pytest.mark.parametrize(("dtype", "name"), [*(("f32", name) for name in INSTRUCTIONS), ("f16", "tanh")])
def test_all_others_are_the_librarys(compiled: dict[str, Outcome], dtype: str, name: str):
    """Catches an approximation of what is stored in float32, or of more digits than it has."""
    ptx = _ptx(compiled[f"{name} {dtype}"])
    assert "tanh.approx" not in ptx
    assert "ex2.approx.f32" not in ptx
