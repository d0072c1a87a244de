# RUN: %python %s | FileCheck %s
"""Catches approximate powers where what is computed of them is not rounded, and softmaxes of half precision without."""

from dovetail.backends.elementary.widened import with_wide_functions

TEXT = """
!v = !torch.vtensor<[2,3],f32>
!r = !torch.vtensor<[2,1],f32>
!h = !torch.vtensor<[2,3],HALF>
func.func @main(%v: !v, %g: !v) -> (RESULTS) {
  %one = torch.constant.int 1
  %factor = torch.constant.int FACTOR
  %half = torch.constant.int NUMBER
  %along = torch.constant.int ALONG
  %true = torch.constant.bool true
  %none = torch.constant.none
  %last = torch.prim.ListConstruct %along : (!torch.int) -> !torch.list<int>
  %largest = torch.aten.amax %v, %last, %true : !v, !torch.list<int>, !torch.bool -> !r
  %less = torch.aten.sub.Tensor %v, %largest, %factor : !v, !r, !torch.int -> !v
  %e = torch.aten.exp %less : !v -> !v
  %sum = torch.aten.sum.dim_IntList %e, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !r
  END
}
"""
SOFTMAX = """%w = torch.aten.div.Tensor %e, %sum : !v, !r -> !v
  %y = torch.prims.convert_element_type %w, %half : !v, !torch.int -> !h
  return %y : !h"""
LOG = """%log = torch.aten.log %sum : !r -> !r
  %w = torch.aten.sub.Tensor %less, %log, %one : !v, !r, !torch.int -> !v
  %y = torch.prims.convert_element_type %w, %half : !v, !torch.int -> !h
  return %y : !h"""


def show(name: str, end: str, dtype: str = "bf16", along: int = -1, factor: int = 1) -> None:
    """Prints what becomes of a softmax that ends in `end`."""
    text = TEXT.replace("END", end).replace("NUMBER", {"bf16": "15", "f16": "5"}[dtype]).replace("HALF", dtype)
    results = ", ".join(end.rpartition(":")[2].split(","))
    text = text.replace("RESULTS", results).replace("ALONG", str(along)).replace("FACTOR", str(factor))
    print("##", name, with_wide_functions(text))


# Powers are larger by 2^8, their sums start from -0, and products have the place of quotients.
# CHECK-LABEL: ## quotient
# CHECK:         %[[LOG2_E:.*]] = arith.constant 1.442695
# CHECK:         %[[SHIFT:.*]] = arith.constant 8.0
# CHECK:         %[[FMA:.*]] = math.fma %{{.*}}, %[[LOG2_E]], %[[SHIFT]] : f32
# CHECK:         math.exp2 %[[FMA]] fastmath<afn> : f32
# CHECK:         %[[POWERS:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         %[[START:.*]] = arith.constant -0.0
# CHECK:         linalg.fill ins(%[[START]] : f32)
# CHECK:         arith.addf
# CHECK:         %[[SUM:.*]] = "torch_c.from_builtin_tensor"
# CHECK-NOT:     torch.aten.div.Tensor
# CHECK:         %[[FACTOR:.*]] = torch.aten.reciprocal %[[SUM]]
# CHECK:         torch.aten.mul.Tensor %[[POWERS]], %[[FACTOR]]
show("quotient", SOFTMAX)

# CHECK-LABEL: ## logarithm
# CHECK:         arith.constant 0.0
# CHECK:         math.exp2 %{{.*}} fastmath<afn> : f32
# CHECK:         torch.aten.log
show("logarithm", LOG, "f16", along=1)

# CHECK-LABEL: ## kept in float32
# CHECK-NOT:     math.exp2
show("kept in float32", SOFTMAX.replace("return %y : !h", "return %y, %w : !h, !v"))
# CHECK-LABEL: ## powers kept
# CHECK-NOT:     math.exp2
show("powers kept", SOFTMAX.replace("return %y : !h", "return %y, %e : !h, !v"))
# CHECK-LABEL: ## sums kept
# CHECK-NOT:     math.exp2
show("sums kept", LOG.replace("return %y : !h", "return %y, %sum : !h, !r"))
# CHECK-LABEL: ## less twice the largest
# CHECK-NOT:     math.exp2
show("less twice the largest", SOFTMAX, factor=2)
# CHECK-LABEL: ## of another
# CHECK-NOT:     math.exp2
show("of another", LOG.replace("%less, %log", "%g, %log"))
# CHECK-LABEL: ## divided otherwise
# CHECK-NOT:     math.exp2
show("divided otherwise", SOFTMAX.replace("%e, %sum", "%v, %sum"))
# CHECK-LABEL: ## none
print("## none")
