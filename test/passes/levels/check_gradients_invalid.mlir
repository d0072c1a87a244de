// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='verify-level{level=joint}'
//
// Catches strides of a gradient that no tensor of its sizes has: memory would be read past its end, or grow without bound.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    // expected-error @+1 {{'dovetail.gradient' op expects 'dovetail.gradient_strides' to be the strides of a dense tensor of '!torch.vtensor<[3,4],f32>', got array<i64: 1, 4>}}
    "dovetail.gradient"(%1, %x) {dovetail.gradient_strides = array<i64: 1, 4>} : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @+1 {{'func.func' op expects 'dovetail.gradient_strides' to be the strides of a dense tensor that '@backward' returns, got array<i64: 1, 3> of '!dovetail.ref<!torch.vtensor<[3,4],f32>, strided<[4, 1]>>'}}
  func.func @joint(%x: !r) -> (!r {dovetail.gradient_strides = array<i64: 1, 3>}) attributes {dovetail.role = "joint"} {
    return %x : !r
  }
}
