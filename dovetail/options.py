"""What `torch.compile(..., options={...})` may say, and its `mode`."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dovetail.errors import OptionError

CHOICES = {"partition": ("min-cut", "default")}
"""The values of options that have few."""

MODES: dict[str, Mapping[str, Any]] = {
    "default": {},
    "reduce-overhead": {"reduce_overhead": True},
    "max-autotune": {"tune": True, "reduce_overhead": True},
    "max-autotune-no-cudagraphs": {"tune": True},
}
"""The options that each of `torch.compile`'s modes stands for."""


@dataclass(frozen=True)
class Options:
    """The backend's options.

    Attributes:
        strict: raise `StrictError` where an op would fall back to ATen for want of a compiled region.
        partition: what is saved for the backward: "min-cut" recomputes cheap ops, "default" saves all that it uses.
        memory_budget: of the bytes that recomputing more could do without, the part that may be saved: 1 recomputes
            cheap ops only, 0 saves as little as can be, between them the least work is repeated.
        tune: compile each distinct region about ten times, measure every way to run it, and take the fastest; what was
            measured is remembered on disk (docs/placement.md).
        reduce_overhead: make a call cheaper where the device can record one and replay it (docs/cuda.md); the CPU
            can't, which `stats().without_effect` counts.
        cache: keep programs and compiled regions on disk (`DOVETAIL_CACHE_DIR`, else the user's cache folder).
        timeout: seconds that IREE may take for one region.
    """

    strict: bool = False
    partition: str = "min-cut"
    memory_budget: float = 1.0
    tune: bool = False
    reduce_overhead: bool = False
    cache: bool = True
    timeout: float = 120.0

    @classmethod
    def parse(cls, given: Mapping[str, Any] | None, mode: str | None = None) -> "Options":
        """Checks `given` against the fields; `mode` is `torch.compile`'s, in place of options.

        Raises:
            OptionError: for an unknown mode or option or a value of the wrong kind, naming what would be valid.
        """
        if mode is not None:
            if given:
                raise OptionError(f"mode={mode!r} and options={dict(given)!r}: expected one of them")
            if mode not in MODES:
                raise OptionError(f"unknown mode '{mode}'{_suggestion(mode, list(MODES))}; valid are {_quoted(MODES)}")
            return cls(**MODES[mode])
        known: dict[str, Any] = {field.name: field.type for field in fields(cls)}
        for name, value in (given or {}).items():
            if name not in known:
                raise OptionError(
                    f"unknown option '{name}'{_suggestion(name, list(known))}; valid are {_quoted(known)}"
                )
            expected = known[name]
            fits = isinstance(value, bool) == (expected is bool) and isinstance(
                value, int | float if expected is float else expected
            )
            if not fits:
                raise OptionError(f"option '{name}' expects {expected.__name__}, got {value!r}")
            if name in CHOICES and value not in CHOICES[name]:
                raise OptionError(f"option '{name}' expects one of {_quoted(CHOICES[name])}, got {value!r}")
            if name == "timeout" and not 0 < value < float("inf"):
                raise OptionError(f"option '{name}' expects a number of seconds above 0, got {value!r}")
            if name == "memory_budget" and not 0 <= value <= 1:
                raise OptionError(f"option '{name}' expects a number from 0 to 1, got {value!r}")
        options = cls(**(given or {}))
        if options.memory_budget < 1 and options.partition != "min-cut":
            raise OptionError(f"option 'memory_budget' needs 'partition' to be 'min-cut', got '{options.partition}'")
        return options

    def __str__(self) -> str:
        """What differs from the defaults, as "memory_budget=0.0, tune=True"."""
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return ", ".join(f"{name}={value!r}" for name, value, default in given if value != default)


def _quoted(names) -> str:
    return ", ".join(repr(name) for name in names)


def _suggestion(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
