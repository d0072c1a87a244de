"""A call that writes its arguments after its forward: what may only be done once it has.

What is checked before the backward has the versions of then. And the caller's saved-tensor hooks may end the call:
`checkpoint` stops to recompute once it has all that it needs. Eager has written by then what it writes before; a call
here is ended when it has written all.
"""

import threading
from collections.abc import Callable

import torch

from dovetail.errors import HooksMismatch
from dovetail.runtime.autograd.kept import Kept

_default_hooks = torch._C._autograd._top_saved_tensors_default_hooks


class Writing(threading.local):
    """The present call: what it leaves for its backward, its results while these are saved, what the hooks raised."""

    def __init__(self):
        self.kept: list[Kept] = []
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
            around, self.kept = self.kept, []  # what writes may call the program again
            try:
                results = call(arguments)
                for kept in self.kept:
                    kept.expect_present_versions()
            finally:
                self.kept = around
            error, self.error = self.error, None
            if error is not None:
                raise error
            return results

        return run
