"""Errors that Dovetail raises on purpose, and warnings. Each names the thing, the place, and what would be valid."""

import sys
import warnings

_NOT_THE_USERS = ("dovetail", "torch", "")
"""Packages whose lines no warning names, and code that was made and has no package."""


class DovetailError(Exception):
    """Base of every error that Dovetail raises on purpose."""


class UnsupportedError(DovetailError):
    """The graph asks for something that can't be honoured; raised before anything ran."""


class RereadError(UnsupportedError):
    """A checkpointed region reads what the call changes afterwards; raised before anything ran."""


class AliasMismatch(DovetailError):
    """A call's arguments share memory in another way than the program was compiled for; raised before anything ran."""


class HooksMismatch(DovetailError):
    """A call inside of saved-tensor hooks whose order of writes and saves shows there; raised before anything ran."""


class EagerWarning(UserWarning):
    """A graph, or a call of one, runs uncompiled: right, but slower. The message says why."""


class DefectWarning(UserWarning):
    """A graph, or a call of one, runs uncompiled since the compiler has a defect; please report the message."""


class StartError(DovetailError):
    """The compiler's process can't be started; the message says which and why."""


class OptionError(DovetailError):
    """An option, a pass or a target that does not exist, or a value that it can't have."""


class LaunchError(DovetailError, RuntimeError):
    """A GPU refuses code or a launch; the message names the region, the kernel and the driver's error."""


class PassError(DovetailError):
    """A pass failed; the message holds the IR's location and the command that reproduces it."""


class ModuleError(DovetailError):
    """A module whose text is valid and says nothing that can be run; the message says where, or what stopped it."""


class ArtifactError(DovetailError):
    """A file that is no artifact of `dovetail-compile`, or one for another machine or version."""


class InputError(DovetailError):
    """An input of `dovetail-run` that the module does not take; raised before anything ran."""


class StrictError(DovetailError):
    """`options={"strict": True}`, and an op could not be compiled."""


def warn(text: str, category: type[Warning]) -> None:
    """Warns at the line of the user's that led here: by each such line Python shows a warning once."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _package(names: dict) -> str:
    return names.get("__name__", "").partition(".")[0]
