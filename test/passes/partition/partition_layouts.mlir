// RUN: dovetail-opt %s --pass-pipeline='verify-level,drop-redundant-copies,merge-equal-values,partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --compile | FileCheck %s --check-prefix=FINAL
// RUN: dovetail-opt %s --compile --run-check -o %t
//
// Catches a backward that is given a gradient in the traced layout where an op in it can tell, or an op that no longer says
// which layout it follows; and a pass that takes the ops of `@layouts`, copies among them, for computations.
// `view_as_complex` raises unless the last dimension is contiguous, so `--run-check` sees it.

!p = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2],complex<f32>>
!rp = !dovetail.ref<!p, strided<[2, 1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: {dovetail.followed, dovetail.tangent_of = 0 : i64}
  // CHECK: torch.operator "torch.aten.view_as_complex"(%{{.*}}) {dovetail.strides = [0]}
  // CHECK-LABEL: func.func private @layouts(
  // CHECK: %[[T:.*]] = torch.operator "torch.aten.t"
  // CHECK: %[[C:.*]] = torch.operator "torch.aten.clone"(%[[T]]
  // CHECK: return %[[C]]
  // FINAL-LABEL: func.func @backward(
  // FINAL-SAME: dovetail.followed
  // FINAL: torch.operator "torch.aten.view_as_complex"({{.*}}dovetail.strides = [0]
  // FINAL: torch.operator "torch.aten.clone"
  func.func @joint(%x: !rp) -> !rp attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rp) -> !p
    %1 = torch.aten.sin %0 : !p -> !p
    %o = "dovetail.own"(%1) {requires_grad = true} : (!p) -> !rp
    %t = "dovetail.tangent"(%o) : (!rp) -> !rp
    %2 = "dovetail.read"(%t) : (!rp) -> !p
    %3 = torch.aten.permute %2, %order : !p, !torch.list<int> -> !p
    %4 = torch.operator "torch.aten.view_as_complex"(%3) {dovetail.strides = [0]} : (!p) -> !c
    %5 = torch.aten.view_as_real %4 : !c -> !p
    "dovetail.gradient"(%5, %x) : (!p, !rp) -> ()
    return %o : !rp
  }
  func.func private @layouts(%t: !rp {dovetail.tangent_of = 0 : i64}) -> !p attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%t) : (!rp) -> !p
    %1 = torch.operator "torch.aten.t"(%0) : (!p) -> !p
    %format = torch.constant.int 0
    %2 = torch.operator "torch.aten.clone"(%1, %format) : (!p, !torch.int) -> !p
    return %2 : !p
  }
}
