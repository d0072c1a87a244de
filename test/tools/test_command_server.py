"""The commands of lit's tests, which are forks of one process: they must do what processes of their own would."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from dovetail.tools.command_server import Request

OWNER = """
import os
from dovetail.tools.command_server import start
print(start(dict(os.environ)), flush=True)
input()
"""


def _soon(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def owner() -> Iterator[subprocess.Popen]:
    """A process that has started a server, and ends when its input does."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@pytest.fixture(scope="module")
def words(owner: subprocess.Popen) -> list[str]:
    """What stands before the command's name."""
    return owner.stdout.readline().split()


@pytest.fixture(scope="module")
def server(owner: subprocess.Popen, words: list[str]) -> psutil.Process:
    """The server that it has started."""
    [process] = psutil.Process(owner.pid).children()
    return process


@pytest.fixture(scope="module")
def serving(owner: subprocess.Popen, server: psutil.Process, words: list[str]) -> Iterator[list[str]]:
    """The words; would catch a server or a socket that is left when lit has ended."""
    yield words
    owner.communicate("\n")
    assert _soon(lambda: not server.is_running())
    assert not Path(words[-1]).parent.exists()


@pytest.fixture
def waiting(serving: list[str], server: psutil.Process, tmp_path: Path) -> Iterator[tuple]:
    """A client whose command waits for input, and the command's process."""
    assert _soon(lambda: not server.children())
    (tmp_path / "expected").write_text("CHECK: a word\n")
    command = [*serving, "filecheck", tmp_path / "expected"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        assert _soon(server.children)
        [command] = server.children()
        yield client, command


@pytest.mark.parametrize(
    ("arguments", "status", "stdout", "stderr"),
    [
        (["--help"], 0, r"usage: dovetail-opt (.{,50}\n)+", ""),
        (["module", "-o", "out"], 0, "", ""),
        (["-", "-o", "out"], 0, "", ""),
        (["-"], 0, r"module @given \{\n\}\n", ""),
        (["none"], 1, "", r"dovetail-opt: .*none.*\n"),
        (["--none"], 2, "", r"(?s)usage: dovetail-opt .*--none.*\n"),
    ],
    ids=str,
)
def test_commands_do_what_processes_of_their_own_do(
    serving: list[str], tmp_path: Path, arguments: list[str], status: int, stdout: str, stderr: str
) -> None:
    """Would catch commands that have the server's streams, directory or environment, and a status that is lost."""
    (tmp_path / "module").write_text("module @of_this_folder {}")
    done = subprocess.run(
        [*serving, "dovetail-opt", *arguments],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "50"},
        input="module @given {}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert re.fullmatch(stdout, done.stdout)
    assert re.fullmatch(stderr, done.stderr)
    if "out" in arguments:
        name = "given" if "-" in arguments else "of_this_folder"
        assert (tmp_path / "out").read_text() == f"module @{name} {{\n}}\n"


def test_a_command_that_a_signal_ends_ends_its_client_so(waiting: tuple) -> None:
    """Would catch `not`, which takes the crash of a command for the failure that a test expects."""
    client, command = waiting
    command.send_signal(signal.SIGSEGV)
    client.communicate()
    assert client.returncode == -signal.SIGSEGV


def test_a_command_ends_with_its_client(waiting: tuple) -> None:
    """Would catch commands that run on when lit has ended a test that is over its time."""
    client, command = waiting
    client.kill()
    assert _soon(lambda: not command.is_running())


def test_words_of_the_environment_that_are_no_variables():
    """Catches a word without a value, which Python does not know, as an empty variable; and a name that none can have,
    by which the fork fails."""
    request = Request.read(b"2\0/folder\0filecheck\0A=1\0WORD\0B=2=3\0C=\0=D\0")
    assert request == Request("/folder", ["filecheck", "A=1"], {"B": "2=3", "C": ""})


def test_an_owner_that_has_ended_already(tmp_path):
    """Catches a server that fails, and prints so in the midst of lit's lines, since lit had nothing to run."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    place = tmp_path / "server"
    place.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "socket"))
        listener.listen()
        command = [sys.executable, "-m", "dovetail.tools.command_server", str(listener.fileno()), str(ended.pid)]
        served = subprocess.run(command, pass_fds=[listener.fileno()], capture_output=True, text=True)
    assert (served.returncode, served.stderr) == (0, "")
    assert not place.exists()
