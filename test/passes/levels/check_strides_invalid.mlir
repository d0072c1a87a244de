// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='verify-level{level=joint}'
//
// Catches an op that may see how its operands lie in memory and does not say how eager gives them: it would get what a
// kernel or a pass left.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @+1 {{'torch.operator' op may see how its operands lie in memory, expected 'dovetail.strides'}}
    %1 = torch.operator "torch.mine.look"(%0) : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @+1 {{'torch.operator' op expects 'dovetail.strides' to have an entry for each of 1 operands, got [array<i64: 4, 1>, unit]}}
    %1 = torch.operator "torch.mine.look"(%0) {dovetail.strides = [array<i64: 4, 1>, unit]} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @+1 {{'torch.operator' op expects 'dovetail.strides' to state the strides of operand 0, '!torch.vtensor<[3,4],f32>', got array<i64: 4>}}
    %1 = torch.operator "torch.mine.look"(%0) {dovetail.strides = [array<i64: 4>]} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %two = torch.constant.int 2
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %list = torch.prim.ListConstruct %0, %0 : (!v, !v) -> !torch.list<vtensor>
    // expected-error @+1 {{'torch.operator' op expects 'dovetail.strides' to state the strides of operand 0, '!torch.list<vtensor>', got [array<i64: 4, 1>]}}
    %1 = torch.operator "torch.mine.look"(%list, %two) {dovetail.strides = [[array<i64: 4, 1>], unit]} : (!torch.list<vtensor>, !torch.int) -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
