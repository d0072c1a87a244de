"""The differences between what eager shows and what a compiled function shows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

from dovetail.tools.fuzz.observe import BatchingError, Observed

KINDS = (
    "value",
    "gradient",
    "alias",
    "identity",
    "base",
    "layout",
    "type",
    "requires_grad",
    "version",
    "structure",
    "random",
    "setting",
    "leak",
    "raised",
    "error",
    "not raised",
    "crashed",
)

# Relative to the largest element, since sums run in other orders.
TOLERANCES = {
    torch.float64: 1e-10,
    torch.float32: 1e-5,
    torch.complex64: 1e-5,
    torch.complex128: 1e-10,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}


_INTERNAL = "INTERNAL ASSERT FAILED"


@dataclass(frozen=True)
class Difference:
    """One thing that compiled code shows differently; `kind` is one of `KINDS`."""

    kind: str
    call: int
    what: str
    eager: str
    compiled: str

    @property
    def family(self) -> str:
        """What a smaller program must show for being the same failure: the kind, and what was raised."""
        if self.kind not in ("raised", "not raised", "error"):
            return self.kind
        return f"{self.what}: {self.eager.partition(':')[0]} / {self.compiled.partition(':')[0]}"

    def __str__(self) -> str:
        return f"call {self.call}: {self.kind}: {self.what}: eager {self.eager}, compiled {self.compiled}"


ByValue = Callable[[int, Observed, Observed], Iterable[Difference]]


def differences(call: int, eager: Observed, compiled: Observed, by_value: ByValue | None = None) -> list[Difference]:
    """Everything that differs; what only one of the two knows of, differs. `by_value` finds which values do."""
    if (eager.raised is None) != (compiled.raised is None):
        return [_raised(call, "the call", eager.raised, compiled.raised)]
    if eager.raised is not None and compiled.raised is not None:
        return [*_errors(call, eager, compiled)]
    found = [*_facts(call, eager, compiled), *(by_value or _values)(call, eager, compiled)]
    return [*found, *_leaks(call, eager, compiled)]


def _facts(call: int, eager: Observed, compiled: Observed) -> Iterator[Difference]:
    # Eager's gradient of `cond` ends so where a branch gives truth values too, or the mean loss of no elements, whose
    # gradient it traces in Python; batches where their rules have gaps; and on a GPU, `cond` of which a branch runs a
    # custom op, in an assertion of PyTorch's own: there is no gradient to compare with, numbers may have been drawn.
    error = eager.facts.get(("note", "backward"))
    is_unknown = isinstance(error, AssertionError | ZeroDivisionError | BatchingError) or _INTERNAL in str(error)
    for key in eager.facts | compiled.facts:
        kind, what = key
        if is_unknown and (kind in ("gradient", "random") or key not in eager.facts or key == ("raised", "backward")):
            continue
        expected, actual = eager.facts.get(key), compiled.facts.get(key)
        if kind == "note" or _same(expected, actual):
            continue
        if what.endswith("is leaf") and expected is None:
            continue  # eager refuses to say
        if kind == "raised":
            yield _raised(call, what, eager.facts.get(("note", what)), compiled.facts.get(("note", what)))
        else:
            yield Difference(kind, call, what, str(expected), str(actual))


def _leaks(call: int, eager: Observed, compiled: Observed) -> Iterator[Difference]:
    """What only a compiled call keeps: eager's histories of what is written in place may go round in circles.

    Of a backward that raised PyTorch keeps the history until the next one.
    """
    is_unknown = eager.facts.get(("raised", "backward")) or eager.watched.alive()
    for name in () if is_unknown else compiled.watched.alive():
        yield Difference("leak", call, name, "dropped", "alive")


def _raised(call: int, what: str, eager: BaseException | None, compiled: BaseException | None) -> Difference:
    kind = "raised" if eager is None else "not raised"
    return Difference(kind, call, what, _error(eager), _error(compiled))


def _errors(call: int, eager: Observed, compiled: Observed) -> Iterator[Difference]:
    """An error that `except` of eager's class does not catch, and what arguments hold then.

    Eager has written what comes before the error; compiled code as much, or nothing.
    """
    if not isinstance(compiled.raised, type(eager.raised)):
        yield Difference("error", call, "the call", _error(eager.raised), _error(compiled.raised))
    for name, (_, expected) in eager.held.items():
        before, actual = compiled.held[name]
        if not any(is_close(actual, each) for each in (expected, before)):
            yield Difference("value", call, f"{name}, after the error", _shown(expected), _shown(actual))


def _same(expected, actual) -> bool:
    """Equal, and of equal types: 1 is not True; NaN is NaN."""
    return repr(expected) == repr(actual)


def _values(call: int, eager: Observed, compiled: Observed) -> Iterator[Difference]:
    for key, expected in eager.values.items():
        actual = compiled.values.get(key)
        if actual is None or actual.shape != expected.shape or actual.dtype != expected.dtype:
            continue  # a fact differs
        if not is_close(actual, expected):
            yield Difference(key[0], call, key[1], _shown(expected), _shown(actual))


def is_close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Equal up to rounding; whole numbers and truth values exactly; NaN and infinities at the same places."""
    tolerance = TOLERANCES.get(expected.dtype)
    if tolerance is None or not expected.numel():
        return torch.equal(actual, expected)
    finite = expected[expected.isfinite()].abs()
    scale = max(float(finite.max()) if finite.numel() else 0.0, 1.0)
    return torch.allclose(actual, expected, rtol=0.0, atol=tolerance * scale, equal_nan=True)


def _shown(tensor: torch.Tensor) -> str:
    return str(tensor.tolist())


def _error(error: BaseException | None) -> str:
    """The error's type and first line; of what Dynamo wraps, those of the backend's own."""
    if error is None:
        return "raises nothing"
    error = getattr(error, "inner_exception", None) or error
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
