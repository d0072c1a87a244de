// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %s --pass-pipeline='verify-level' | diff %t -
// RUN: not dovetail-opt %s --pass-pipeline='verify-level{level=final}' 2>&1 | FileCheck %s
//
// Catches a check that changes what it checks, or that refuses what a level may hold: here every op of level `joint`.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK: pass 'verify-level': option 'level' expects one of 'joint', 'split', 'program', 'regions', 'launches', got 'final'
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %w: !r {dovetail.requires_grad}) -> (!r, !r, !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [2, 1]} : (!r) -> ()
    "dovetail.write"(%1, %x) {mode = "tracked"} : (!v, !r) -> ()
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %p = "dovetail.view"(%o) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
    %q = "dovetail.detach"(%x) : (!r) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %2 = "dovetail.read"(%t) : (!r) -> !v
    "dovetail.gradient"(%2, %w) : (!v, !r) -> ()
    return %o, %p, %q : !r, !r, !r
  }
}
