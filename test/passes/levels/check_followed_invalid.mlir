// RUN: dovetail-opt %s --verify-diagnostics --pass-pipeline='verify-level{level=split}'
//
// Catches a backward that takes a gradient as traced where `@layouts` is told how it lies: the two would disagree.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "split"} {
  func.func private @layouts(%t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
  // expected-error @+1 {{'func.func' op expects 'dovetail.followed' of argument 0 exactly where '@layouts' takes that tangent, got it nowhere}}
  func.func @backward(%t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.mine.look"(%0) {dovetail.strides = [0]} : (!v) -> !v
    return %1 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.role = "border", dovetail.forward = @forward, dovetail.backward = @backward}
}
