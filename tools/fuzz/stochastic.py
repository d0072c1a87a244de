"""Runs every op in double precision and rounds its results at random, to learn what rounding does to a program.

Monte Carlo arithmetic (D. S. Parker, UCLA CSD-970002, 1997): operands are up to half a unit in the last place off,
every other run by just that much, and each result is rounded up or down. To that comes, every other run, what ATen's
kernel is off at operands nearby: numbers cancel and are rounded inside of a kernel, too (the gradient of gelu is
nearly zero at -0.75), and at the operands themselves it may be right by luck. What an op computes exactly stays
exact (`exactness`), so comparisons and roundings of exact numbers are decided as ever. The last place of subnormal
numbers is that of the smallest normal one.

In Parker's method it is each operation that is rounded at random, and a kernel is many. Two of four runs therefore
compute softmax, norms and the like in steps (`kernel_steps`), each of which is rounded: a kernel at operands nearby
rounds alike where one addend is much larger than the others, and in double precision nothing tells what it is off.
What is infinite or NaN may be the other in steps: kernels subtract infinities that another formula does not meet.
Variances, and with them batch norms, add numbers one by one in double precision: each addition is rounded.
Sums and means are as many additions, of which those runs round each, in the order that ATen takes (`additions`): of
numbers that have few bits the kernel is off by what it is off, however the last bits of its operands are moved, and
where it is right by luck no run would tell what additions cost.
Sums whose positive or negative addends alone are too large for their type overflow there or not: it hangs on the order.
Kernels also add up in double precision, as ATen's `cumsum` does, and round once. In every fifth run all sums do, of
half of these those of the forward alone: what two kernels add up is equal then, its difference 0, and a tie.

Rounding is a function of the number. Four of eight runs therefore move equal numbers of an operand alike: in a mean of
many numbers that have few values the errors add up, where those drawn one by one would cancel; so they do where equal
numbers are added to a sum. In half of these, an op that is called again on equal numbers gives the same, as kernels do:
`x.sum() * x - x.sum() * x` is zero then, and what follows from that is eager's. Sums and products of two
numbers are one operation of IEEE 754: all runs round them alike wherever they are equal, and rounding does not explain
what is left of `a * a - b * b` where `a` is `b`.
"""

from collections.abc import Callable, Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map, tree_map_only

from dovetail.tools.fuzz import exactness
from dovetail.tools.fuzz.additions import IN_A_ROW, MEANS, SUMS, additions, terms
from dovetail.tools.fuzz.kernel_steps import FUNCTIONAL_BATCH_NORM, STEPS
from dovetail.tools.fuzz.noise import EPSILONS, Noise
from dovetail.tools.fuzz.remainders import BY_PLACE, in_vectors
from dovetail.tools.fuzz.two_passes import VARIANCES, variance

aten = torch.ops.aten

# Sums and products of two numbers: each has one right value, wherever it is computed. Not quotients: a compiler may
# multiply by the reciprocal of a number.
_CORRECTLY_ROUNDED = {
    *(getattr(getattr(aten, name), kind) for name in ("add", "sub", "mul") for kind in ("Tensor", "Scalar")),
    aten.rsub.Scalar,
    aten.square.default,
}

# Ops that read a sign, with the place of the operand. IEEE 754 leaves that of a computed NaN to the machine.
_READ_SIGNS = {aten.signbit.default: 0, aten.copysign.Tensor: 1}


class RandomRounding(TorchDispatchMode):
    """Rounds at random what ATen computes in single and half precision; other draws for another `seed`.

    With `double`, what it computes in double precision, too.
    """

    def __init__(self, seed: int, double: bool = False):
        super().__init__()
        self.noise = Noise(seed)
        self.in_steps = seed // 2 % 2 == 1
        self.adds_once = seed % 5 == 4
        self.is_forward_alone = seed // 5 % 2 == 0
        self.is_one_by_one = False
        self.rounded = {*EPSILONS} if double else {*EPSILONS} - {torch.float64}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is aten.native_batch_norm.default and args[3] is not None and args[5]:
            # What it writes to its running mean and variance is a result, too.
            *results, mean, variance = self.__torch_dispatch__(FUNCTIONAL_BATCH_NORM, types, args)
            args[3].copy_(mean)
            args[4].copy_(variance)
            return tuple(results)
        with self:  # in inference mode, what is made of other ops comes whole, and its results may be views
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        result = func(*args, **kwargs)
        if not _computes(func):
            return result
        self.noise.begin(str(func))
        self.noise.is_correct = func in _CORRECTLY_ROUNDED or (func is aten.pow.Tensor_Scalar and args[1] == 2)
        if func in _READ_SIGNS:
            return self._with_any_sign(result, args[_READ_SIGNS[func]])
        results = result if isinstance(result, tuple | list) else [result]
        if not any(map(self._rounds, results)):
            return result
        if self.in_steps and func in STEPS:
            self._take_steps(func, args, kwargs, results)
            return result
        if self.in_steps and func in VARIANCES and _is_double(args[0]) and args[0].dim() and args[0].numel():
            return self._in_two_passes(func, args, kwargs)
        if not any(_is_double(each) for each in results):
            # Numbers in the program's text are rounded too: 0.3 is none of float32.
            args = tree_map_only(float, _in_single_precision, args)
        wide = self._widened(args, kwargs)
        exact = _results(func, *wide)
        is_sum = exactness.is_sum(func)
        if self._adds_once() and (is_sum or func in VARIANCES) and not any(map(_is_double, results)):
            for rounded, right in zip(results, exact, strict=True):
                if self._rounds(rounded):
                    rounded.copy_(right)
            return result
        off, errors = None, None
        for index, (rounded, right) in enumerate(zip(results, exact, strict=True)):
            if not self._rounds(rounded) or right.dtype != torch.float64:
                continue
            nearest = right.to(rounded.dtype)
            is_infinite = nearest - nearest != 0  # or NaN; `isfinite` takes twice as long
            is_exact = is_infinite | exactness.is_exact(func, *wide, index, right, nearest)
            if not is_exact.all():
                off = off or _results(func, *self._with_noise(args, kwargs, wide))
                noisy = self.noise.added_to(off[index], rounded.dtype)
                if self.noise.is_extreme:
                    errors = errors or self._kernel_errors(func, args, kwargs, wide)
                    noisy += errors[index]
                if self.in_steps and func in SUMS:
                    noisy += self._addition_errors(func, wide[0], rounded.dtype).view(rounded.shape)
                nearest = torch.where(is_exact, nearest, noisy.to(rounded.dtype))
            if self.in_steps and is_sum:
                nearest = nearest + self._overflown(func, wide, index, rounded.dtype)
            rounded.copy_(nearest)
        if self.noise.is_extreme and func in BY_PLACE:
            *_, value = (each for each in args if isinstance(each, torch.Tensor))
            placed = in_vectors(func, args)
            result.copy_(torch.where(value.isnan() | placed.isnan(), placed, result))
        return result

    def _adds_once(self) -> bool:
        """Whether what is added up at this point of the run is rounded once, where it is no number of float64."""
        is_in_backward = torch._C._current_graph_task_id() >= 0
        return self.adds_once and not (self.is_forward_alone and is_in_backward)

    def _take_steps(self, func: torch._ops.OpOverload, args, kwargs, results: Sequence) -> None:
        """Computes a kernel's `results` by other ops, but where only one of the two is finite: it overflowed.

        A product that is added overflows or not: kernels are compiled to round it, or only the sum.
        """
        with self:
            parts = STEPS[func](*args, **kwargs)
        for whole, part in zip(results, parts if isinstance(parts, tuple | list) else [parts], strict=False):
            if self._rounds(whole):
                is_taken = whole.isfinite() == part.isfinite()
                whole.copy_(part if func is aten.addcmul.default else torch.where(is_taken, part, whole))

    def _in_two_passes(self, func: torch._ops.OpOverload, args, kwargs):
        """A variance by two sums, each of whose additions is rounded: kernels go over the numbers one by one."""
        self.is_one_by_one = True
        try:
            with self:
                return variance(func, *args, **kwargs)
        finally:
            self.is_one_by_one = False

    def _addition_errors(self, func: torch._ops.OpOverload, args: Sequence, dtype: torch.dtype) -> torch.Tensor:
        """What the roundings of all additions come to; of half precision, in which kernels add in single precision."""
        addends = terms(args)
        count = addends.size(-1)
        epsilon = EPSILONS[torch.promote_types(dtype, torch.float32)]
        errors = torch.zeros_like(addends[:, 0])
        # A number's last bits are rounded alike whenever it is added to a sum of the same size.
        for added, partial in additions(addends, count if self.is_one_by_one else IN_A_ROW):
            errors += (self.noise.drawn(added.ldexp(partial.frexp().exponent)) * partial).sum(-1)
        return errors * (epsilon / 2) / (count if func in MEANS else 1)

    def _overflown(self, func: torch._ops.OpOverload, wide: tuple[Sequence, dict], index: int, dtype: torch.dtype):
        """Infinities to add, at random, where the positive or negative addends of a sum are too large for its type."""
        limit = torch.finfo(torch.promote_types(dtype, torch.float32)).max
        positive, negative = exactness.parts_by_sign(func, *wide, index)
        too_large, too_small = positive > limit, negative < -limit
        if not (too_large.any() or too_small.any()):
            return 0.0
        unit = self.noise.unit(positive)
        above = torch.where(too_large & (unit > -1 / 3), torch.inf, 0.0)
        return (above - torch.where(too_small & (unit < 1 / 3), torch.inf, 0.0)).to(dtype)

    def _with_any_sign(self, result: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
        """The result of an op that reads the signs of `read`; those of NaN are drawn."""
        is_other = read.isnan() & (self.noise.unit(read.double()) < 0)
        return torch.where(is_other, ~result if result.dtype == torch.bool else -result, result)

    def _rounds(self, value) -> bool:
        # Zeros without memory, of which autograd computes by shapes alone, hold nothing to round.
        has_numbers = isinstance(value, torch.Tensor) and not (value._is_zerotensor() or value.is_meta)
        return has_numbers and value.dtype in self.rounded

    def _widened(self, args, kwargs) -> tuple[Sequence, dict]:
        """An op's arguments in double precision."""
        wide = tree_map_only(torch.Tensor, lambda each: each.double() if self._rounds(each) else each, (args, kwargs))
        return tree_map_only(torch.dtype, lambda each: torch.float64 if each in EPSILONS else each, wide)

    def _with_noise(self, args, kwargs, wide: tuple[Sequence, dict]) -> tuple[Sequence, dict]:
        """The arguments in double precision, `wide`, with noise in what is rounded."""

        def noisy(each, wide):
            return self.noise.added_to(wide, each.dtype) if self._rounds(each) else wide

        return tree_map(noisy, (args, kwargs), wide)

    def _kernel_errors(self, func: Callable, args, kwargs, wide: tuple[Sequence, dict]) -> list[torch.Tensor]:
        """How far ATen's results are from those in double precision, at operands that are up to a unit off."""

        def near(each, wide):
            if not self._rounds(each):
                return each
            return self.noise.unit(wide).mul(EPSILONS[each.dtype]).add_(1).mul_(wide).to(each.dtype)

        args, kwargs = tree_map(near, (args, kwargs), wide)
        results = _results(func, args, kwargs)
        exact = _results(func, *self._widened(args, kwargs))
        return [
            (each.double() - right).nan_to_num(0.0, 0.0, 0.0) if self._rounds(each) else each
            for each, right in zip(results, exact, strict=True)
        ]


def _results(func: Callable, args: Sequence, kwargs: dict) -> list[torch.Tensor]:
    result = func(*args, **kwargs)
    return list(result) if isinstance(result, tuple | list) else [result]


def _is_double(value) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


def _in_single_precision(number: float) -> float:
    return torch.tensor(number, dtype=torch.float32).item()


def _computes(func) -> bool:
    """An op of PyTorch's own whose results are new numbers, and not random ones."""
    if func.namespace != "aten" or torch.Tag.nondeterministic_seeded in func.tags:
        return False
    schema = func._schema
    return not any(each.alias_info for each in (*schema.arguments, *schema.returns))
