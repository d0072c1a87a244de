"""One key tells ops apart, wherever equal ones are merged."""

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, body
from dovetail.passes.cleanup.merge_equal_values import MergeEqualValuesPass
from dovetail.passes.rewriting.equal_ops import merge_constants

CHECKPOINTED = """
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>)
      attributes {dovetail.role = "joint"} {
    %a = torch.constant.int 2
    %b = torch.constant.int 2
    %0 = torch.prim.ListConstruct %a, %a : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.prim.ListConstruct %b, %a {dovetail.recompute = "must_save"}
      : (!torch.int, !torch.int) -> !torch.list<int>
    %2 = torch.aten.view %x, %0 : !torch.vtensor<[4],f32>, !torch.list<int> -> !torch.vtensor<[2,2],f32>
    %3 = torch.aten.view %x, %1 : !torch.vtensor<[4],f32>, !torch.list<int> -> !torch.vtensor<[2,2],f32>
    return %2, %3 : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>
  }
}
"""


def test_lists_that_checkpointing_tells_apart_are_equal():
    """Would catch two ways to tell ops apart: what one pass builds and merges, another would find anew."""
    for merge in (lambda module: merge_constants(body(Module(module).joint)), MergeEqualValuesPass().run):
        module = parse_module(CHECKPOINTED, make_context())
        merge(module)
        lists = [op for op in body(Module(module).joint) if op.name == "torch.prim.ListConstruct"]
        assert [str(op.attributes["dovetail.recompute"]) for op in lists] == ['"must_save"']
