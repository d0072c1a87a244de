"""A region from its text to a launch on a GPU: compiled by IREE, its plan through the IR, results as ATen's."""

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.cuda.read_plan import load_cuda_plan

pytestmark = pytest.mark.cuda

SIZE = 384
IN, INTO = f"!torch.vtensor<[{SIZE},{SIZE}],f32>", f"!torch.tensor<[{SIZE},{SIZE}],f32>"
ROW, ROW_INTO = f"!torch.vtensor<[{SIZE}],f32>", f"!torch.tensor<[{SIZE}],f32>"
SHIFT = [index % 7 / 2 for index in range(SIZE)]
TEXT = f"""module {{
  func.func @main(%x: {IN}, %c: {ROW}, %soft: {INTO}, %total: {ROW_INTO}, %copied: {ROW_INTO}, %filled: {ROW_INTO},
                  %shifted: {ROW_INTO}) {{
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._softmax %x, %int1, %false : {IN}, !torch.int, !torch.bool -> {IN}
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : {IN}, !torch.list<int>, !torch.bool, !torch.none -> {ROW}
    %2 = torch.vtensor.literal(dense<1.5> : tensor<{SIZE}xf32>) : {ROW}
    %3 = torch.vtensor.literal(dense<{SHIFT}> : tensor<{SIZE}xf32>) : {ROW}
    %4 = torch.aten.add.Tensor %c, %3, %int1 : {ROW}, {ROW}, !torch.int -> {ROW}
    torch.overwrite.tensor.contents %0 overwrites %soft : {IN}, {INTO}
    torch.overwrite.tensor.contents %1 overwrites %total : {ROW}, {ROW_INTO}
    torch.overwrite.tensor.contents %c overwrites %copied : {ROW}, {ROW_INTO}
    torch.overwrite.tensor.contents %2 overwrites %filled : {ROW}, {ROW_INTO}
    torch.overwrite.tensor.contents %4 overwrites %shifted : {ROW}, {ROW_INTO}
    return
  }}
}}
"""
"""Several launches, transients, copies, a fill and constants."""


def test_a_region() -> None:
    """Catches a plan whose text says something else than what was compiled, and kernels that compute something else."""
    major, minor = torch.cuda.get_device_capability()
    target = target_for_device(f"cuda:sm_{major}{minor}")
    outcome = compile_regions({"main": TEXT}, target, timeout=120, plans=True)["main"]
    assert isinstance(outcome, LaunchPlan), outcome
    module = parse_module(TEXT, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (outcome.steps, digest(outcome.code))})
    printed = parse_module(str(module), make_context())
    [plan] = plans(printed).values()
    run = load_cuda_plan(plan, outcome.code)
    for seed in range(3):
        torch.manual_seed(seed)
        x, c = torch.randn(SIZE, SIZE, device="cuda"), torch.randn(SIZE, device="cuda")
        soft, *rows = torch.full_like(x, 7), *(torch.full_like(c, 7) for _ in range(4))
        run(x, c, soft, *rows)
        expected = torch.softmax(x.double(), 1)
        torch.testing.assert_close(soft.double(), expected, rtol=1e-5, atol=1e-8)
        torch.testing.assert_close(rows[0].double(), expected.sum(0), rtol=1e-5, atol=1e-6)
        assert torch.equal(rows[1], c)
        assert torch.equal(rows[2], torch.full_like(c, 1.5))
        assert torch.equal(rows[3], c + torch.tensor(SHIFT, device="cuda"))


@pytest.mark.parametrize("shape", [(4,), (1_000_003,), (1024, 1024)])
def test_results_of_new_values(shape: tuple[int, ...]) -> None:
    """Catches a kernel that reads an argument after it has overwritten it, for a result of the new value."""

    def step(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x.mul_(0.5).add_(y)
        return x + 1, x.tanh() * y

    given = [torch.randn(shape, device="cuda") for _ in range(2)]
    expected, arguments = ([each.clone() for each in given] for _ in range(2))
    results = torch.compile(step, backend="dovetail", fullgraph=True, dynamic=False)(*arguments)
    torch.testing.assert_close([*results, *arguments], [*step(*expected), *expected])
