"""What a failed pass leaves behind: the module as a file, and the command that shows the failure again."""

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir


def printed(operation: ir.Operation) -> str:
    """The text of `operation` with source lines, as input for `dovetail-opt`."""
    return f"{operation.get_asm(enable_debug_info=True)}\n"


@dataclass(frozen=True)
class Evidence:
    """A module before passes, as an operation of its own or the file that it was dumped to, and the passes since."""

    module: ir.Operation | Path
    passes: tuple[str, ...] = ()

    def command(self, failed: object) -> str:
        """The shell command on which pass `failed` fails again; what was not dumped is written to a temporary file."""
        pipeline = shlex.quote(",".join([*self.passes, str(failed)]))
        try:
            path = self.module if isinstance(self.module, Path) else _written(self.module)
        except OSError as error:
            return f"dovetail-opt - --pass-pipeline={pipeline}  # the module could not be written: {error.strerror}"
        return f"dovetail-opt {shlex.quote(str(path))} --pass-pipeline={pipeline}"


def _written(operation: ir.Operation) -> Path:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="dovetail-", suffix=".mlir", delete=False) as file:
        file.write(printed(operation))
    return Path(file.name)
