"""The walk of docs/walk.md: a function that mutates, returns a view and is differentiated, at every level of the IR."""

import os
import re
import tempfile
from contextlib import redirect_stderr
from inspect import getsource
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import torch
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_file
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.torch_facts.types import is_value_type, require_tensor_info
from dovetail.errors import PassError
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.partition.partition import PartitionPass
from dovetail.passes.pipeline import Pipeline, compile_pipeline

_TENSOR = r"!torch\.v?tensor<\[[0-9,]*\],[A-Za-z0-9]+>"
_LONG_TYPE = re.compile(rf"!dovetail\.ref<{_TENSOR}, strided<\[[0-9, ]*\]>>|{_TENSOR}")


def step(x, weight, mean):
    with torch.no_grad():
        mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
    y = torch.relu((x - mean) @ weight)
    return y, y.t()


def arguments() -> tuple[torch.Tensor, ...]:
    """Fresh arguments for `step`: float32 of shapes [4,3], [3,2] and [3], of which the second is trained."""
    torch.manual_seed(0)
    return torch.randn(4, 3), torch.randn(3, 2, requires_grad=True), torch.zeros(3)


def walk_sections() -> dict[str, str]:
    """Compiles and runs `step`, and returns its source and what it was at each stage, by section name."""
    sections = {"walk:source": _fenced("python", getsource(step))}
    with tempfile.TemporaryDirectory() as root:
        # Where the stages are is said on stderr: nobody can look there afterwards.
        with patch.dict(os.environ, DOVETAIL_DUMP=root), redirect_stderr(StringIO()):
            _compile_and_run()
        folders = list(Path(root).iterdir())
        if len(folders) != 1:
            raise PassError(f"expected one graph of the walk's function, got {len(folders)}")
        context = make_context()
        for number, (name, _) in enumerate(stages()):
            module = parse_file(_dumped(folders[0], number), context)
            sections[f"walk:{name}"] = _fenced("mlir", shortened(module))
        sections["walk:python"] = _fenced("python", (folders[0] / "program.py").read_text(encoding="utf-8"))
    for name, pipeline in list(stages())[1:]:
        command = f"dovetail-opt --run-check --pass-pipeline='{','.join(map(str, pipeline))}'"
        sections[f"walk:to-{name}"] = _fenced("bash", command)
    return sections


def stages() -> list[tuple[str, Pipeline]]:
    """The stages that the walk shows, in order, each with the passes that lead there from the one before."""
    found: list[tuple[str, Pipeline]] = [("joint", ())]
    since: list = []
    for each in compile_pipeline():
        if isinstance(each, PartitionPass):
            found.append(("cleanup", tuple(since)))
            since = []
        since.append(each)
        if isinstance(each, VerifyLevelPass) and each.level != "joint":
            found.append((each.level, tuple(since)))
            since = []
    return found


def shortened(module: ir.Module) -> str:
    """`module` as text without locations, its long types under short names; it parses as the same module."""
    names: dict[str, str] = {}

    def short(match: re.Match) -> str:
        return names.setdefault(match[0], _name(ir.Type.parse(match[0], module.context)))

    printed = "\n".join(line.rstrip() for line in str(module).splitlines())
    text = _LONG_TYPE.sub(short, printed)
    aliases = "".join(f"{name} = {type_}\n" for type_, name in sorted(names.items(), key=lambda item: item[1]))
    return f"{aliases}{text}"


def _name(type_: ir.Type) -> str:
    """`!value4x3`, `!memory4x3` and `!ref4x3`; what is neither float32 nor row-major says so."""
    is_ref = isinstance(type_, RefType)
    info = type_.info if is_ref else require_tensor_info(type_)
    kind = "ref" if is_ref else "value" if is_value_type(type_) else "memory"
    name = f"!{kind}{'x'.join(map(str, info.shape)) or '0d'}"
    if info.dtype != "float32":
        name += f"_{info.dtype}"
    if is_ref and type_.strides != info.contiguous_strides:
        name += f"_strides{'x'.join(map(str, type_.strides))}"
    return name


def _dumped(folder: Path, stage: int) -> Path:
    """The file with the module as it is when `stage` is reached: the runner numbers its input 0, then every pass."""
    number = sum(len(pipeline) for _, pipeline in stages()[: stage + 1])
    (path,) = folder.glob(f"{number:02d}_*.mlir")
    return path


def _compile_and_run() -> None:
    x, weight, mean = arguments()
    y, transposed = torch.compile(step, backend="dovetail", fullgraph=True)(x, weight, mean)
    (y.sum() + transposed.square().sum()).backward()


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```\n"
