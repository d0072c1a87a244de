"""What the IR says of recording: which arguments stay where they are, and what no CUDA graph can stand for."""

from dataclasses import replace

import pytest
import torch
from graph_stand_in import recordable
from torch import nn
from torch_mlir import ir

import dovetail
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.runtime.cuda.read_recordable import recordable_backward, recordable_forward


def module_of(compute, *arguments: torch.Tensor) -> ir.Module:
    """The module that `compute` becomes, at its last level, which says what one for a GPU would."""
    seen: list = []
    with pytest.MonkeyPatch.context() as patch:
        from dovetail import compiler

        load = compiler.load_program
        patch.setattr(compiler, "load_program", lambda module, *more: seen.append(module) or load(module, *more))
        torch.compile(compute, backend="dovetail")(*arguments)
    return recordable(seen[0])


@pytest.mark.usefixtures("op_by_op")
def test_what_stays_is_read() -> None:
    """Catches a parameter that each call copies, and a backward replayed on what no replayed forward has made."""
    found = Module(module_of(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), torch.randn(4, 8)))
    facts = recordable_forward(found.forward, found.regions)
    assert facts.refusal == ""
    assert facts.stays == (True, True, False, True, True)
    # The input, the second weight and the activation are saved; the tangent comes last.
    backward = recordable_backward(found.forward, facts, found.backward, found.regions)
    assert backward.refusal == ""
    assert backward.stays == (False, True, True, False)
    assert backward.made == (2,)


@pytest.mark.parametrize(
    ("compiled", "reason"),
    [(["region", "other"], "a test"), (["other"], "@region runs on the host"), (["region"], "@other runs on the host")],
)
def test_the_first_reason_is_read(compiled: list[str], reason: str) -> None:
    """Catches a number or a branch of the first call that all replays would take, and a reason that names no line."""
    module = parse_module(
        """
        func.func private @region()
        func.func private @other()
        func.func @forward() {
            func.call @region() : () -> ()
            func.call @other() : () -> ()
            %none = torch.constant.none {dovetail.not_recordable = "a test"}
            return
        }""",
        make_context(),
    )
    line, _, found = recordable_forward(module.body.operations[2], compiled).refusal.partition(": ")
    assert line.startswith("loc(")
    assert found == reason


@pytest.mark.usefixtures("op_by_op")
def test_what_draws_is_read() -> None:
    """Catches replays on two streams at once that draw the same numbers, since nothing says that they draw."""
    attention, given = nn.functional.scaled_dot_product_attention, torch.randn(1, 2, 8, 8, requires_grad=True)
    found = []
    for compute in (
        torch.sin,
        lambda x: attention(x, x, x, dropout_p=0.5),
        lambda x: nn.functional.dropout(x, 0.5),
    ):
        module = Module(module_of(compute, given))
        facts = recordable_forward(module.forward, module.regions)
        backward = recordable_backward(module.forward, facts, module.backward, module.regions)
        found.append((facts.draws, backward.draws))
    assert found == [(False, False), (True, False), (True, False)]


@pytest.mark.usefixtures("op_by_op")
def test_a_backward_alone_is_not_recorded() -> None:
    """Catches a recorded backward of what each forward saves elsewhere."""
    found = Module(module_of(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), torch.randn(4, 8)))
    facts = replace(recordable_forward(found.forward, found.regions), refusal="a test")
    backward = recordable_backward(found.forward, facts, found.backward, found.regions)
    assert backward.refusal == "@forward can't be either"


@pytest.mark.usefixtures("op_by_op")
def test_a_region_without_a_launch_is_named() -> None:
    """Catches a region that runs on the host, in a graph that knows nothing of it."""
    module = module_of(lambda x: torch.softmax(x.sin() + 1, 0), torch.randn(4096))
    found = Module(module)
    [region] = found.regions
    assert recordable_forward(found.forward, ()).refusal.endswith(f"@{region} runs on the host")


@pytest.mark.usefixtures("op_by_op")
def test_option_counts_what_is_not_replayed() -> None:
    """Catches a mode that does nothing on a CPU, and says nothing."""
    dovetail.stats(reset=True)
    torch.compile(torch.sin, backend="dovetail", mode="reduce-overhead")(torch.randn(8))
    assert list(dovetail.stats().without_effect) == ["reduce_overhead: no calls are recorded on cpu"]
