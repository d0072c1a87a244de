// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='verify-level{level=joint}'
//
// Catches an op that follows a layout which nothing tells, or a `@layouts` that tells of no tangent or computes.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    // expected-error @+1 {{'torch.operator' op expects 'dovetail.strides' to number some of 0 layouts, got [0]}}
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @+1 {{'func.func' op expects argument 0 to be of a tangent's type where it has 'dovetail.tangent_of', got '!dovetail.ref<!torch.vtensor<[3,4],f32>, strided<[4, 1]>>' for 1 : i64}}
  func.func private @layouts(%t: !r {dovetail.tangent_of = 1 : i64}) -> !v attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @layouts(%t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    // expected-error @+1 {{'torch.aten.sin' op has no place in '@layouts', expected a 'torch.operator' that calls one op}}
    %1 = torch.aten.sin %0 : !v -> !v
    return %1 : !v
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @+1 {{'func.func' op expects argument 0 to be a ref or a symbol, got '!torch.vtensor<[3,4],f32>'}}
  func.func private @layouts(%t: !v {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "layouts"} {
    return %t : !v
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @+1 {{'func.func' op expects to return values, got '!dovetail.ref<!torch.vtensor<[3,4],f32>, strided<[4, 1]>>'}}
  func.func private @layouts(%t: !r {dovetail.tangent_of = 0 : i64}) -> !r attributes {dovetail.role = "layouts"} {
    return %t : !r
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @layouts(%t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "layouts"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @branch(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    // expected-error @+1 {{'torch.operator' op in '@branch' expects 'dovetail.strides' without numbers, which are for the backward}}
    %0 = torch.operator "torch.mine.look"(%x) {dovetail.strides = [0]} : (!v) -> !v
    return %0 : !v
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %1 = "dovetail.read"(%t) : (!r) -> !v
    %2 = torch.operator "torch.mine.look"(%1) {dovetail.strides = [0]} : (!v) -> !v
    "dovetail.gradient"(%2, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
