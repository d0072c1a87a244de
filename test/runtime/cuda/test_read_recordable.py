"""What the IR says of recording: which arguments stay where they are, and what no CUDA graph can stand for."""

import pytest
import torch
from torch import nn
from torch_mlir import ir

import dovetail
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.runtime.cuda.read_recordable import recordable_backward, recordable_forward, refusal


def module_of(compute, *arguments: torch.Tensor) -> ir.Module:
    """The module that `compute` becomes, at its last level."""
    seen: list = []
    with pytest.MonkeyPatch.context() as patch:
        from dovetail import compiler

        load = compiler.load_program
        patch.setattr(compiler, "load_program", lambda module, *more: seen.append(module) or load(module, *more))
        torch.compile(compute, backend="dovetail")(*arguments)
    return seen[0]


def regions(found: Module) -> list[str]:
    return list(found.regions)


@pytest.mark.usefixtures("op_by_op")
def test_parameters_stay_and_inputs_move() -> None:
    """Catches a parameter that each call copies, and an input whose first address all replays read."""
    module = module_of(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), torch.randn(4, 8))
    found = Module(module)
    [call] = found.calls()["apply"]
    facts = recordable_forward(found, found.forward, call, regions(found))
    assert facts.refusal == ""
    assert facts.stays == (True, True, False, True, True)
    # The input, the second weight and the activation are saved; the tangent comes last.
    backward = recordable_backward(found.forward, facts, found.backward, regions(found))
    assert backward.refusal == ""
    assert backward.stays == (False, True, True, False)
    assert backward.made == (2,)


@pytest.mark.usefixtures("op_by_op")
def test_what_is_updated_in_place_stays() -> None:
    """Catches an update in place of a copy of the argument, which the user never sees."""

    def update(x: torch.Tensor, y: torch.Tensor) -> None:
        x.mul_(2).add_(y.sin())

    module = module_of(update, torch.randn(64), torch.randn(64))
    found = Module(module)
    [call] = found.calls()["forward"]
    facts = recordable_forward(found, found.forward, call, regions(found))
    assert facts.stays == (True, False)


VALUE, INDICES = "!torch.vtensor<[8],f32>", "!torch.vtensor<[8],si64>"
ON_CPU = f"""%cpu = torch.constant.device "cpu"
    %none = torch.constant.none
    %eight = torch.constant.int 8
    %1 = torch.operator "torch.aten.arange"(%eight, %none, %none, %cpu, %none) {{dovetail.reason = "library"}}
      : (!torch.int, !torch.none, !torch.none, !torch.Device, !torch.none) -> {INDICES}"""


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (
            f'%1 = torch.operator "torch.aten.nonzero"(%0) : ({VALUE}) -> !torch.vtensor<[?,1],si64>',
            "the host waits for the values of aten.nonzero.default",
        ),
        (
            f'%1 = torch.operator "torch.mine.op"(%0) : ({VALUE}) -> {VALUE}',
            "mine.op.default may do anything on the host",
        ),
        (ON_CPU, "aten.arange.default makes a tensor on the CPU"),
        (
            ON_CPU.replace("arange", "scalar_tensor")
            .replace("%eight, %none,", "%eight,")
            .replace("!torch.int, !torch.none,", "!torch.int,")
            .replace("[8],si64", "[],f32"),
            "",
        ),
        (f'%1 = torch.operator "torch.aten.sin"(%0) : ({VALUE}) -> {VALUE}', ""),
        (f"func.call @other(%0) : ({VALUE}) -> ()", "@other runs on the host"),
        (f"func.call @region(%0) : ({VALUE}) -> ()", ""),
        (
            f'%1 = torch.operator "torch.dovetail.cond"(%0) {{dovetail.then = @a, dovetail.else = @b}} '
            f": ({VALUE}) -> {VALUE}",
            "the host decides what runs",
        ),
    ],
)
def test_what_no_graph_can_stand_for(steps: str, reason: str) -> None:
    """Catches a number or a branch of the first call that all replays would take."""
    module = parse_module(
        f"""
        func.func private @region({VALUE})
        func.func private @other({VALUE})
        func.func @forward(%0: {VALUE}) {{
            {steps}
            return
        }}""",
        make_context(),
    )
    forward = module.body.operations[2]
    assert refusal(forward, ["region"]).partition(": ")[2] == reason


@pytest.mark.usefixtures("op_by_op")
def test_a_region_without_a_launch_is_named() -> None:
    """Catches a region that runs on the host, in a graph that knows nothing of it."""
    module = module_of(lambda x: torch.softmax(x.sin() + 1, 0), torch.randn(4096))
    found = Module(module)
    [region] = found.regions
    assert refusal(found.forward, ()).endswith(f"@{region} runs on the host")


@pytest.mark.usefixtures("op_by_op")
def test_option_counts_what_is_not_replayed() -> None:
    """Catches a mode that does nothing on a CPU, and says nothing."""
    dovetail.stats(reset=True)
    torch.compile(torch.sin, backend="dovetail", mode="reduce-overhead")(torch.randn(8))
    assert list(dovetail.stats().without_effect) == ["reduce_overhead: no calls are recorded on cpu"]
