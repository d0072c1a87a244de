// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches a version check or a gradient that is numbered by a result that there is none of, and a base of other size.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
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
  func.func @joint(%x: !r {dovetail.watched = "0"}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects 'dovetail.reread' to number some of 1 owned results, got array<i64: 1>}}
  func.func @joint(%x: !r {dovetail.reread = array<i64: 1>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects 'dovetail.reached' to number some of 1 owned results, got array<i64: 0, 1>}}
  func.func @joint(%x: !r {dovetail.reached = array<i64: 0, 1>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'dovetail.own' op expects 'dovetail.frees' to number groups of saved values, got 0}}
    %o = "dovetail.own"(%0) {requires_grad = true, dovetail.frees = 0 : i64} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'dovetail.own' op expects 'dovetail.base' to be sizes of as many elements, of what requires grad, got array<i64: 2, 3>}}
    %o = "dovetail.own"(%0) {requires_grad = true, dovetail.base = array<i64: 2, 3>} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[2,?],f32>
!r = !dovetail.ref<!v, strided<[?, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%n: !torch.int, %x: !r) -> (!r, !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0, %n) {requires_grad = true, dovetail.base = array<i64: -1, 2>} : (!v, !torch.int) -> !r
    // expected-error @below {{'dovetail.own' op expects 'dovetail.base' to be sizes of as many elements, of what requires grad, got array<i64: -1, -1>}}
    %p = "dovetail.own"(%0, %n) {requires_grad = true, dovetail.base = array<i64: -1, -1>} : (!v, !torch.int) -> !r
    return %o, %p : !r, !r
  }
}
