"""None in a tensor's place, which attention's kernels on a GPU take."""

import torch

from dovetail.dialects.context import make_context
from dovetail.frontend.capture import capture
from dovetail.frontend.to_ir.importer import import_capture


@torch.library.custom_op("dovetail_none::scaled", mutates_args=())
def scaled(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    return x * 2


scaled.register_fake(lambda x, by: torch.empty_like(x))


def test_none_in_place_of_a_tensor():
    """None is imported as a number in the tensor's place, which has no element type."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(torch.ops.dovetail_none.scaled.default, (x, None)),))
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    module = import_capture(capture(gm, [torch.ones(3)]), make_context())
    assert "torch.dovetail_none.scaled" in str(module)
