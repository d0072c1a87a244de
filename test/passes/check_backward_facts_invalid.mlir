// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches a version check that is numbered by a result that there is none of.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'dovetail.own' op expects 'dovetail.watched' to number some of 1 owned results, got array<i64: 1>}}
    %o = "dovetail.own"(%0) {requires_grad = false, dovetail.watched = array<i64: 1>} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects 'dovetail.watched' to number some of 1 owned results, got "0"}}
  func.func @joint(%x: !r {dovetail.watched = "0"}) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
