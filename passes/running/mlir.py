"""MLIR's own passes inside of our pipelines."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from dovetail.errors import OptionError, PassError


@dataclass(frozen=True)
class MlirPass:
    """A pass that MLIR registers, by its textual name, run on the module ("cse", "func.func(canonicalize)")."""

    name: str

    def run(self, module: ir.Module) -> None:
        try:
            self._manager(module.context).run(module.operation)
        except ir.MLIRError as error:
            raise PassError(f"pass '{self.name}' failed: {error}") from error

    def check(self, context: ir.Context) -> None:
        """Raises OptionError if MLIR knows no such pass."""
        self._manager(context)

    def _manager(self, context: ir.Context) -> PassManager:
        try:
            with context:
                return PassManager.parse(f"builtin.module({self.name})")
        except ValueError as error:
            raise OptionError(f"unknown pass '{self.name}': {error}") from error

    def __str__(self) -> str:
        return self.name
