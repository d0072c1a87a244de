"""`--run-check`: what a user observes of the module must not change from pass to pass."""

from collections.abc import Callable
from typing import Any

from torch_mlir import ir

from dovetail.errors import DovetailError, PassError
from dovetail.tools.permitted_ops import check_permitted


class RunCheck:
    """Runs a module on random inputs, at first as it is; `compare` runs it again and compares with the last run."""

    def __init__(self, module: ir.Module):
        # torch, which both of them need, takes seconds to load.
        from dovetail.runtime.reference import random_inputs, run_reference

        check_permitted(module)
        self._run = run_reference
        self._inputs = _try("as it is", random_inputs, module)
        self._last = _try("as it is", run_reference, module, self._inputs)

    def compare(self, ran: object, module: ir.Module) -> None:
        """Raises PassError if `module`, which the pass `ran` has left, does something else than before."""
        now = _try(f"after pass '{ran}'", self._run, module, self._inputs)
        differences = self._last.differences(now)
        if differences:
            raise PassError(f"pass '{ran}' changed what the module does:\n  " + "\n  ".join(differences))
        self._last = now


def _try(when: str, run: Callable, *arguments: Any) -> Any:
    """Calls `run`; whatever ATen raises is about the module that it was given."""
    try:
        return run(*arguments)
    except DovetailError as error:
        raise PassError(f"can't run the module {when}: {error}") from error
    except Exception as error:
        raise PassError(f"can't run the module {when}: {type(error).__name__}: {error}") from error
