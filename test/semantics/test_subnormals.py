"""Numbers below the least normal one: compiled code tells them from zero, as eager does."""

import re

import pytest
import torch

import dovetail
from dovetail import loading
from dovetail.dialects.reading import Module

pytestmark = pytest.mark.host

F = torch.nn.functional
UNPLANNED = loading.ThroughRuntime(None, "there is none here")

# What jumps at zero or is steep there, and what passes such numbers on.
OPS = {
    "eq": lambda x: x == 0,
    "ne": lambda x: x != 0,
    "gt": lambda x: x > 0,
    "ge": lambda x: x >= 1e-40,
    "lt": lambda x: x < 0,
    "le": lambda x: x <= -1e-41,
    "sign": torch.sign,
    "logical_not": torch.logical_not,
    "bool": lambda x: x.bool(),
    "any": lambda x: x.bool().any(1),
    "all": lambda x: (x != 0).all(),
    "ceil": torch.ceil,
    "floor": torch.floor,
    "threshold": lambda x: F.threshold(x, 0.0, 5.0),
    "where": lambda x: torch.where(x != 0, x, 1.0),
    "masked_fill": lambda x: x.masked_fill(x > 0, 3.0),
    "log": torch.log,
    "log2": torch.log2,
    "logit": lambda x: torch.logit(x.abs()),
    "xlogy": lambda x: torch.xlogy(1e20, x.abs()),
    "reciprocal": torch.reciprocal,
    "div": lambda x: x / 1e-38,
    "div of itself": lambda x: x / x,
    "div by itself": lambda x: 1e-3 / x,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "pow": lambda x: x**-1,
    "mul": lambda x: x * 1e30,
    "add": lambda x: (x + x) * 1e30,
    "clone": torch.clone,
    "amax": lambda x: x.amax(1),
    "sum": lambda x: x.sum(1) * 1e30,
    "to float64": lambda x: x.double(),
}

# Products of a subnormal number differ by less than one of its own size; with a large factor, that is not little.
PRODUCTS = ("mul", "add", "sum", "clone", "amax", "to float64")


def numbers(dtype: torch.dtype) -> torch.Tensor:
    """32 rows that begin alike: subnormal, zero and ordinary numbers of both signs."""
    least = torch.finfo(dtype).smallest_normal
    denormal = least * torch.finfo(dtype).eps
    row = [0.0, -0.0, denormal, -denormal, least / 2, -least / 2, least / 4, least, -least, 1.0, -3.5, 1e-20]
    return torch.tensor([row] * 32, dtype=dtype)


def differences(ops: dict, *given: torch.Tensor) -> list[str]:
    """The ops that give another result of one of the tensors compiled, in one program, than eagerly."""

    def run(*given):
        return [op(x) for x in given for op in ops.values()]

    compiled = torch.compile(run, backend="dovetail")(*given)
    wrong = []
    for name, actual, expected in zip([*ops] * len(given), compiled, run(*given), strict=True):
        close = torch.isclose(actual.double(), expected.double(), rtol=1e-5, atol=0, equal_nan=True)
        if actual.dtype is not expected.dtype or not close.all():
            wrong.append(name)
    return wrong


def test_plans_keep_subnormal_numbers():
    """Would catch code that runs with the processor's flush-to-zero on, and functions that round to normal numbers."""
    dovetail.stats(reset=True)
    assert differences(OPS, numbers(torch.float32), numbers(torch.float64)) == []
    assert set(dovetail.stats().launches) == {"plan"}


def test_what_can_tell_stays_out_of_the_runtime(monkeypatch):
    """IREE's runtime flushes to zero: each op that it gets wrong must be known, and become a library call with why."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    x, steep = numbers(torch.float32), {name: op for name, op in OPS.items() if name not in PRODUCTS}
    with monkeypatch.context() as patches:
        patches.setattr(loading, "telling_op", lambda region: "")
        wrong = differences(steep, x)
    assert {"eq", "gt", "sign", "bool", "where", "log", "reciprocal", "rsqrt"} <= set(wrong)
    # Nothing need be compiled to tell which regions stay.
    monkeypatch.setattr(loading.Regions, "begin", lambda *_: {})
    monkeypatch.setattr(loading.Regions, "of", lambda _, module: dict.fromkeys(Module(module).regions, UNPLANNED))
    for name in wrong:
        torch._dynamo.reset()
        dovetail.stats(reset=True)
        assert differences({name: OPS[name]}, x) == []
        reasons = {reason for (_, reason) in dovetail.stats().library_calls}
        assert any(re.search("subnormal numbers for zero, which aten.* can tell", reason) for reason in reasons), name
        assert dovetail.stats().regions == 0, name


def test_what_cannot_tell_goes_through_the_runtime(monkeypatch):
    """Would catch a rule that takes every region back: without the extension nothing would be compiled any more."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    dovetail.stats(reset=True)
    compiled = torch.compile(lambda x: x.tanh() * x, backend="dovetail")
    x = torch.randn(8, 8)
    torch.testing.assert_close(compiled(x), x.tanh() * x)
    assert dovetail.stats().launches == {"iree.runtime: DOVETAIL_LAUNCH=iree.runtime": 1}


def test_flush_denormal_is_obeyed(monkeypatch):
    """The user's own choice of flushing holds in compiled code, on each of its threads, and ends when it ends."""
    x = torch.full((512, 512), 1e-40)
    compiled = torch.compile(lambda x: x * 1e30, backend="dovetail")
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        kept = compiled(x)
        assert torch.set_flush_denormal(True)
        flushed = compiled(x)
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
    assert kept.min() > 0
    assert flushed.max() == 0
    assert compiled(x).min() > 0
