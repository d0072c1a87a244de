"""A compiled module as one file, which runs without the compiler. docs/commands.md describes its layout."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch_mlir import ir

from dovetail.backends.iree import CompiledRegion
from dovetail.backends.target import COMPILER_PACKAGE, Target, host_cpu
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.regions import DRIVER, choice, region_bytes, regions
from dovetail.errors import ArtifactError
from dovetail.runtime.launch import Executable, choose_driver
from dovetail.runtime.stats import current

FORMAT = 1
"""Changes whenever another version of Dovetail would read an artifact wrongly."""

RUNTIME_PACKAGE = "iree-base-runtime"
_MODULE, _MANIFEST = "module.mlir", "artifact.json"


def save_artifact(path: Path, module: ir.Module, executables: Mapping[str, Executable], target: Target) -> None:
    """Writes a module at level `regions`, and the code of its regions, to `path`; raises OSError if it can't be."""
    compiled = {name: each.compiled for name, each in executables.items()}
    files = {_file_of(each.module): each.module for each in compiled.values()}
    manifest = {
        "format": FORMAT,
        "iree": version(COMPILER_PACKAGE),
        "target": asdict(target),
        "machine": _machine(),
        "regions": {name: {"file": _file_of(each.module), "entry": each.entry} for name, each in compiled.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=2))
        archive.writestr(_MODULE, module.operation.get_asm(enable_debug_info=True))
        for name, code in files.items():
            archive.writestr(name, code)
    path.write_bytes(buffer.getvalue())


def load_artifact(path: Path) -> tuple[ir.Module, dict[str, Executable]]:
    """Reads what `save_artifact` wrote: the module, and what runs its regions, by symbol.

    Raises:
        ArtifactError: for another file, a damaged one, or one for another format, machine or version of IREE.
        OSError: if the file can't be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _object(json.loads(archive.read(_MANIFEST)), _MANIFEST)
            _check(path, manifest)
            module = parse_module(archive.read(_MODULE).decode(), make_context())
            made = _regions(manifest)
            codes = {each["file"]: archive.read(each["file"]) for each in made.values()}
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, ir.MLIRError) as error:
        raise ArtifactError(f"{path}: damaged, or no artifact of dovetail-compile: {error}") from error
    drivers = _drivers(module)
    if set(made) != set(drivers):
        names = ", ".join(sorted(set(made) ^ set(drivers)))
        raise ArtifactError(f"{path}: expected code for each region of the module and no other, unlike for {names}")
    try:
        return module, _executables(made, codes, drivers)
    except (RuntimeError, ValueError) as error:
        raise ArtifactError(f"{path}: IREE's runtime can't load its code: {' '.join(str(error).split())}") from error


def _check(path: Path, manifest: dict[str, Any]) -> None:
    if manifest["format"] != FORMAT:
        raise ArtifactError(
            f"{path}: is of format {manifest['format']}, this version of Dovetail reads format {FORMAT}"
        )
    runtime = version(RUNTIME_PACKAGE)
    if manifest["iree"] != runtime:
        raise ArtifactError(f"{path}: was compiled by IREE {manifest['iree']}, but the runtime is of IREE {runtime}")
    if _object(manifest["target"], "its target")["cpu"] == "host" and manifest["machine"] != _machine():
        raise ArtifactError(f"{path}: was compiled for another CPU than this machine's")


def _object(value: Any, name: str) -> dict[str, Any]:
    """`value`, if it is a JSON object; raises ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError(f"expected {name} to be a JSON object, got {json.dumps(value)}")
    return value


def _regions(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The file of each region's code, and its entry there; raises KeyError or ValueError if the manifest has none."""
    regions = _object(manifest["regions"], "its regions")
    made = {name: {key: _object(each, name)[key] for key in ("file", "entry")} for name, each in regions.items()}
    for name, each in made.items():
        for key, value in each.items():
            if not isinstance(value, str):
                raise ValueError(f"expected the {key} of {name} to be a string, got {json.dumps(value)}")
    return made


def _drivers(module: ir.Module) -> dict[str, str]:
    """What runs each region: tuning's choice where the IR has one, else what its size suggests."""
    moved = region_bytes(module)
    return {name: choice(region, DRIVER, choose_driver(moved[name])) for name, region in regions(module).items()}


def _executables(
    made: Mapping[str, Mapping[str, str]], codes: Mapping[str, bytes], drivers: Mapping[str, str]
) -> dict[str, Executable]:
    """One executable for each distinct region: repeated layers share it."""
    shared: dict[tuple[str, ...], Executable] = {}
    keys = {name: (each["file"], each["entry"], drivers[name]) for name, each in made.items()}
    for name, (file, entry, driver) in keys.items():
        if keys[name] not in shared:
            shared[keys[name]] = Executable(CompiledRegion(codes[file], entry), driver, name)
    current().executables += len(shared)
    return {name: shared[key] for name, key in keys.items()}


def _file_of(code: bytes) -> str:
    """Named by its contents, since one compiler run makes the code of many regions."""
    return f"code/{hashlib.sha256(code).hexdigest()}.vmfb"


def _machine() -> str:
    return hashlib.sha256(host_cpu().encode()).hexdigest()
