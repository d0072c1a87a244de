// RUN: dovetail-opt %s --prove-in-place -o %t
//
// Catches a program of library calls alone, of which no region says what device it is for: an IndexError.

!v = !torch.vtensor<[2,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>

module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
