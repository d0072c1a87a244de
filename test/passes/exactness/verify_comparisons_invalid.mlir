// RUN: dovetail-opt %s --verify-comparisons --verify-diagnostics --split-input-file
//
// Catches a partition that saves a maximum and computes again what it is compared with, one that decides once more by
// other bits, a region that compares what it has stored with what it computes along the way, and one that computes
// again what another one has.

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !r) -> (!rc, !v {dovetail.saved = "private"}, !c {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.tanh %0 : !v -> !v
    %2 = torch.aten.amax %1, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    %o = "dovetail.own"(%2) {requires_grad = true} : (!c) -> !rc
    return %o, %0, %2 : !rc, !v, !c
  }
  func.func @backward(%x: !v, %max: !c, %t: !rc {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!rc) -> !c
    %1 = torch.aten.tanh %x : !v -> !v
    // expected-error @below {{'torch.aten.eq.Tensor' op meets two computations of 'torch.aten.tanh' at}}
    %2 = torch.aten.eq.Tensor %1, %max : !v, !c -> !b
    %3 = torch.aten.mul.Tensor %2, %0 : !b, !c -> !v
    return %3 : !v
  }
}

// -----

!v = !torch.vtensor<[2,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %2 = torch.aten.floor %1 : !v -> !v
    %3 = torch.aten.mul.Tensor %2, %0 : !v, !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%x: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.aten.exp %x : !v -> !v
    // expected-error @below {{'torch.aten.floor' op in '@backward' decides once more what '@forward' did, by 'torch.aten.exp' at}}
    %2 = torch.aten.floor %1 : !v -> !v
    %3 = torch.aten.mul.Tensor %0, %2 : !v, !v -> !v
    return %3 : !v
  }
}

// -----

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rb = !dovetail.ref<!b, strided<[2, 1]>>

module attributes {dovetail.level = "program"} {
  func.func @forward(%x: !r) -> !rb attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1:2 = call @forward_region_0(%0) : (!v) -> (!v, !c)
    %2 = call @forward_region_1(%1#0, %1#1) : (!v, !c) -> !b
    %o = "dovetail.own"(%2) {requires_grad = false} : (!b) -> !rb
    return %o : !rb
  }
  func.func private @forward_region_0(%x: !v) -> (!v, !c) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.tanh %x : !v -> !v
    %1 = torch.aten.amax %0, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    return %0, %1 : !v, !c
  }
  func.func private @forward_region_1(%x: !v, %max: !c) -> !b attributes {dovetail.role = "region"} {
    // expected-error @below {{has it in memory or computes it along the way}}
    %0 = torch.aten.eq.Tensor %x, %max : !v, !c -> !b
    return %0 : !b
  }
}

// -----

// COM: What `repeat-in-regions` would do wrong: the later region computes again what the maximum was taken of.

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rb = !dovetail.ref<!b, strided<[2, 1]>>

module attributes {dovetail.level = "program"} {
  func.func @forward(%x: !r) -> !rb attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = call @forward_region_0(%0) : (!v) -> !c
    %2 = call @forward_region_1(%0, %1) : (!v, !c) -> !b
    %o = "dovetail.own"(%2) {requires_grad = false} : (!b) -> !rb
    return %o : !rb
  }
  func.func private @forward_region_0(%x: !v) -> !c attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.tanh %x : !v -> !v
    %1 = torch.aten.amax %0, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    return %1 : !c
  }
  func.func private @forward_region_1(%x: !v, %max: !c) -> !b attributes {dovetail.role = "region"} {
    %0 = torch.aten.tanh %x : !v -> !v
    // expected-error @below {{'@forward_region_1' and '@forward_region_0' compute it, and the last bit may differ}}
    %1 = torch.aten.eq.Tensor %0, %max : !v, !c -> !b
    return %1 : !b
  }
}

// -----

// COM: What is saved as a copy is the same value, and regions compute for the functions that call them.

!v = !torch.vtensor<[2,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>

module attributes {dovetail.level = "program"} {
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = call @forward_region_0(%0) : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %2 = "dovetail.copy"(%0) : (!v) -> !v
    return %o, %2 : !r, !v
  }
  func.func @backward(%x: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = call @backward_region_0(%x, %0) : (!v, !v) -> !v
    return %1 : !v
  }
  func.func private @forward_region_0(%x: !v) -> !v attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.floor %0 : !v -> !v
    %2 = torch.aten.mul.Tensor %1, %x : !v, !v -> !v
    return %2 : !v
  }
  func.func private @backward_region_0(%x: !v, %t: !v) -> !v attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    // expected-error @below {{'torch.aten.floor' op in '@backward' decides once more what '@forward' did, by 'torch.aten.exp' at}}
    %1 = torch.aten.floor %0 : !v -> !v
    %2 = torch.aten.mul.Tensor %t, %1 : !v, !v -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[?,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 99>}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0, 2)>}) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %2 = torch.aten.floor %1 : !v -> !v
    %3 = torch.aten.mul.Tensor %2, %0 : !v, !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%x: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.aten.exp %x : !v -> !v
    // expected-error @below {{'torch.aten.floor' op in '@backward' decides once more what '@forward' did, by 'torch.aten.exp' at}}
    %2 = torch.aten.floor %1 : !v -> !v
    %3 = torch.aten.mul.Tensor %0, %2 : !v, !v -> !v
    return %3 : !v
  }
}
