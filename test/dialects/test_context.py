"""Contexts are made by one function, in any thread."""

from new_process import run_python
from torch_mlir.passmanager import PassManager

from dovetail.dialects.context import make_context, parse_module

IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from dovetail.dialects.context import make_context, parse_module

TEXT = '''func.func @f(%x: !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) {
  %0 = "dovetail.read"(%x) : (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> !torch.vtensor<[4],f32>
  return
}'''
with ThreadPoolExecutor(4) as pool:
    print(len(set(pool.map(lambda _: str(parse_module(TEXT, make_context())), range(100)))))
"""


def test_threads_make_contexts_at_the_same_time():
    """Two threads that load the dialect at once crash the process: regions are merged in a pool of them."""
    ran = run_python(IN_THREADS)
    assert (ran.returncode, ran.stdout) == (0, "1\n"), ran.stderr


def test_text_of_a_dialect_that_is_not_built_here():
    """Catches a context that refuses ops, types or passes of dialects which it has not loaded."""
    text = """func.func private @f(%c: i1, %x: vector<4xf32>, %m: memref<4xf32>) -> f32 {
      %i = arith.constant 0 : index
      %0 = scf.if %c -> f32 {
        %1 = memref.load %m[%i] : memref<4xf32>
        scf.yield %1 : f32
      } else {
        %2 = vector.reduction <add>, %x : vector<4xf32> into f32
        scf.yield %2 : f32
      }
      return %0 : f32
    }"""
    module = parse_module(text, make_context())
    with module.context:
        PassManager.parse("builtin.module(convert-scf-to-cf)").run(module.operation)
    assert "cf.cond_br" in str(module)
