"""Wheel and editable installs, each in an environment of its own and used from another folder.

Nothing is downloaded and nothing is written into the source tree: installs read a copy of it.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from modules import TRAINED

OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation", "--quiet")

# Its argument is the folder that Dovetail is expected in.
IMPORT = """
import sys
from importlib.metadata import entry_points
from pathlib import Path

import dovetail
import dovetail.runtime._launch
assert Path(dovetail.__file__).is_relative_to(sys.argv[1]), dovetail.__file__
[entry_point] = entry_points(group="torch_dynamo_backends", name="dovetail")
"""

COMPILE = """
import torch

assert entry_point.load().__name__ == "dovetail", entry_point

compiled = torch.compile(lambda x: x.sin() + 1, backend="dovetail")
torch.testing.assert_close(compiled(torch.ones(4)), torch.ones(4).sin() + 1)
"""

# The commands as they are installed, in forks: each on its own would import PyTorch again.
COMMANDS = """
import os
import runpy

import dovetail.tools.run.command

for name, *arguments in (
    ("dovetail-opt", "module.mlir", "--stop-after=split", "-o", "split.mlir"),
    ("dovetail-compile", "split.mlir", "-o", "artifact"),
    ("dovetail-run", "artifact", "--input=2x3xf32=0", "--input=2x3xf32=2"),
):
    child = os.fork()
    if not child:
        sys.argv[1:] = arguments
        try:
            runpy.run_path(str(Path(sys.executable).with_name(name)), run_name="__main__")
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(ended.code)  # the interpreter takes a second to end
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, name
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command that must succeed and returns what it printed; a failure shows its whole output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees the running one's dependencies, and Dovetail only where it is installed here."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def site_packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", vars={"base": str(self.folder)}))

    def install(self, *what: str | Path) -> None:
        """Installs Dovetail and nothing else, with the running environment's pip and setuptools."""
        pip = sys.executable, "-m", "pip", "--python", self.bin / "python"
        run(*pip, "install", "--no-compile", *OFFLINE, *what, cwd=self.folder)

    def run_python(self, script: str, *arguments: str | Path) -> str:
        """Runs `script` where no folder of the source tree can be imported by accident; returns what it printed."""
        return run(self.bin / "python", "-c", script, *arguments, cwd=self.folder)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment without Dovetail.

    Python adds the folders that a .pth file names to its path without reading the .pth files in them. So the
    editable finder of the development install stays outside.
    """
    made = Environment(tmp_path / "environment")
    run(sys.executable, "-m", "venv", "--without-pip", made.folder, cwd=tmp_path)
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (made.site_packages / "dependencies.pth").write_text("\n".join(dependencies), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def package_folders(repository: Path) -> dict[str, str]:
    """Maps `dovetail` and its direct subpackages to their top-level folders, as pyproject.toml does."""
    pyproject = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    return pyproject["tool"]["setuptools"]["package-dir"]


def copy_sources(repository: Path, package_folders: dict[str, str], copy: Path) -> Path:
    """Copies what an install reads to the new folder `copy`."""
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, copy)
    for folder in package_folders.values():
        shutil.copytree(repository / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return copy


@pytest.fixture
def sources(repository: Path, package_folders: dict[str, str], tmp_path: Path) -> Path:
    """A copy of the sources that the test may change."""
    return copy_sources(repository, package_folders, tmp_path / "sources")


@pytest.fixture(scope="module")
def wheel(repository: Path, package_folders: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = copy_sources(repository, package_folders, folder / "sources")
    run(sys.executable, "-m", "pip", "wheel", *OFFLINE, "--wheel-dir", folder, sources, cwd=folder)
    [built] = folder.glob("*.whl")
    return built


def test_every_top_level_package_is_mapped(repository: Path, package_folders: dict[str, str]) -> None:
    """Catches a new top-level package that pyproject.toml doesn't name: it works in no install."""
    assert sorted(package_folders.values()) == sorted(path.parent.name for path in repository.glob("*/__init__.py"))


def test_wheel_holds_every_file(repository: Path, package_folders: dict[str, str], wheel: Path) -> None:
    """Catches a subpackage or data file that pyproject.toml doesn't name: it works in editable installs only."""
    expected = {
        f"{package.replace('.', '/')}/{path.relative_to(repository / folder).as_posix()}"
        for package, folder in package_folders.items()
        for path in (repository / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == expected


def test_wheel_works(environment: Environment, wheel: Path) -> None:
    """Catches a wheel that works only beside its source tree: code, entry points, commands and worker processes."""
    environment.install(wheel)
    (environment.folder / "module.mlir").write_text(TRAINED, encoding="utf-8")
    printed = environment.run_python(IMPORT + COMPILE + COMMANDS, environment.site_packages)
    assert "result 0: 2x3xf32=[[2.,2.,2.],\n [2.,2.,2.]]" in printed


def test_editable_install_works(environment: Environment, sources: Path) -> None:
    """Catches a folder mapping that editable installs don't follow, for files made before and after the install."""
    environment.install("--editable", sources)
    (sources / "passes" / "made_later.py").write_text("", encoding="utf-8")
    found = "from importlib.util import find_spec\nassert find_spec(entry_point.module), entry_point"
    environment.run_python(f"{IMPORT}\nimport dovetail.passes.made_later\n{found}", sources)
