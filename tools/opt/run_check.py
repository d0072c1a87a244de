"""`--run-check`: what a user observes of the module must not change from pass to pass."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_mlir import ir

from dovetail.errors import DovetailError, PassError
from dovetail.tools.permitted_ops import check_permitted

if TYPE_CHECKING:
    from dovetail.runtime.reference.observation import Observation


class RunCheck:
    """Runs a module on random inputs, at first as it is; `compare` runs it again and compares with the last time.

    Whole numbers are 0 and 1 in the first run, so that they can index anything. In the others they come from the whole
    range of their type, unless the module may index by them.

    Args:
        module: what passes are about to change.
        seed: of the first run's inputs; each further run has the next.
        runs: how many there are, on different inputs.
    """

    def __init__(self, module: ir.Module, seed: int = 0, runs: int = 2):
        # torch, which both of them need, takes seconds to load.
        from dovetail.runtime.reference.drawn_inputs import random_inputs
        from dovetail.runtime.reference.executor import run_reference

        check_permitted(module)
        self._run = run_reference
        self._compared = 0
        self._text = str(module)
        self._inputs = {
            each: _try("as it is", each, random_inputs, module, each, is_wide=each > seed)
            for each in range(seed, seed + runs)
        }
        self._last: dict[int, Observation] = {
            each: _try("as it is", each, self._run, module, inputs) for each, inputs in self._inputs.items()
        }

    def compare(self, ran: object, module: ir.Module) -> None:
        """Raises PassError if `module`, which the pass `ran` has left, does something else than before.

        A module whose text is as it was is not run again: nothing but its text says what a module does.
        """
        self._compared += 1
        text = str(module)
        if text == self._text:
            return
        self._text = text
        for seed, inputs in self._inputs.items():
            now = _try(f"after pass '{ran}'", seed, self._run, module, inputs)
            differences = self._last[seed].differences(now)
            if differences:
                found = "\n  ".join([*differences, f"on the random inputs of --seed={seed}"])
                raise PassError(f"pass '{ran}' changed what the module does:\n  {found}")
            self._last[seed] = now

    def report(self) -> str:
        """How much was compared, in one line."""
        seen = next(iter(self._last.values()))
        gradients = [gradient for gradient in seen.gradients if gradient is not None]
        kinds = {"results": seen.results, "arguments": seen.arguments, "gradients": gradients}
        counts = ", ".join(f"{len(values)} {what}" for what, values in kinds.items())
        numbers = sum(_numel(value) for values in kinds.values() for value in values)
        seeds = ", ".join(map(str, self._inputs))
        return f"run-check: compared {counts} ({numbers} numbers) after {self._compared} passes, on seeds {seeds}"


def _numel(value: Any) -> int:
    return value.numel() if hasattr(value, "numel") else 1


def _try(when: str, seed: int, run: Callable, *arguments: Any, **options: Any) -> Any:
    """Calls `run`; whatever ATen raises is about the module that it was given."""
    try:
        return run(*arguments, **options)
    except DovetailError as error:
        raise PassError(f"can't run the module {when}: {error} (random inputs of --seed={seed})") from error
    except Exception as error:
        raise PassError(
            f"can't run the module {when}: {type(error).__name__}: {error} (random inputs of --seed={seed})"
        ) from error
