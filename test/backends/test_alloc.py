"""Memory that the program allocates, as Python says it."""

import pytest

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.context import make_context, parse_module

TEXT = """
func.func @f() -> !torch.vtensor<[4],f32> {
  %%d = "dovetail.alloc"() {%s} : () -> !torch.tensor<[4],f32>
  %%0 = torch.copy.to_vtensor %%d : !torch.vtensor<[4],f32>
  return %%0 : !torch.vtensor<[4],f32>
}
"""


@pytest.mark.parametrize(
    ("attributes", "said"), [("", "allocate((4,), (1,), float32)"), ('device = "meta:0"', "device=device)")]
)
def test_memory_is_made_where_the_ir_says(attributes: str, said: str):
    """Catches memory that is made on torch's default device though the IR names another."""
    module = parse_module(TEXT % attributes, make_context())
    source = Emitter(module.body.operations[0], {}).emit()
    assert said in source.text
    (made,) = source.load()([])
    assert made.device.type == ("meta" if attributes else "cpu")
