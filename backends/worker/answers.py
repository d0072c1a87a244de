"""What the worker can be asked, by name, and what it answers: facts, and bytes."""

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.backends.worker.blocks import cut_into_blocks
from dovetail.backends.worker.configure import configure
from dovetail.backends.worker.finish import finish
from dovetail.backends.worker.host_program import read_plans
from dovetail.backends.worker.wrap import wrap

Answer = tuple[dict[str, Any], bytes]


def answer(asked: Mapping[str, Any], text: bytes) -> Answer:
    """The answer of one of `_TASKS` to what is asked about `text`."""
    return _TASKS[asked["task"]](asked, text)


_TASKS: dict[str, Callable[[Mapping[str, Any], bytes], Answer]] = {
    "plans": lambda asked, text: read_plans(text, asked["names"]),
    "wrap": lambda asked, text: ({}, wrap(text)),
    "cut into blocks": lambda asked, text: ({}, cut_into_blocks(text)),
    "configure": lambda asked, text: configure(text, dict(asked["plain"])),
    "finish": lambda asked, text: ({}, finish(text)),
}
