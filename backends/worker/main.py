"""The worker's program: answers what `backends/iree_worker.py` asks about texts of IREE's, one after the other.

Its argument is the number of a connection, through which come what is asked, as JSON, and a text; the answer is JSON,
and then bytes. It ends with whoever holds the other end, or when nobody asks for `IDLE_SECONDS`.
"""

import json
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

IDLE_SECONDS = 30


def main() -> None:
    from dovetail.backends.worker.answers import answer

    connection = Connection(int(sys.argv[1]))
    while connection.poll(IDLE_SECONDS):
        try:
            asked, text = json.loads(connection.recv_bytes()), connection.recv_bytes()
        except EOFError:
            return
        facts, data = answer(asked, text)
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
