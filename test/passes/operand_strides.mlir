// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,merge-equal-values,compose-views' | FileCheck %s
// RUN: dovetail-opt %s --compile | FileCheck %s --check-prefix=FINAL
// RUN: dovetail-opt %s --compile --run-check -o %t
//
// Catches a pass that loses, or moves to another op, what an op states of its operands' strides: the copies that laid them
// out so are gone. `view_as_complex` raises unless the last dimension is contiguous, so `--run-check` sees it.

!p = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2],complex<f32>>
!rp = !dovetail.ref<!p, strided<[2, 1]>>
!rc = !dovetail.ref<!c, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK-NOT: torch.aten.clone
  // CHECK: %[[T:.*]] = torch.aten.permute %[[X]]
  // CHECK-NOT: torch.aten.clone
  // CHECK: torch.operator "torch.aten.view_as_complex"(%[[T]]) {dovetail.strides = [array<i64: 2, 1>]}
  // CHECK: torch.operator "torch.aten.view_as_complex"(%[[T]]) {dovetail.strides = [array<i64: 4, 1>]}
  // FINAL-LABEL: func.func @forward(
  // FINAL: torch.operator "torch.aten.view_as_complex"({{.*}}dovetail.strides = [array<i64: 2, 1>]
  // FINAL: torch.operator "torch.aten.view_as_complex"({{.*}}dovetail.strides = [array<i64: 4, 1>]
  func.func @joint(%x: !rp) -> (!rc, !rc) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rp) -> !p
    %1 = torch.aten.permute %0, %order : !p, !torch.list<int> -> !p
    %2 = torch.aten.clone %1, %none : !p, !torch.none -> !p
    %3 = torch.operator "torch.aten.view_as_complex"(%2) {dovetail.strides = [array<i64: 2, 1>]} : (!p) -> !c
    %4 = torch.operator "torch.aten.view_as_complex"(%1) {dovetail.strides = [array<i64: 4, 1>]} : (!p) -> !c
    %o = "dovetail.own"(%3) {requires_grad = false} : (!c) -> !rc
    %p = "dovetail.own"(%4) {requires_grad = false} : (!c) -> !rc
    return %o, %p : !rc, !rc
  }
}
