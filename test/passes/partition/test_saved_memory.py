"""What becomes of a value that is saved: the rows of the table at `SavedMemory.fate`."""

import pytest

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.saved_memory import Fate, SavedMemory

_TEXT = """
!v = !torch.vtensor<[8],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @joint(%written: !r, %watched: !r {{dovetail.watched = array<i64: 0>}}, %static: !r {{dovetail.static}},
                 %reread: !r {{dovetail.reread = array<i64: 0>}}, %changeable: !r) -> !r
                 attributes {{dovetail.role = "joint"}} {{
  %0 = "dovetail.read"(%{name}) : (!r) -> !v
  %1 = torch.aten.relu %0 : !v -> !v
  %2 = "dovetail.own"(%1) {{requires_grad = true}} : (!v) -> !r
  "dovetail.write"(%1, %written) {{mode = "no_grad"}} : (!v, !r) -> ()
  return %2 : !r
}}
"""


@pytest.mark.parametrize(
    ("name", "fate"),
    [
        ("written", Fate.COPY),
        ("watched", Fate.CHECKED),
        ("static", Fate.CHECKED),
        ("reread", Fate.CHECKED),
        ("changeable", Fate.COPY),
    ],
)
def test_fate_of_what_an_argument_holds(name: str, fate: Fate):
    """Catches a gradient from memory that was overwritten, or a check that raises where eager's backward does not."""
    module = parse_module(_TEXT.format(name=name), make_context())
    graph = JointGraph(Module(module).joint)
    (read,) = graph.nodes[0].results
    assert SavedMemory(graph).fate(read) is fate


def test_what_nobody_else_knows_is_private():
    """Catches a copy, or a check in each backward, of memory that only the program has."""
    text = _TEXT.format(name="watched").replace('own"(%1)', 'own"(%0)')
    module = parse_module(text, make_context())
    graph = JointGraph(Module(module).joint)
    (computed,) = graph.nodes[1].results
    assert SavedMemory(graph).fate(computed) is Fate.PRIVATE
    assert Fate.PRIVATE.kind == Fate.COPY.kind == "private"
