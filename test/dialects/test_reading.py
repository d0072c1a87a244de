"""The reader of modules: functions by role, whatever they are called."""

import pytest
from torch_mlir import ir

from dovetail.dialects.attributes import DONATED, SAVED
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import Module, Role, argument_fact, body, forward_of, result_fact, role
from dovetail.errors import ModuleError

TEXT = """
!v = !torch.vtensor<[4],f32>
module {
  func.func @a(%x: !v) attributes {dovetail.role = "call"} {
    %0:2 = call @b(%x) : (!v) -> (!v, !v)
    %1:2 = call @b(%0#0) : (!v) -> (!v, !v)
    return
  }
  func.func @b(%x: !v) -> (!v, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    return %x, %x : !v, !v
  }
  func.func @forward(%x: !v, %y: !v {dovetail.donated}) attributes {dovetail.role = "backward"} {
    return
  }
  func.func private @call() attributes {dovetail.role = "guard"}
  func.func private @region() attributes {dovetail.role = "something"}
  func.func private @subgraph()
}
"""


@pytest.fixture
def module() -> ir.Module:
    return ir.Module.parse(TEXT, make_context())


def test_roles_are_read_and_names_are_not(module: ir.Module):
    """Catches a reader that guesses from names: here each name belongs to another role."""
    found = Module(module)
    assert [list(found.of(each)) for each in Role] == [[], ["a"], ["b"], ["forward"], [], ["call"], [], [], [], []]
    assert list(found.of(Role.BACKWARD, Role.CALL)) == ["a", "forward"]
    assert role(found.functions["region"]) is role(found.functions["subgraph"]) is None
    assert Role.FORWARD in found
    assert Role.BORDER not in found


def test_missing_function_is_named(module: ir.Module):
    """Catches a KeyError where a module lacks what a pass needs."""
    with pytest.raises(ModuleError, match='"joint", the module has @a, @b, @f'):
        _ = Module(module).joint


def test_callers_and_callees(module: ir.Module):
    """Catches calls that are looked up by the name of the caller, or only the first of which is found."""
    found = Module(module)
    calls = found.calls()["b"]
    assert [found.callee(call) == found.forward for call in calls] == [True, True]
    assert body(found.functions["call"]) == []


def test_forward_of_a_backward(module: ir.Module):
    """Catches private saved values that are looked for in a function that merely has a certain name."""
    found = Module(module)
    assert forward_of(found.backward) == found.forward
    assert forward_of(found.forward) is None


def test_facts_of_arguments_and_results(module: ir.Module):
    """Catches an index that is off by one, or a failure where nothing at all is said."""
    found = Module(module)
    assert argument_fact(found.backward, 0, DONATED) is None
    assert argument_fact(found.backward, 1, DONATED) is not None
    assert result_fact(found.forward, 0, SAVED) is None
    assert str(result_fact(found.forward, 1, SAVED)) == '"private"'
    assert argument_fact(found.call, 0, DONATED) is None
