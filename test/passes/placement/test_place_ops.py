"""Pass `place-ops` on an op of very many operands, too long to write out."""

import pytest
from torch_mlir import ir

from dovetail.dialects.attributes import PLACEMENT
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, body
from dovetail.passes.costs.cost_model import MOST_BINDINGS
from dovetail.passes.placement.place_ops import PlaceOpsPass


@pytest.mark.parametrize(("count", "placement"), [(MOST_BINDINGS - 1, "region"), (MOST_BINDINGS, "library")])
def test_concatenation_of_many_tensors(count: int, placement: str):
    """Would catch a region that compiles and then can't be loaded: a dispatch binds at most 32 tensors."""
    operands, types = ", ".join(["%x"] * count), ", ".join(["!torch.vtensor<[1],f32>"] * count)
    module = parse_module(
        f"""module attributes {{dovetail.level = "split"}} {{
        func.func @forward(%x: !torch.vtensor<[1],f32>) attributes {{dovetail.role = "forward"}} {{
          %zero = torch.constant.int 0
          %list = torch.prim.ListConstruct {operands} : ({types}) -> !torch.list<vtensor>
          %0 = torch.aten.cat %list, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[{count}],f32>
          return
        }} }}""",
        make_context(),
    )
    with module.context, ir.Location.unknown():
        PlaceOpsPass().run(module)
    cat = body(Module(module).forward)[2]
    assert ir.StringAttr(cat.attributes[PLACEMENT]).value == placement
