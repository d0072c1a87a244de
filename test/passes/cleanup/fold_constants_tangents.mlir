// Catches zeros that lose whose they are: of two tangents one may be absent, and the zeros that eager makes of the other
// stay. Where there is one tangent alone, nothing is left out.
// RUN: dovetail-opt %s --split-input-file --fold-constants | FileCheck %s

!v = !torch.vtensor<[2],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint
  func.func @joint(%x: !r {dovetail.requires_grad}) -> (!r, !r) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %v = "dovetail.read"(%x) : (!r) -> !v
    %root = torch.aten.sqrt %v : !v -> !v
    %floor = torch.aten.floor %root : !v -> !v
    // COM: What no tangent reaches needs no tensor.
    // CHECK: torch.aten.full %
    %like = torch.aten.full_like %v, %1, %none, %none, %none, %false, %none : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %sum = torch.aten.add.Tensor %root, %like, %1 : !v, !v, !torch.int -> !v
    %o = "dovetail.own"(%sum) {requires_grad = true} : (!v) -> !r
    %p = "dovetail.own"(%floor) {requires_grad = true} : (!v) -> !r
    %to = "dovetail.tangent"(%o) : (!r) -> !r
    %tp = "dovetail.tangent"(%p) : (!r) -> !r
    // CHECK: %[[D:.*]] = "dovetail.read"(%{{.*}})
    // CHECK: torch.aten.full_like %[[D]]
    %dp = "dovetail.read"(%tp) : (!r) -> !v
    %zeros = torch.aten.full_like %dp, %0, %none, %none, %none, %false, %none : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %do = "dovetail.read"(%to) : (!r) -> !v
    %d = torch.aten.add.Tensor %do, %zeros, %1 : !v, !v, !torch.int -> !v
    %dx = torch.aten.div.Tensor %d, %root : !v, !v -> !v
    "dovetail.gradient"(%dx, %x) : (!v, !r) -> ()
    return %o, %p : !r, !r
  }
}

// -----

!v = !torch.vtensor<[2],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint
  // CHECK-NOT: full_like
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %v = "dovetail.read"(%x) : (!r) -> !v
    %floor = torch.aten.floor %v : !v -> !v
    %o = "dovetail.own"(%floor) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %d = "dovetail.read"(%t) : (!r) -> !v
    %zeros = torch.aten.full_like %d, %0, %none, %none, %none, %false, %none : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    "dovetail.gradient"(%zeros, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
