"""Contexts are made by one function, in any thread."""

from new_process import run_python

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
