"""Numbers that differ from eager's are told apart: rounding of another order, and what is wrong."""

from collections.abc import Callable, Iterable, Iterator

import pytest
import torch

from dovetail.tools.fuzz import accuracy
from dovetail.tools.fuzz.accuracy import Accepted, Judge
from dovetail.tools.fuzz.observe import Observed, observe
from dovetail.tools.fuzz.world import World

SOURCE = """
import torch
from torch import cond
from torch.utils.checkpoint import checkpoint
from dovetail.tools.fuzz.computations.numbers import numbers

def fn(x):
    {body}

def inputs_0():
    x = numbers({kind!r}, 1, {shape}).requires_grad_()
    return locals()
"""


def kinds(right: str, wrong: str | Callable, kind: str = "normal", shape: tuple[int, ...] = (64,)) -> set[str]:
    """What is different in kind between two functions' bodies, the first one being eager."""
    judge = Judge(SOURCE.format(body=right, kind=kind, shape=shape), [("", "once")], ["x"])
    return {difference.kind for difference in judge.differences(0, *shown((right, wrong), kind, shape))}


def shown(bodies: Iterable[str | Callable], kind: str, shape: tuple[int, ...]) -> Iterator[Observed]:
    """What a call of each function shows."""
    for body in bodies:
        world = World(SOURCE.format(body=body, kind=kind, shape=shape))
        yield observe(world, world.fn, 0, ["x"], "", "once")


@pytest.fixture
def fewer_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what no run explains: 96 say so as 512 do, which are for what one run of sixty, or of hundreds, explains."""
    monkeypatch.setattr(accuracy, "_MOST_RUNS", 96)


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("return x.softmax(0)", "y = (x - x.amax()).exp(); return y / y.sum()"),
        ("return x.sum()", "return x.flip(0).cumsum(0)[-1]"),
        ("return (x.to(torch.bfloat16) * 3).tanh()", "return (x.to(torch.bfloat16).float() * 3).tanh().bfloat16()"),
        ("return (x / 3 > x.detach() / 3) * x", "return (x * (1 / 3) > x.detach() / 3) * x"),
        ("return (x * 1e30).square().sum().sqrt()", "return x.square().sum().sqrt() * 1e30"),
        ("return (x - x.mean()) / x.std()", "y = x - x.sum() / 64; return y / (y.square().sum() / 63).sqrt()"),
        ("x = x.double(); return (x.tanh() / 3).sum()", "x = x.double(); return (x.tanh() / 3).flip(0).cumsum(0)[-1]"),
    ],
)
def test_rounding_of_another_order_passes(right: str, other: str) -> None:
    """Catches a bound that only eager's own order of operations meets, or one that takes eager's luck for its rule."""
    assert not kinds(right, other)


@pytest.mark.parametrize(
    ("right", "other", "kind", "shape"),
    [
        (
            "return x.double().softmax(0)",
            "y = (x.double() - x.amax(0)).exp(); return y / y.sum(0)",
            "normal",
            (31, 513),
        ),
        (
            "return torch.nn.functional.layer_norm(x, x.shape[-1:])",
            "y = x - x.mean(1, True); return y * (y.square().mean(1, True) + 1e-5).rsqrt()",
            "few",
            (512, 3),
        ),
        (
            "return torch.nn.functional.batch_norm(x.detach().double(), None, None, training=True)",
            "x = x.detach().double(); y = x - x.mean(0); return y * (y.square().mean(0) + 1e-5).rsqrt()",
            "grid",
            (8192, 4),
        ),
        (
            "x = x.detach(); return (x - x.var(0)).sum(0)",
            "x = x.detach(); y = x - x.var(0); return sum(sum(y[32 * row : 32 * row + 32]) for row in range(4))",
            "grid",
            (128, 2048),
        ),
        (
            "x = x.detach(); return torch.nn.functional.mse_loss(x, x.mean(0).expand(128, -1), reduction='sum')",
            "x = x.detach(); return (x - x.mean(0)).square().flatten().view(-1, 64).cumsum(0)[-1].sum()",
            "grid",
            (128, 2048),
        ),
    ],
)
def test_rounding_inside_of_a_kernel_passes(right: str, other: str, kind: str, shape: tuple[int, ...]) -> None:
    """Catches a kernel's results taken for off by their own rounding alone, where its steps round and cancel too."""
    assert not kinds(right, other, kind, shape)


def test_returned_view_is_another_use_of_an_argument() -> None:
    """Catches a gradient that counts as wrong as compiled code adds that of a view, made outside of it, at last."""
    body = "z = {}; return z / ((z - z) * (z + z) * 1e25 + 0.5), {}"
    assert not kinds(body.format("x", "z.mT"), body.format("x.view_as(x)", "x.mT"), shape=(2, 16))
    assert kinds(body.format("x", "z * 1"), body.format("x.view_as(x)", "x * 1"), shape=(2, 16)) == {"gradient"}


def test_what_is_computed_twice_is_the_same() -> None:
    """Catches two sums of the same numbers that no run rounds alike, and the logarithm of what is left of the two: its
    gradient is NaN in each run, and says nothing of eager's."""
    body = "{}y = x.sum() * x - x.sum() * x; return (y + 1).log(), {}"
    assert not kinds(body.format("z = x * 3; ", "z"), body.format("", "x * 3"), "wide", (4096,))


def test_any_of_many_ties_may_win(request: pytest.FixtureRequest) -> None:
    """Catches a largest number among ties that counts as wrong since it wins in one run of sixty: what its gradient is
    added to is lost there. Of one that no rounding lets win, it is wrong."""
    body = "y = x.cumsum(0)[-1] - x.sum(0){}; return y.{} * 1e12, x * 1"
    assert not kinds(body.format("", "amax()"), body.format("", "select(0, 3)"), shape=(4, 64))
    request.getfixturevalue("fewer_runs")
    low = " - (torch.arange(64) == 3) * 1e-3"
    assert kinds(body.format(low, "amax()"), body.format("", "select(0, 3)"), shape=(4, 64)) == {"gradient"}


# What is left of numbers beside 1e30 decides by what all others are divided.
BESIDE = "y = torch.cat([x.detach(), x.new_full((1,), 1e30)]); z = y - y.mean(); return x / ({} + 1), {}"


@pytest.mark.parametrize(
    ("body", "once", "shape"),
    [
        (BESIDE, ("z.sum().abs()", "z.double().sum().float().abs()"), (32,)),
        (
            "y = x.view(4, 15); z = {}; return z, z.amax(1), {}",
            ("y.cumsum(0) - y.sum(0)", "y.double().cumsum(0).float() - y.double().sum(0).float()"),
            (60,),
        ),
    ],
)
def test_sums_may_be_rounded_once(body: str, once: tuple[str, str], shape: tuple[int, ...]) -> None:
    """Catches a bound that sums in double precision don't meet: what they leave is 0, where eager rounds each addition.
    What is wrong by a few roundings beside them is found."""
    right, other = (body.format(each, "(x * 3).exp()") for each in once)
    assert not kinds(right, other, shape=shape)
    assert "value" in kinds(right, other.replace("x * 3", "x * 3.00001"), shape=shape)


def test_exact_sums_decide_alike() -> None:
    """Catches sums that are rounded once and let another of equal numbers win, where none of them is rounded."""
    body = "y = x.view(8, 8); z = y.cumsum(0)[-1] - y.sum(0); z = z.detach() + y[0] - y[0].detach(); return {}"
    assert kinds(body.format("z.amax()"), body.format("z[3]"), kind="grid") == {"gradient"}
    assert not kinds(body.format("z.amax()"), body.format("z.mean()"), kind="grid")


def test_any_of_the_rows_that_tie_may_win() -> None:
    """Catches runs that end while each of them still explains a row: of 39 whose sum is nearly 1, any may be the
    largest, and 32 runs don't show the seventeenth. Of those that are less it is wrong."""
    body = "y = (x * x).softmax(1).sum(1){}; return y.{}"
    assert not kinds(body.format("", "amax()"), body.format("", "select(0, 17)"), "few", (39, 39))
    low = " - (torch.arange(39) == 17) * 1e-3"
    assert "gradient" in kinds(body.format(low, "amax()"), body.format(low, "select(0, 17)"), "few", (39, 39))


def test_view_of_what_is_written_is_another_use_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a gradient that counts as wrong as compiled code adds that of a view of an argument, which it makes once
    the argument is written, before all that is inside."""
    source = SOURCE.replace("x = numbers", "base = numbers").replace("return locals", "x = base * 1\n    return locals")
    monkeypatch.setattr(f"{__name__}.SOURCE", source)
    body = "x.mul_(1); {}y = x * 1; z = (x - y) * 4096; return {}, y, z"
    assert not kinds(body.format("v = x[:63]; ", "v"), body.format("", "x[:63]"))
    assert kinds(body.format("v = x[:63] * 1; ", "v"), body.format("", "x[:63] * 1")) == {"gradient"}


def test_sum_that_overflows_on_the_way_passes() -> None:
    """Catches a sum that counts as wrong since addends of one sign, too many for its type, were added first."""
    body = "y = 1.5 * torch.tensor([[{}2.0], [-2.0], [{}2.0]]) * 2.0**126; return (x - {}).abs()"
    right, other = body.format("", "", "y.sum(0)"), body.format("", "", "(y[0] + y[2] + y[1])")
    assert not kinds(right, other)
    assert kinds(body.format("", "-", "y[:2].sum(0)"), other) == {"value", "gradient"}


def test_product_that_overflows_before_it_is_added_passes() -> None:
    """Catches infinity that counts as wrong as eager's kernel is compiled to round `x * x * 0.5 - x` once: or NaN, or
    infinity of a quotient that nothing is fused with."""
    right = "y = (x.detach() * 0 - 3e38); return y.{}(y, y * 0 - 2.6, value=0.5)"
    assert not kinds(right.format("addcmul"), "return x.detach() * 0 + torch.inf")
    assert kinds(right.format("addcmul"), "return x.detach() * 0 + torch.nan") == {"value"}
    assert kinds(right.format("addcdiv"), "return x.detach() * 0 + torch.inf") == {"value"}


def test_overflow_on_the_way_beyond_the_type_passes() -> None:
    """Catches NaN of an overflow taken for what is right, as the value is too large for the type, or infinity not."""
    right = "y = (x * 0 + 3e38) * 2; return {}"
    assert not kinds(right.format("y - y + y"), right.format("x * 0 - 3e38"))
    assert kinds(right.format("y"), right.format("x * 0 - 3e38")) == {"value"}


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_deviation_of_equal_numbers_may_be_zero() -> None:
    """Catches NaN, which eager's deviation of nearly zero has for a gradient, taken for what is right: it is a zero."""
    body = "return (x[:1].expand(65537) / 3).{}[None].var()"
    assert not kinds(body.format("std()"), body.format("mean().mul(0)"))


def test_whether_there_is_a_number_may_be_rounding() -> None:
    """Catches NaN, the root of a difference that rounding decides the sign of, taken for what is right, as double
    precision has it, too: or any number taken for right there, or where rounding does not decide it."""
    body = "y = x.detach().to(torch.float16).tanh(); return (y - {}).sqrt(){}"
    right = body.format("y * 1.0003", "")
    assert not kinds(right, body.format("y", ""))
    assert kinds(right, body.format("y", " + 1")) == {"value"}
    assert kinds(body.format("y * 1.01", ""), body.format("y", "")) == {"value"}


def test_sign_of_nan_is_undecided() -> None:
    """Catches the sign that this machine gave NaN taken for what every kernel must give, or all signs for that."""
    assert not kinds("return (x / 0 * 0).signbit()", "return (x / 0 * 0).neg().signbit()")
    assert not kinds("return x.copysign(x / 0 * 0)", "return x.copysign((x / 0 * 0).neg())")
    assert kinds("return (x * 0).signbit()", "return (x.abs() * 0).signbit()") == {"value"}
    assert kinds("return x.copysign(x * 0)", "return x.copysign(x.abs() * 0)") == {"value", "gradient"}


@pytest.mark.parametrize(
    ("right", "wrong", "kind", "shape"),
    [
        ("return x.tanh()", "return x.tanh() * (1 + 2e-6)", "normal", (64,)),
        ("return x.double().tanh()", "return x.double().tanh() * (1 + 4e-15)", "normal", (64,)),
        ("return x.double().softmax(0)", "return x.double().softmax(0) * (1 + 4e-15)", "normal", (31, 513)),
        ("return x.log_softmax(1)", "return x.log_softmax(1) * (1 + 2e-6)", "few", (512, 5)),
        (
            "return torch.nn.functional.layer_norm(x, x.shape[-1:])",
            "return torch.nn.functional.layer_norm(x, x.shape[-1:]) * (1 + 2e-6)",
            "few",
            (512, 3),
        ),
        (
            "return torch.nn.functional.batch_norm(x.double(), None, None, training=True)",
            "return torch.nn.functional.batch_norm(x.double(), None, None, training=True) * (1 + 1e-14)",
            "grid",
            (512, 4),
        ),
        ("return (x / x.std()).mean()", "return (x / x.std()).mean() + 1e-7", "grid", (65536,)),
        ("return x * 1e-6", "return (x * 1e-6).where(x != x[3], x[3] * 2e-6)", "normal", (64,)),
        ("return x.sum()", "return (x.double().sum() * (1 + 1e-5)).float()", "positive", (99991,)),
        ("return x.tanh()", "return x.tanh() / (x != x[5])", "normal", (64,)),
        ("return x * 2e38", "return (x * 2e38).nan_to_num()", "normal", (64,)),
        ("return x.floor()", "return (x - 1e-6).floor()", "grid", (64,)),
        ("return (x > 0.5) * 1.0", "return (x >= 0.5) * 1.0", "grid", (512,)),
        ("return (x == 0).int()", "return (x.abs() < 1e-37).int()", "subnormal", (64,)),
        ("return x * 0.5", "return x * 0.0", "subnormal", (64,)),
        ("return 1 / x", "return 1 / x.abs()", "special", (64,)),
        (
            "x = x.detach(); return (x * x - x.square()).sqrt()",
            "x = x.detach().double(); return (x * x - (x * x).float()).float().sqrt()",
            "normal",
            (64,),
        ),
    ],
)
def test_wrong_value_is_a_difference(
    right: str, wrong: str, kind: str, shape: tuple[int, ...], fewer_runs: None
) -> None:
    """Catches a judge that looks away: a few roundings too many, one element, a decision, a flushed number."""
    assert "value" in kinds(right, wrong, kind, shape)
    assert not kinds(right, right, kind, shape)


def test_gradient_that_compares_recomputed_values_is_a_difference(fewer_runs: None) -> None:
    """Catches a bound so wide, after a comparison, that a gradient which went nowhere passes."""
    right = "y = x.tanh(); return (y * (y == y.amax())).sum()"
    wrong = "y = x.tanh(); return (y.detach() * (y == y.amax() * 1.0000002)).sum() + y.amax().detach() + 0 * x.sum()"
    assert "gradient" in kinds(right, wrong)


def test_forms_are_judged_like_the_plain_program() -> None:
    """Catches a judge that can't run what is inside of `checkpoint` or `cond`, and calls everything a difference."""
    for body in (
        "return checkpoint(lambda x: x.tanh() * TIMES, x, use_reentrant=False)",
        "return cond((x == x).all(), lambda x: x.tanh() * TIMES, lambda x: x.sin(), (x,))",
    ):
        assert not kinds("return x.tanh() * 3", "return x.tanh() * 3.0000001")
        judge_of = body.replace("TIMES", "3")
        assert not kinds(judge_of, "return x.tanh() * 3.0000001")
        assert kinds(judge_of, "return x.tanh() * 3.0001") == {"value", "gradient"}


def test_what_was_judged_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a second form's judgement that costs as much as the first one's, or that lets other numbers pass."""
    source = SOURCE.format(body="return x.softmax(0)", kind="normal", shape=(64,))
    other, wrong = "y = (x - x.amax()).exp(); return y / y.sum()", "return (x + (x == x.amax()) * 1e-4).softmax(0)"
    eager, near, far = shown(("return x.softmax(0)", other, wrong), "normal", (64,))
    accepted = Accepted()
    assert not Judge(source, [("", "once")], ["x"], accepted).differences(0, eager, near)
    second = Judge(source, [("", "once")], ["x"], accepted)
    assert second.differences(0, eager, far)
    with monkeypatch.context() as patches:
        patches.setattr(Judge, "_run", None)
        assert not second.differences(0, eager, near)


def test_element_is_named() -> None:
    """Catches a report of a million numbers, or one that does not say what would have been right."""
    worlds = [World(SOURCE.format(body=body, kind="grid", shape=(8,))) for body in ("return x * 2", "return x * 3")]
    seen = [observe(each, each.fn, 0, ["x"], "", "none") for each in worlds]
    judge = Judge(SOURCE.format(body="return x * 2", kind="grid", shape=(8,)), [("", "none")], ["x"])
    text = str(judge.differences(0, *seen)[0])
    assert "of [8] (one of " in text
    assert "in double precision" in text
    assert torch.get_default_dtype() == torch.float32


def test_nan_that_eager_gives_elsewhere_passes() -> None:
    """Catches a bound on distances that no NaN meets, where eager's kernel has one in vectors and none after them."""
    body = "return torch.nn.functional.hardswish({})"
    assert not kinds(body.format("x[::2]"), body.format("x[::2].contiguous()"), "special", (128,))


def test_whole_numbers_become_wide() -> None:
    """Catches a program that double precision can't run, since what it makes of whole numbers stays in float32."""
    assert not kinds("return x @ torch.arange(64).sin()", "return (x * torch.arange(64).sin()).flip(0).sum()")
    assert kinds("return x @ torch.arange(64).sin()", "return x @ torch.arange(64).cos()") == {"value", "gradient"}


def test_casts_copy_in_double_precision_too() -> None:
    """Catches a program that double precision can't run: there, a cast to it gave the operand, a view."""
    rows = "y = x.view(8, 8)[:, :4].to(torch.float64).view(-1); "
    by_hand = "e = (x - x.detach().amax()).exp(); return y, e / e.sum()"
    assert not kinds(rows + "return y, x.softmax(0)", rows + by_hand)


CAST = "h = x[:8].to(torch.float64).expand(8, 8); y = h.to(torch.float32); y.add_(x.view(8, 8)); return y, {}"


def test_casts_copy_where_they_did() -> None:
    """Catches a program that double precision can't run: there, what is cast to float32 is the operand, which is
    expanded and can't be written. A cast to the type that a tensor has gives that tensor, in double precision too."""
    assert not kinds(CAST.format("y.tanh() / 3"), CAST.format("y.tanh() * (1 / 3)"))
    assert "value" in kinds(CAST.format("y.tanh() / 3"), CAST.format("y.tanh() / 3 * (1 + 2.0**-20)"))
    itself = "z = x * 1; z.to(torch.float32).add_(1); return z.tanh(), {}"
    assert not kinds(itself.format("z / 3"), itself.format("z * (1 / 3)"))
    assert kinds(itself.format("z / 3"), "z = x * 1; return z.tanh(), z / 3") == {"value", "gradient"}


# Zero in double precision, what is lost of 2**-30 in float32.
LOST = "z = x * 0 + 1 + 2.0**-30 - 1 - 2.0**-30"


def test_what_is_infinite_in_double_precision_may_be() -> None:
    """Catches a bound on distances from infinity, which no number meets, and one that lets all numbers pass."""
    assert not kinds(f"{LOST}; return 1 / z", "return 1 / (x.abs() * 0)")
    assert not kinds(f"{LOST}; return 1 / z", f"{LOST}; return 1 / z * 1.000001")
    assert "value" in kinds(f"{LOST}; return 1 / z", "return x * 0 / 0")
    assert "value" in kinds(f"{LOST}; return 1 / z", f"{LOST}; return 1e6 / z")


def test_gradients_may_meet_at_the_call() -> None:
    """Catches eager's order of a sum taken for exact, where the caller uses an argument too: there it comes first."""
    inputs = "b = numbers({kind!r}, 1, {shape}).bfloat16().requires_grad_(); x = b * 1"
    source = SOURCE.replace("x = numbers({kind!r}, 1, {shape}).requires_grad_()", inputs)
    source = source.format(body="return x * 18.25 - x * 18.25", kind="few", shape=(64,))
    world = World(source)
    seen = [observe(world, fn, 0, ["x"], "", "once") for fn in (world.fn, lambda x: world.fn(x.view_as(x)))]
    assert not torch.equal(*(each.values["gradient", "b"] for each in seen))
    assert not Judge(source, [("", "once")], ["x"]).differences(0, *seen)


def test_gradients_of_a_tensor_that_is_given_twice_meet_at_the_call() -> None:
    """Catches two arguments of one tensor taken for two tensors, whose gradients eager would add one by one."""
    inputs = "b = numbers({kind!r}, 1, {shape}).requires_grad_(); x = b * 1; y = x"
    source = SOURCE.replace("x = numbers({kind!r}, 1, {shape}).requires_grad_()", inputs).replace("fn(x)", "fn(x, y)")
    source = source.format(body="return x * 1e30 - y * 1e30", kind="few", shape=(64,))
    world = World(source)
    at_once = [world.fn, lambda x, _: world.fn(*[x.view_as(x)] * 2)]
    seen = [observe(world, fn, 0, ["x", "y"], "", "once") for fn in at_once]
    assert not torch.equal(*(each.values["gradient", "b"] for each in seen))
    assert not Judge(source, [("", "once")], ["x", "y"]).differences(0, *seen)


def test_gradients_of_extrema_are_those_without_modes() -> None:
    """Catches a reference that is NaN where eager is not: in modes PyTorch takes another formula for this gradient."""
    for name in ("max", "min", "median"):
        right = f"return (x * 3).sigmoid(), x.{name}() * float('nan')"
        assert not kinds(right, right.replace("(x * 3).sigmoid()", "1 / (1 + (x * -3).exp())"))
        assert kinds(right, right.replace("x * 3", "x * 3.00003")) == {"value", "gradient"}


@pytest.mark.parametrize(("winner", "found"), [(2861, set()), (0, {"value", "gradient"})])
def test_any_of_many_near_ties_may_win(winner: int, found: set[str]) -> None:
    """Catches too few runs: the last bit decides which of twenty elements is the least, and 32 runs miss some."""
    numbers = "torch.nn.functional.gelu(x * 0.05 - 0.7517916, approximate='tanh')"
    assert kinds(f"return {numbers}.min()", f"return {numbers}[{winner}]", shape=(4096,)) == found
