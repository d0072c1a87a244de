"""Reductions in IREE's text whose terms are one constant: which texts are read, and which are refused."""

import pytest

from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.constant_terms import may_have_constant_terms

ROWS, ROW = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0)>"


def text(combined: str, made: str) -> str:
    """A kernel that reduces rows of `made` by `combined`, an op of `%in`, `%out` and a constant `%cst`."""
    return f"""
flow.executable private @executable {{
  flow.executable.export public @kernel workgroups() -> (index, index, index) {{
    %c1 = arith.constant 1 : index
    flow.return %c1, %c1, %c1 : index, index, index
  }}
  builtin.module {{
    func.func @kernel(%x: tensor<4x8xf32>) -> tensor<4xf32> {{
      %cst = arith.constant 2.0 : f32
      %rows = tensor.empty() : tensor<4x8xf32>
      %row = tensor.empty() : tensor<4xf32>
      %terms = {made}
      %start = linalg.fill ins(%cst : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
      %sum = linalg.generic {{indexing_maps = [{ROWS}, {ROW}], iterator_types = ["parallel", "reduction"]}}
          ins(%terms : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {{
      ^bb0(%in: f32, %out: f32):
        %0 = {combined} : f32
        linalg.yield %0 : f32
      }} -> tensor<4xf32>
      return %sum : tensor<4xf32>
    }}
  }}
}}
"""


FILLED = "linalg.fill ins(%cst : f32) outs(%rows : tensor<4x8xf32>) -> tensor<4x8xf32>"
OF_NONE = f"""linalg.generic {{indexing_maps = [{ROWS}, {ROWS}], iterator_types = ["parallel", "parallel"]}}
          ins(%x : tensor<4x8xf32>) outs(%rows : tensor<4x8xf32>) {{
      ^bb0(%in: f32, %out: f32):
        linalg.yield %cst : f32
      }} -> tensor<4x8xf32>"""
COPIED = OF_NONE.replace("yield %cst", "yield %in")
INDICES = f"""linalg.generic {{indexing_maps = [{ROWS}], iterator_types = ["parallel", "parallel"]}}
          outs(%rows : tensor<4x8xf32>) {{
      ^bb0(%out: f32):
        %i = linalg.index 1 : index
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        linalg.yield %f : f32
      }} -> tensor<4x8xf32>"""


@pytest.mark.parametrize(
    "kernel",
    [
        text("arith.addf %out, %cst", made=COPIED),
        text("arith.mulf %out, %cst", made=COPIED),
        text("arith.addf %in, %out", made=FILLED),
        text("arith.addf %in, %out", made=OF_NONE),
    ],
    ids=["a constant", "a factor", "filled", "computed of none"],
)
def test_one_constant_is_refused(kernel: str):
    """Would catch a kernel that adds up a constant once a vector: it computes another number, silently."""
    assert may_have_constant_terms(kernel)
    with pytest.raises(OSError, match="a reduction would lose terms"):
        iree_worker.worker.ask({"task": "check terms"}, kernel.encode(), 60)


@pytest.mark.parametrize(
    "kernel",
    [
        text("arith.addf %in, %out", made=COPIED),
        text("arith.addf %in, %out", made=INDICES),
        text("arith.maximumf %out, %cst", made=COPIED),
    ],
    ids=["copied", "indices", "an extremum"],
)
def test_other_terms_are_taken(kernel: str):
    """Would catch a check that refuses sums which IREE gets right, so that they run in parts or through ATen."""
    facts, same = iree_worker.worker.ask({"task": "check terms"}, kernel.encode(), 60)
    assert facts == {}
    assert same.decode() == kernel


def test_few_texts_are_read():
    """Would catch a search that has the text of each reduction read as a module, which takes as long as a pass."""
    assert not may_have_constant_terms(text("arith.addf %in, %out", made=COPIED))
    assert not may_have_constant_terms(OF_NONE)
