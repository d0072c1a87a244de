"""A compiled module as one file, which runs without the compiler. docs/commands.md describes its layout."""

import functools
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch_mlir import ir

from dovetail.backends.base_target import COMPILER_PACKAGE, Target
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.host_cpu import host_cpu
from dovetail.backends.target import target_for_device
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.planned_memory import broken_plans
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.plans import code_of, digest, plans
from dovetail.dialects.statements.regions import driver_of
from dovetail.dialects.statements.target import device_of, device_type
from dovetail.errors import ArtifactError, OptionError
from dovetail.runtime.archive import LIMIT_BYTES, MANIFEST, MODULE, ArchiveError, read_archive
from dovetail.runtime.launches.iree_executable import Executable
from dovetail.runtime.load_plan import Launcher, Planned, load_plan, planned, unavailable
from dovetail.runtime.stats import current

FORMAT = 3
"""Changes whenever another version of Dovetail would read an artifact wrongly."""

RUNTIME_PACKAGE = "iree-base-runtime"
_LIBRARIES = {"torch": "PyTorch", "torch-mlir": "torch-mlir"}
"""What the module's text is read with and calls, by package."""


def packed(path: Path, module: ir.Module, executables: Mapping[str, Launcher], target: Target) -> bytes:
    """A module at level `launches`, and the code of its regions, as one file that is to be at `path`.

    Raises:
        ArtifactError: if they take more than `LIMIT_BYTES`, which no artifact may.
    """
    compiled = {name: each.compiled for name, each in executables.items() if isinstance(each, Executable)}
    planned = {name: each.library.code for name, each in executables.items() if not isinstance(each, Executable)}
    text = module.operation.get_asm(enable_debug_info=True).encode()
    files = {_file_of(region.module): region.module for region in compiled.values()}
    files |= {_plan_file(digest(code)): code for code in planned.values()}
    manifest = {
        "format": FORMAT,
        **{package: _version(package) for package in _LIBRARIES},
        "iree": _version(COMPILER_PACKAGE),
        "target": asdict(target),
        "machine": _machine(),
        "module": digest(text),
        "regions": {name: {"file": _file_of(each.module), "entry": each.entry} for name, each in compiled.items()},
        "plans": {name: _plan_file(digest(code)) for name, code in planned.items()},
    }
    contents = {MANIFEST: json.dumps(manifest, indent=2).encode(), MODULE: text, **files}
    total = sum(map(len, contents.values()))
    if total > LIMIT_BYTES:
        raise ArtifactError(f"{path}: the module and its code take {total} bytes, an artifact at most {LIMIT_BYTES}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            # Of no date: the same module and code are the same artifact.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def load_artifact(path: Path, contents: bytes | None = None) -> tuple[ir.Module, dict[str, Launcher]]:
    """Reads what `packed` made: the module, and what runs its regions, by symbol.

    `contents` are what would be at `path`, where they are kept elsewhere. Where plans can't run, their
    regions are not among these, and run op by op.

    The code is the machine's: whoever made the artifact decides what this process does. That it is what was written is
    checked before any of it is loaded, which says nothing of who wrote it.

    Raises:
        ArtifactError: for another file, a damaged one, or one for another format, machine or version of IREE, PyTorch
            or torch-mlir.
        OSError: if the file can't be read.
    """
    with _refusing(path):
        files = read_archive(path if contents is None else io.BytesIO(contents))
        manifest = _manifest(path, files)
        _check_code(path, manifest)
        # What each region's code lies in, and its entry there.
        made = {
            name: {key: _text(_object(region, name)[key], f"the {key} of {name}") for key in ("file", "entry")}
            for name, region in _object(manifest["regions"], "its regions").items()
        }
        stated_plans = _object(manifest["plans"], "its plans").items()
        planned = {name: _text(file, f"the plan of {name}") for name, file in stated_plans}
        codes = {name: code for name, code in files.items() if name not in (MANIFEST, MODULE)}
        _check_digests(codes, {*planned.values(), *(each["file"] for each in made.values())})
        module = parse_module(files[MODULE].decode(), make_context())
        known = target_for_device(device_of(module)).drivers
        drivers = {name: driver_of(region, known) for name, region in Module(module).regions.items()}
        stated = {name: _plan_file(code_of(plan)) for name, plan in plans(module).items()}
    differing = {name for name, _ in stated.items() ^ planned.items()}
    differing |= made.keys() ^ (drivers.keys() - stated.keys())
    if differing:
        names = ", ".join(sorted(differing))
        raise ArtifactError(f"{path}: expected code for each region of the module and no other, unlike for {names}")
    with _refusing(path):
        broken = next(broken_plans(Module(module)), None)
    if broken is not None:
        op, why = broken
        raise ArtifactError(f"{path}: {op.location}: {why}")
    try:
        return module, {**_executables(made, codes, drivers), **_planned(module, codes)}
    except (RuntimeError, ValueError, LookupError, OSError) as error:  # IREE's statuses, by Python's closest class
        raise ArtifactError(f"{path}: its code can't be loaded: {' '.join(str(error).split())}") from error


def load_module(path: Path) -> ir.Module:
    """The module of an artifact alone, to be run without its code; raises as `load_artifact` does."""
    with _refusing(path):
        files = read_archive(path, (MANIFEST, MODULE))
        _manifest(path, files)
        return parse_module(files[MODULE].decode(), make_context())


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Around what reads the files of an artifact: whatever they hold, there is one error."""
    try:
        yield
    except (ArchiveError, OptionError, LookupError, ValueError, RecursionError, ir.MLIRError) as error:
        raise ArtifactError(f"{path}: damaged, or no artifact of dovetail-compile: {error}") from error


def _manifest(path: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest, whose module is the one that was written, for the libraries that are here."""
    manifest = _object(json.loads(files[MANIFEST]), MANIFEST)
    if manifest["format"] != FORMAT:
        raise ArtifactError(
            f"{path}: is of format {manifest['format']}, this version of Dovetail reads format {FORMAT}"
        )
    for package, name in _LIBRARIES.items():
        if manifest[package] != _version(package):
            raise ArtifactError(f"{path}: was compiled with {name} {manifest[package]}, here is {_version(package)}")
    if manifest["module"] != digest(files[MODULE]):
        raise ValueError(f"{MODULE} has another SHA-256 than {MANIFEST} says")
    return manifest


def _check_code(path: Path, manifest: Mapping[str, Any]) -> None:
    runtime = _version(RUNTIME_PACKAGE)
    if manifest["iree"] != runtime:
        raise ArtifactError(f"{path}: was compiled by IREE {manifest['iree']}, but the runtime is of IREE {runtime}")
    if _object(manifest["target"], "its target").get("cpu") == "host" and manifest["machine"] != _machine():
        raise ArtifactError(f"{path}: was compiled for another CPU than this machine's")


def _check_digests(codes: Mapping[str, bytes], expected: set[str]) -> None:
    """Raises ValueError unless the code is what was written, all of it and nothing else."""
    differing = codes.keys() ^ expected
    if differing:
        raise ValueError(f"expected a file for each region's code and no other, unlike {min(differing)!r}")
    for name, code in codes.items():
        if name not in (_file_of(code), _plan_file(digest(code))):
            raise ValueError(f"{name} has another SHA-256 than its name says")


@functools.cache  # else its files are read for each program
def _version(package: str) -> str:
    """A package's version without the build's (`+cpu`), which decides no operator."""
    return version(package).partition("+")[0]


def _object(value: Any, name: str) -> dict[str, Any]:
    """`value`, if it is a JSON object; raises ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError(f"expected {name} to be a JSON object, got {json.dumps(value)}")
    return value


def _text(value: Any, name: str) -> str:
    """`value`, if it is a string; raises ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"expected {name} to be a string, got {json.dumps(value)}")
    return value


def _planned(module: ir.Module, codes: Mapping[str, bytes]) -> dict[str, Planned]:
    found = plans(module)
    why_not = unavailable(device_type(module))
    if why_not:
        current().launches.update(f"ATen, op by op: {why_not}" for _ in found)
        return {}
    current().launches.update(planned(device_type(module)) for _ in found)
    return {name: load_plan(plan, codes[_plan_file(code_of(plan))]) for name, plan in found.items()}


def _executables(
    made: Mapping[str, Mapping[str, str]], codes: Mapping[str, bytes], drivers: Mapping[str, str]
) -> dict[str, Executable]:
    """One executable for each distinct region: repeated layers share it."""
    shared: dict[tuple[str, ...], Executable] = {}
    keys = {name: (region["file"], region["entry"], drivers[name]) for name, region in made.items()}
    for name, (file, entry, driver) in keys.items():
        if keys[name] not in shared:
            shared[keys[name]] = Executable(CompiledRegion(codes[file], entry), driver, name)
    current().executables += len(shared)
    current().launches.update("iree.runtime: the artifact has no plan" for _ in keys)
    return {name: shared[key] for name, key in keys.items()}


def _file_of(code: bytes) -> str:
    """Named by its contents, since one compiler run makes the code of many regions."""
    return f"code/{digest(code)}.vmfb"


def _plan_file(code: str) -> str:
    """Named as a plan names it, by the digest."""
    return f"code/{code}.so"


def _machine() -> str:
    return digest(host_cpu().encode())
