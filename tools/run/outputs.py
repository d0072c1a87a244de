"""Shows what a call gave: results, printed or in .npy files, changed inputs, gradients."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import RefType
from dovetail.errors import InputError
from dovetail.tools.module_files import printable, write_output, writing
from dovetail.tools.run.call import Call, Outcome
from dovetail.tools.run.inputs import same_bits
from dovetail.tools.run.values import is_storable, save_value, type_text, value_text


def check_outputs(given: Sequence[str], entry: func.FuncOp) -> None:
    """Raises InputError if the results can't be written to the files `given`, before anything runs."""
    types = list(entry.type.results)
    if not given:
        return
    if len(given) != len(types):
        raise InputError(f"expected --output for each of {len(types)} results, or none; got {len(given)}")
    for index, (text, type_) in enumerate(zip(given, types, strict=True)):
        if not text.startswith("@"):
            raise InputError(f"--output={text}: expected @FILE.npy")
        info = type_.info if isinstance(type_, RefType) else None
        if info is None or not is_storable(getattr(torch, info.dtype)):
            shown = type_text(info.shape, getattr(torch, info.dtype)) if info else str(type_)
            raise InputError(f"--output={text}: result {index} is {shown}, which .npy files don't have")


def show(call: Call, outcome: Outcome, outputs: Sequence[str]) -> None:
    """Prints what the caller sees, results that go to files excepted."""
    lines = []
    for index, result in enumerate(outcome.results):
        if outputs:
            file = outputs[index].removeprefix("@")
            with writing(file):
                save_value(Path(file), result)
        else:
            lines.append(f"result {index}: {value_text(result)}")
    for name, before, after in zip(call.names, call.inputs, outcome.inputs, strict=True):
        if isinstance(after, torch.Tensor) and _is_changed(before, after):
            lines.append(f"{name}, changed: {value_text(after)}")
    for index in sorted(call.differentiated):
        gradient = outcome.gradients[index]
        lines.append(f"{call.names[index]}, gradient: {'none' if gradient is None else value_text(gradient)}")
    if lines:
        write_output("-", printable("\n".join(lines)))


def _is_changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    if (before.shape, before.stride()) != (after.shape, after.stride()):
        return True
    return not same_bits(before, after)
