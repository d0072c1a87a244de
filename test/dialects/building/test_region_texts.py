"""What the text of a region says that its module says otherwise."""

from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.context import make_context, parse_module

MODULE = """module {
  func.func private @region(%x: !torch.vtensor<[4],f32>, %m: !torch.tensor<[4],f32>)
      attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %none = torch.constant.none
    %gpu = torch.constant.device "cuda:1"
    %one = torch.aten.scalar_tensor %zero, %none, %none, %gpu, %none
      : !torch.int, !torch.none, !torch.none, !torch.Device, !torch.none -> !torch.vtensor<[],f32>
    %y = torch.aten.mul.Tensor %x, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[4],f32>
    torch.overwrite.tensor.contents %y overwrites %m : !torch.vtensor<[4],f32>, !torch.tensor<[4],f32>
    return
  }
}"""


def test_a_device_is_the_cpu():
    """Would catch a GPU in IREE's input, which takes none, and a region compiled again for each GPU that runs it."""
    module = parse_module(MODULE, make_context())
    assert 'torch.constant.device "cpu"' in region_texts(module)["region"]
    assert 'torch.constant.device "cuda:1"' in str(module)


def test_a_region_that_is_kept_apart_has_the_same_text():
    """Would catch a region compiled anew, and not shared with equal ones, because of where its results may lie."""
    said = MODULE.replace("attributes {", 'attributes {dovetail.kept_apart = "no plan", ')
    assert region_texts(parse_module(said, make_context())) == region_texts(parse_module(MODULE, make_context()))
