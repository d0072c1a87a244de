"""Pass `limit-regions` on regions of very many results, too long to write out."""

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, body
from dovetail.passes.costs.cost_model import COSTS, MOST_BINDINGS
from dovetail.passes.regions.limit_regions import LimitRegionsPass

COUNT = COSTS["cpu"].results + 2


def _limited(ops: list[str], shape: str = "[4]") -> ir.Module:
    """A module whose region computes `%r0`, `%r1`, ... by `ops` from `%x`, after the pass."""
    outputs = ", ".join(f"%o{index}: !m" for index in range(COUNT))
    stores = [f"torch.overwrite.tensor.contents %r{index} overwrites %o{index} : !v, !m" for index in range(COUNT)]
    allocs = [f'%a{index} = "dovetail.alloc"() : () -> !m' for index in range(COUNT)]
    given, types = ", ".join(f"%a{index}" for index in range(COUNT)), ", ".join(["!m"] * COUNT)
    text = f"""
    !v = !torch.vtensor<{shape},f32>
    !m = !torch.tensor<{shape},f32>
    module attributes {{dovetail.level = "regions"}} {{
      func.func @forward(%x: !v) attributes {{dovetail.role = "forward"}} {{
        {" ".join(allocs)}
        call @forward_region_0(%x, {given}) : (!v, {types}) -> ()
        return
      }}
      func.func private @forward_region_0(%x: !v, {outputs}) attributes {{dovetail.role = "region"}} {{
        %one = torch.constant.int 1
        {" ".join(ops)} {" ".join(stores)}
        return
      }}
    }}"""
    module = parse_module(text, make_context())
    with module.context, ir.Location.unknown():
        LimitRegionsPass().run(module)
        module.operation.verify()
    return module


def test_many_independent_results_are_halved():
    """Would catch a region of an optimizer's hundreds of parameters that takes minutes to compile."""
    first = [f"%t{index} = torch.aten.exp %x : !v -> !v" for index in range(COUNT)]
    module = _limited(first + [f"%r{index} = torch.aten.neg %t{index} : !v -> !v" for index in range(COUNT)])
    # By results, and not by the order of the ops: else all would cross from one region to the other.
    assert [len(body(region)) for region in Module(module).regions.values()] == [3 * COUNT // 2 + 1] * 2
    assert list(Module(module).calls()) == ["forward_region_0_0", "forward_region_0_1"]


def test_results_that_share_their_work_stay_together():
    """Would catch a sum of all gradients that is computed anew for each half of the parameters."""
    chain = ["%t0 = torch.aten.exp %x : !v -> !v"]
    chain += [f"%t{index} = torch.aten.neg %t{index - 1} : !v -> !v" for index in range(1, 3 * COUNT)]
    results = [f"%r{index} = torch.aten.exp %t{3 * COUNT - 1} : !v -> !v" for index in range(COUNT)]
    assert list(Module(_limited(chain + results)).regions) == ["forward_region_0"]


def test_single_numbers_get_regions_of_their_own():
    """Would catch a region that compiles and can't be loaded: IREE binds at most 32 to a dispatch."""
    module = _limited([f"%r{index} = torch.aten.exp %x : !v -> !v" for index in range(COUNT)], "[]")
    for region in Module(module).regions.values():
        assert len(region.type.inputs) <= MOST_BINDINGS
