"""What `torch.compile(..., options={...})` may say."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dovetail.errors import OptionError

_CHOICES = {"partition": ("min-cut", "default")}


@dataclass(frozen=True)
class Options:
    """The backend's options.

    Attributes:
        strict: raise `StrictError` where an op would fall back to ATen for want of a compiled region.
        partition: what is saved for the backward: "min-cut" recomputes cheap ops, "default" saves all that it uses.
        cache: keep compiled regions on disk (`DOVETAIL_CACHE_DIR`, else the user's cache folder).
        timeout: seconds that IREE may take for one region.
    """

    strict: bool = False
    partition: str = "min-cut"
    cache: bool = True
    timeout: float = 120.0

    @classmethod
    def parse(cls, given: Mapping[str, Any] | None) -> "Options":
        """Checks `given` against the fields.

        Raises:
            OptionError: for an unknown option or a value of the wrong kind, naming what would be valid.
        """
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
            if name in _CHOICES and value not in _CHOICES[name]:
                raise OptionError(f"option '{name}' expects one of {_quoted(_CHOICES[name])}, got {value!r}")
            if name == "timeout" and not 0 < value < float("inf"):
                raise OptionError(f"option '{name}' expects a number of seconds above 0, got {value!r}")
        return cls(**(given or {}))


def _quoted(names) -> str:
    return ", ".join(repr(name) for name in names)


def _suggestion(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
