"""One call of a module, and what its caller sees of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import REQUIRES_GRAD
from dovetail.dialects.reading import Module, argument_facts
from dovetail.dialects.statements.devices import home
from dovetail.errors import InputError
from dovetail.runtime.program import load_plain_program
from dovetail.runtime.reference.drawn_inputs import arranged
from dovetail.runtime.reference.on_host import is_here
from dovetail.tools.run.inputs import input_names, make_inputs


@dataclass(frozen=True)
class Outcome:
    """Results, inputs afterwards, and the gradient for each input (None where there is none)."""

    results: list
    inputs: list
    gradients: list


@dataclass(frozen=True)
class Call:
    """A module's `@call` with the `inputs` that it will get; `differentiated` ones get a gradient."""

    module: ir.Module
    entry: func.FuncOp
    names: list[str]
    inputs: list
    differentiated: frozenset[int]

    @classmethod
    def prepare(cls, module: ir.Module, given: Sequence[str], seed: int, gradients: bool) -> "Call":
        """Checks the inputs (`make_inputs`), and that there are gradients where they are asked for.

        Raises:
            InputError: before anything runs.
        """
        entry = Module(module).call
        if not is_here(home(module)):
            raise InputError(f"the module is for {home(module)}, which is not here; dovetail-opt runs it on the CPU")
        require = (index for index, facts in enumerate(argument_facts(entry)) if REQUIRES_GRAD in facts)
        differentiated = frozenset(require) if gradients else frozenset()
        if gradients and not differentiated:
            raise InputError("no input of this module requires a gradient, so --gradients has none to show")
        return cls(module, entry, input_names(entry), make_inputs(module, entry, given, seed), differentiated)

    def run(self, executables: Mapping[str, Callable], seed: int) -> Outcome:
        """Calls the module on copies; gradients are those of the sum of all results."""
        leaves = [self._leaf(index, each) for index, each in enumerate(self.inputs)]
        # Copies of the leaves, since autograd lets nobody write to a leaf.
        passed = arranged(self.module, [_copy(leaf) for leaf in leaves])
        program, _ = load_plain_program(self.module, executables)
        torch.manual_seed(seed)
        results = list(program(list(passed)))
        reached = [result for result in results if isinstance(result, torch.Tensor) and result.requires_grad]
        if self.differentiated:
            torch.autograd.backward(reached, [torch.ones_like(each) for each in reached])
        return Outcome(results, passed, [getattr(leaf, "grad", None) for leaf in leaves])

    def _leaf(self, index: int, value):
        if not isinstance(value, torch.Tensor):
            return value
        return _copy(value).requires_grad_(index in self.differentiated)


def _copy(value):
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device).copy_(value)
