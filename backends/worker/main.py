"""The worker's program: answers what `backends/iree_worker.py` asks about texts of IREE's, one after the other.

Its argument is the number of a connection, through which come what is asked, as JSON, and a text; the answer is facts,
as JSON, and then bytes. It ends with whoever holds the other end, or when nobody asks for `IDLE_SECONDS`.
"""

import json
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

IDLE_SECONDS = 30


def main() -> None:
    from dovetail.backends.worker.blocks import cut_into_blocks
    from dovetail.backends.worker.configure import configure
    from dovetail.backends.worker.finish import finish
    from dovetail.backends.worker.host_program import read_plans
    from dovetail.backends.worker.wrap import wrap

    tasks: dict[str, Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]] = {
        "plans": lambda asked, text: read_plans(text, asked["names"]),
        "wrap": lambda _, text: ({}, wrap(text)),
        "cut into blocks": lambda _, text: ({}, cut_into_blocks(text)),
        "configure": lambda asked, text: configure(text, dict(asked["plain"])),
        "finish": lambda _, text: ({}, finish(text)),
    }
    connection = Connection(int(sys.argv[1]))
    while connection.poll(IDLE_SECONDS):
        try:
            asked, text = json.loads(connection.recv_bytes()), connection.recv_bytes()
        except EOFError:
            return
        facts, data = tasks[asked["task"]](asked, text)
        connection.send_bytes(json.dumps(facts).encode())
        connection.send_bytes(data)


def _know_siblings() -> None:
    """Makes this folder, and nothing else of Dovetail, known by its name: importing the package itself loads torch."""
    folders: dict[str, list[str]] = {"dovetail": [], "dovetail.backends": []}
    folders["dovetail.backends.worker"] = [str(Path(__file__).parent)]
    for name, path in folders.items():
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = path


if __name__ == "__main__":
    _know_siblings()
    main()
