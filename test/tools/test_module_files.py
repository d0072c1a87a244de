"""Files that the commands read and write: damaged or missing ones, full disks, readers that stop early."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from modules import TRAINED

from dovetail.tools.command_server import start
from dovetail.tools.compile import main as compile_
from dovetail.tools.run.command import main as run


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a module at level `joint`."""
    (tmp_path / "module.mlir").write_text(TRAINED)
    return str(tmp_path / "module.mlir")


@pytest.fixture(scope="module")
def command() -> Callable[..., tuple[int, str]]:
    """The status of a command that writes to `stdout`, and what it says; Python's own complaints would be there too."""
    serving = shlex.split(start(dict(os.environ)))

    def run(stdout: int, tool: str, *arguments: str) -> tuple[int, str]:
        call = [*serving, f"dovetail-{tool}", *arguments]
        done = subprocess.run(call, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("opt", []), ("opt", ["--emit-bytecode"]), ("opt", ["--list-passes"]), ("run", ["--reference"])],
)
def test_reader_that_has_seen_enough_is_no_failure(tool: str, arguments: list, path: str, command: Callable):
    """Would catch `dovetail-opt FILE | head` that blames the file for the broken pipe."""
    read, write = os.pipe()
    os.close(read)
    assert command(write, tool, path, *arguments) == (0, "")
    os.close(write)


@pytest.mark.parametrize("tool", ["opt", "run"])
def test_full_disk_is_not_blamed_on_the_input(tool: str, path: str, command: Callable):
    """Would catch a message that names the file that was read, for what could not be written."""
    with Path("/dev/full").open("wb") as full:
        arguments = [path, "--reference"] if tool == "run" else [path]
        told = f"dovetail-{tool}: standard output: No space left on device\n"
        assert command(full.fileno(), tool, *arguments) == (1, told)
    assert command(subprocess.DEVNULL, "opt", path, "-o", "/dev/full") == (
        1,
        "dovetail-opt: /dev/full: No space left on device\n",
    )


@pytest.mark.parametrize("left", [4, 100, -1])
def test_damaged_artifact_is_told(left: int, path: str, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch an artifact, cut off anywhere, that is taken for a module and called wrong UTF-8."""
    artifact = tmp_path / "artifact"
    assert compile_([path, "-o", str(artifact)]) == 0
    artifact.write_bytes(artifact.read_bytes()[:left])
    assert run([str(artifact)]) == 1
    assert capsys.readouterr().err == (
        f"dovetail-run: {artifact}: damaged, or no artifact of dovetail-compile: File is not a zip file\n"
    )


def test_missing_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a traceback where the file's first bytes should say what it is."""
    assert run([str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == f"dovetail-run: {tmp_path / 'none'}: No such file or directory\n"
