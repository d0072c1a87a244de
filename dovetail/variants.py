"""One graph, compiled once for each way in which its arguments share memory."""

import threading
from collections.abc import Callable, Sequence

import torch
from torch.autograd import forward_ad

from dovetail.errors import AliasMismatch, EagerWarning, HooksMismatch, UnsupportedError, warn
from dovetail.frontend.observe.wrapped_arguments import plain_tensors
from dovetail.runtime.stats import current
from dovetail.untraced import untraced

MAX_VARIANTS = 8
"""Ways of sharing memory that a graph is compiled for; calls that share in yet another way run eagerly."""


class Variants:
    """`run` is the callable that Dynamo gets: a function costs less to call than an object.

    Every variant checks first that its arguments lie in memory as it assumes (`@guard` in the IR) and raises
    `AliasMismatch` if not. Then the others are tried, and after them a new one is compiled.

    Args:
        compile_variant: makes a variant for arguments like the given ones.
        eager: what calls beyond `MAX_VARIANTS` run.
        arguments: the first call's, which the first variant is compiled for.
        strict: whether such calls raise `UnsupportedError` instead.
        held: tensors that the graph holds itself.
    """

    def __init__(
        self,
        compile_variant: Callable[[Sequence], Callable],
        eager: Callable,
        arguments: Sequence,
        strict: bool,
        held: Sequence[torch.Tensor],
    ):
        self._strict, self._held = strict, held
        self._compile, self._eager = compile_variant, eager
        self._variants = [compile_variant(arguments)]
        self._current = self._variants[0]
        self._compiling = threading.RLock()

    @untraced
    def run(self, *arguments):
        """What the graph returns for `arguments`."""
        if forward_ad._current_level >= 0 and _has_derivative([*self._held, *arguments]):
            return self._run_eagerly(
                arguments, "an argument has a derivative of forward-mode automatic differentiation"
            )
        try:
            try:
                return self._current(list(arguments))
            except AliasMismatch:
                return self._another(arguments)
        except HooksMismatch as error:
            return self._run_eagerly(arguments, str(error))

    def _another(self, arguments: tuple):
        known = len(self._variants)
        results = self._tried(self._variants[:known], arguments)
        if results is not None:
            return results
        with self._compiling:
            results = self._tried(self._variants[known:], arguments)  # what other threads compiled meanwhile
            return self._compiled(arguments) if results is None else results

    def _tried(self, variants: Sequence[Callable], arguments: tuple) -> list | None:
        """What the first variant that fits returns, None if none does."""
        for variant in variants:
            try:
                results = variant(list(arguments))
            except AliasMismatch:
                continue
            self._current = variant
            return results
        return None

    def _compiled(self, arguments: tuple):
        if len(self._variants) >= MAX_VARIANTS:
            return self._run_eagerly(arguments, f"arguments share memory in more than {MAX_VARIANTS} ways; pass clones")
        variant = self._compile(arguments)
        try:
            results = variant(list(arguments))
        except AliasMismatch as error:  # memory that several storages share
            return self._run_eagerly(arguments, f"{error}; pass clones")
        self._variants.append(variant)
        self._current = variant
        current().variants += 1
        return results

    def _run_eagerly(self, arguments: tuple, reason: str):
        if self._strict:
            raise UnsupportedError(reason)
        current().eager[reason] += 1
        warn(f"dovetail runs a call eagerly: {reason}", EagerWarning)
        return self._eager(*arguments)


def _has_derivative(values: Sequence) -> bool:
    """Whether forward-mode AD, at the level that is open, wants to know a derivative by one of the tensors."""
    return any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in plain_tensors(values))


def of_these_sizes(program: Callable, inputs: Sequence) -> Callable:
    """`program` for arguments of the sizes and strides of `inputs`; other ones are another variant's."""
    expected = _described(inputs)

    def run(given: list):
        if _described(given) != expected:
            raise AliasMismatch("arguments have other sizes than those that this variant was compiled for")
        return program(given)

    return run


def _described(values: Sequence) -> list:
    return [
        (value.shape, value.stride(), value.storage_offset()) if isinstance(value, torch.Tensor) else value
        for value in values
    ]
