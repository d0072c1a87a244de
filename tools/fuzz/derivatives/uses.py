"""The ways in which a caller takes derivatives of a call, and how often each is drawn."""

from collections.abc import Callable

from dovetail.tools.fuzz.derivatives import around, reverse
from dovetail.tools.fuzz.derivatives.called import Called
from dovetail.tools.fuzz.derivatives.reverse import Found

AFTER: dict[str, int] = {"some": 14, "grad": 14, "second": 22, "batched": 10, "batched_second": 7, "vmap": 8}
"""Those of the call that was observed."""

AROUND: dict[str, int] = {
    "dual": 10,
    "jvp": 4,
    "vjp": 2,
    "vmap_of_grad": 2,
    "jacobian": 6,
    "jacobian_forward": 4,
    "hessian": 5,
    "hvp": 4,
}
"""Those that call again. Of modules with running statistics, which that would move, they are not drawn."""

_ONE_BY_ONE = ", one by one"
_FUNCTIONS: dict[str, Callable[[Called], Found]] = {
    **{name: getattr(reverse, name) for name in AFTER},
    **{name: getattr(around, name) for name in AROUND},
}


def documented() -> list[tuple[str, str]]:
    """Each way's name, and what it is."""
    return [(name, " ".join((each.__doc__ or "").split())) for name, each in _FUNCTIONS.items()]


def written(name: str, of: tuple[int, ...]) -> str:
    """The kind of backward of a call (`Call.backward`): a way, and the results that it is about."""
    return f"{name} of {' '.join(map(str, of))}"


def read(backward: str) -> tuple[str, tuple[int, ...]] | None:
    """What `written` was given; None for "none", "once" and "double"."""
    name, _, of = backward.removesuffix(_ONE_BY_ONE).partition(" of ")
    return (name, tuple(map(int, of.split()))) if of else None


def one_by_one(backward: str) -> str:
    """The same numbers, without batches: tensors of these have no elements that a mode could look at."""
    return backward + _ONE_BY_ONE if read(backward) else backward


def is_in_batches(backward: str) -> bool:
    """Whether this is not `one_by_one`."""
    return not backward.endswith(_ONE_BY_ONE)


def smaller(backward: str) -> list[str]:
    """The same way, about one result less."""
    use = read(backward)
    if use is None or len(use[1]) == 1:
        return []
    name, of = use
    return [written(name, of[:index] + of[index + 1 :]) for index in range(len(of))]


def derivatives(name: str, called: Called) -> Found:
    """What the caller gets, in order."""
    yield from _FUNCTIONS[name](called)
