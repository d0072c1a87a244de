"""Calls that the caller's saved-tensor hooks end: `checkpoint` stops to recompute once it has all that it needs.

Eager has written by then what it writes before; a compiled call writes after its forward, and is ended after that.
"""

import threading
from collections.abc import Callable

import torch

from dovetail.errors import HooksMismatch

_default_hooks = torch._C._autograd._top_saved_tensors_default_hooks


class Interrupted(threading.local):
    """The present call's results while its values are saved, and what the hooks raised."""

    def __init__(self):
        self.results: tuple | None = None
        self.error: Exception | None = None

    def apply(self, function: Callable, refusal: str | None) -> Callable:
        """`function`, a call of the autograd node; raises what hooks raise in `finish` only.

        Raises:
            HooksMismatch: before anything ran, where there are hooks and a `refusal`.
        """

        def run(*arguments):
            if _default_hooks(True) is None:
                return function(*arguments)
            if refusal is not None:
                raise HooksMismatch(refusal)
            try:
                return function(*arguments)
            except Exception as error:  # whatever the user's hooks raise
                if self.results is None:
                    raise
                self.error = error
                return self.results
            finally:
                self.results = None

        return run

    def finish(self, call: Callable) -> Callable:
        """`call`, all of the program; raises what hooks raised when it has written its arguments."""

        def run(arguments: list):
            self.error = None
            results = call(arguments)
            error, self.error = self.error, None
            if error is not None:
                raise error
            return results

        return run
