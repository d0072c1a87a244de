"""A call that writes its arguments after its forward: what may only be done once it has.

What is checked before the backward has the versions of then. And the caller's saved-tensor hooks may end the call:
`checkpoint` stops to recompute once it has all that it needs. Eager has written by then what it writes before; a call
here is ended when it has written all.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from dovetail.errors import HooksMismatch
from dovetail.runtime.autograd.kept import Kept, has_hooks


@dataclass
class Present:
    """One call: what it leaves for its backward, its results while these are saved, what the hooks raised."""

    kept: list[Kept] = field(default_factory=list)
    results: tuple | None = None
    error: Exception | None = None


class Writing(threading.local):
    """The `present` call of a thread: the innermost one, as what hooks and writes run may call the program again."""

    def __init__(self):
        self.present = Present()

    def apply(self, function: Callable, refusal: str | None) -> Callable:
        """`function`, a call of the autograd node; raises what hooks raise in `finish` only.

        Raises:
            HooksMismatch: before anything ran, where there are hooks and a `refusal`.
        """

        def run(*arguments):
            if not has_hooks():
                return function(*arguments)
            if refusal is not None:
                raise HooksMismatch(refusal)
            call = self.present
            try:
                return function(*arguments)
            except Exception as error:  # whatever the user's hooks raise
                if call.results is None:
                    raise
                call.error = error
                return call.results
            finally:
                call.results = None

        return run

    def finish(self, call: Callable) -> Callable:
        """`call`, all of the program; raises what hooks raised when it has written its arguments."""

        def run(arguments: list):
            around, self.present = self.present, Present()
            try:
                results = call(arguments)
                for kept in self.present.kept:
                    kept.expect_present_versions()
                error, self.present.error = self.present.error, None
            finally:
                self.present = around
            if error is None:
                return results
            try:
                raise error
            finally:
                error = results = None  # else in a cycle by its traceback, which holds this frame, till it is collected

        return run
