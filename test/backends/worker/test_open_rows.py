"""Rows that go one by one: the tiles that are asked for, and of which kernels."""

from dovetail.backends.worker.blocks import cut_into_blocks

KERNEL = """
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
#v = affine_map<(i) -> (i)>
module {
  func.func @kernel(%x: !x, %rows: tensor<?xf32>, %into: !i) -> (tensor<?xf32>, !i) {
    %zero = arith.constant 0.0 : f32
    %0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
    %1 = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
        ins(%x : !x) outs(%0 : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %2 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
        ins(%1 : tensor<?xf32>) outs(%rows : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %3 = OTHER -> !i
    return %2, %3 : tensor<?xf32>, !i
  }
}
"""
BY_ROWS = """linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
        ins(%x, %2 : !x, tensor<?xf32>) outs(%into : !i) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.mulf %a, %b : f32
      linalg.yield %s : f32
    }"""
COLUMNS = """linalg.generic {indexing_maps = [#m, #c], iterator_types = ["reduction", "parallel"]}
        ins(%x : !x) outs(%into : !i) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }"""
NEGATED = """linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]}
        ins(%2 : tensor<?xf32>) outs(%into : !i) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
    }"""


def edited(other: str, into: str, of: str = "tensor<?x?xf32>") -> str:
    text = KERNEL.replace("OTHER", other).replace("!x", of).replace("!i", into)
    return cut_into_blocks(text.encode()).decode()


def test_rows_of_open_length_go_one_by_one():
    """Catches a kernel of which some loops are tiled as IREE likes, so that it computes rows anew for each vector."""
    text = edited(BY_ROWS, "tensor<?x?xf32>")
    sums = "distribution = [32, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 64]"
    assert f"#iree_cpu.lowering_config<{sums}>" in text
    assert "#iree_cpu.lowering_config<vector_common_parallel = [1]>" in text
    assert "#iree_cpu.lowering_config<vector_common_parallel = [1, 0], vector_inner_parallel = [0, 64]>" in text
    assert text.count("{lowering_config = #config") == 3
    assert text.count("compilation_info = #compilation") == 1


def test_other_kernels_keep_their_tiles():
    """Catches such tiles of sums alone, of rows of known length, and where columns are added up, too."""
    assert "lowering_config" not in edited(NEGATED, "tensor<?xf32>")
    assert "lowering_config" not in edited(COLUMNS, "tensor<?xf32>")
    assert "lowering_config" not in edited(BY_ROWS, "tensor<?x48xf32>", "tensor<?x48xf32>")


def test_rows_of_known_length_go_one_by_one():
    """Catches rows a page apart that are taken eight at once; and short and very long ones, which had better be."""

    def is_tiled(length: int) -> bool:
        text = KERNEL.replace("OTHER", BY_ROWS).replace("!x", "tensor<?x?xf32>").replace("!i", "tensor<?x?xf32>")
        text = text.replace("tensor<?xf32>", "tensor<512xf32>").replace("tensor<?x?xf32>", f"tensor<512x{length}xf32>")
        sums = "distribution = [32, 0], vector_common_parallel = [1, 0], vector_reduction = [0, 64]"
        return sums in cut_into_blocks(text.encode()).decode()

    assert [is_tiled(length) for length in (64, 128, 1000, 2048, 4096)] == [False, True, True, True, False]
