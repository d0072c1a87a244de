"""Loops that gather get their dimensions back where a form of ours tiles them, and stay as they are elsewhere."""

import re

import pytest
from iree.compiler import ir

from dovetail.backends.worker.configure import configure
from dovetail.backends.worker.math_functions import MARKED

KERNEL = """
#along = affine_map<(d0) -> (d0)>
#layout = #hal.pipeline.layout<bindings = [
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, Indirect>,
  #hal.pipeline.binding<storage_buffer, Indirect>], flags = Indirect>
#translation = #iree_codegen.translation_info<pipeline = PIPELINE workgroup_size = [64, 1, 1]>
#target = #hal.executable.target<"cuda", "cuda-nvptx-fb">
module {
  hal.executable private @e {
    hal.executable.variant public @v target(#target) {
      builtin.module {
        func.func @kernel() attributes {translation_info = #translation} {
          %zero = arith.constant 0 : index
          %row = arith.constant 64 : index
          %rows = arith.constant 30 : index
          %last = arith.constant 28 : index
          %0 = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) offset(%zero)
              : memref<30x64xf32, #hal.descriptor_type<storage_buffer>>
          %1 = hal.interface.binding.subspan layout(#layout) binding(1) alignment(64) offset(%zero)
              : memref<7680xf32, #hal.descriptor_type<storage_buffer>>
          %2 = hal.interface.binding.subspan layout(#layout) binding(2) alignment(64) offset(%zero)
              : memref<7680xf32, #hal.descriptor_type<storage_buffer>>
          %3 = iree_codegen.load_from_buffer %0
              : memref<30x64xf32, #hal.descriptor_type<storage_buffer>> -> tensor<30x64xf32>
          %4 = iree_codegen.load_from_buffer %1
              : memref<7680xf32, #hal.descriptor_type<storage_buffer>> -> tensor<7680xf32>
          %5 = tensor.empty() : tensor<7680xf32>
          %6 = linalg.generic {indexing_maps = [#along, #along], iterator_types = ["parallel"]}
              ins(%4 : tensor<7680xf32>) outs(%5 : tensor<7680xf32>) attrs = {CONFIG} {
          ^bb0(%in: f32, %out: f32):
            %7 = linalg.index 0 : index
            %8 = arith.remsi %7, %row : index
            %9 = arith.divsi %7, %row : index
            %10 = arith.remsi %9, %rows : index
            %11 = arith.divsi %9, %rows : index
            %12 = arith.addi %10, %11 : index
            %13 = arith.minui %12, %last : index
            %14 = tensor.extract %3[%13, %8] : tensor<30x64xf32>
            %15 = arith.addf %in, %14 : f32
            linalg.yield %15 : f32
          } -> tensor<7680xf32>
          iree_codegen.store_to_buffer %6, %2
              : tensor<7680xf32> into memref<7680xf32, #hal.descriptor_type<storage_buffer>>
          return
        }
      }
    }
  }
}
"""
TILED = "lowering_config = #iree_gpu.lowering_config<{thread = [4], workgroup = [256]}>"
OURS = "#iree_gpu.pipeline<TileAndFuse>"


def configured(pipeline: str = OURS, config: str = TILED, plain: dict[str, str] | None = None) -> tuple[str, str, str]:
    """The kernel before and after, and the form that it got."""
    text = KERNEL.replace("PIPELINE", pipeline).replace("CONFIG", config)
    with ir.Context():
        before = str(ir.Module.parse(text))
    found, after = configure(before.encode(), plain or {})
    return before, after.decode(), found["kernel"]


def test_a_gather_gets_its_dimensions_back():
    """Catches neighbours that are read one by one, as remainders of remainders tell of none."""
    _, after, form = configured()
    assert form == "pointwise"
    assert re.findall(r"linalg.index (\d)", after) == ["0", "1", "2"]
    assert not re.search("remsi|divsi", after)
    assert re.search(r"workgroup = \[\d+, \d+, \d+\]", after)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"pipeline": "#iree_gpu.pipeline<Distribute>"}, "IREE's tiles: another pipeline"),
        ({"config": ""}, "IREE tiles nothing there"),
        ({"config": TILED.replace("{t", "{promote_operands = [0], t")}, "IREE's tiles, through shared memory"),
        ({"plain": {"kernel": "as it was"}}, "IREE's tiles: as it was"),
    ],
)
def test_what_keeps_tiles_of_iree_keeps_its_loop(given: dict, reason: str):
    """Catches loops of three dimensions beside tiles of one, which IREE's pipelines refuse or compute wrongly."""
    before, after, form = configured(**given)
    assert form == reason
    assert after.replace(f"{MARKED}, ", "") == before
