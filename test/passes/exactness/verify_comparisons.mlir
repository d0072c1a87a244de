// RUN: dovetail-opt %s --verify-comparisons -o %t
//
// Catches a verifier that refuses what is right: both computed again, an argument's value on both sides, what is the same
// wherever it is computed, and a region that reads what another one has stored.

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>

module attributes {dovetail.level = "program"} {
  func.func @forward(%x: !r) -> (!rc, !v {dovetail.saved = "private"}, !v {dovetail.saved = "private"}, !c {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = call @forward_region_0(%0) : (!v) -> !v
    %2:2 = call @forward_region_1(%1, %0) : (!v, !v) -> (!c, !c)
    %o = "dovetail.own"(%2#0) {requires_grad = true} : (!c) -> !rc
    return %o, %0, %1, %2#1 : !rc, !v, !v, !c
  }
  func.func @backward(%x: !v, %y: !v, %max: !c, %t: !rc {dovetail.tangent_of = 0 : i64}) -> !b attributes {dovetail.role = "backward"} {
    %0 = call @backward_region_0(%x) : (!v) -> !v
    %1 = call @backward_region_1(%0, %x, %y, %max) : (!v, !v, !v, !c) -> !b
    return %1 : !b
  }
  func.func private @forward_region_0(%x: !v) -> !v attributes {dovetail.role = "region"} {
    %0 = torch.aten.tanh %x : !v -> !v
    return %0 : !v
  }
  func.func private @forward_region_1(%y: !v, %x: !v) -> (!c, !c) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %y, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    %1 = torch.aten.neg %x : !v -> !v
    %2 = torch.aten.amax %1, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    return %0, %2 : !c, !c
  }
  func.func private @backward_region_0(%x: !v) -> !v attributes {dovetail.role = "region"} {
    %0 = torch.aten.tanh %x : !v -> !v
    return %0 : !v
  }
  func.func private @backward_region_1(%again: !v, %x: !v, %y: !v, %max: !c) -> !b attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %again, %dim, %true : !v, !torch.list<int>, !torch.bool -> !c
    %1 = torch.aten.eq.Tensor %again, %0 : !v, !c -> !b
    %2 = torch.aten.neg %x : !v -> !v
    %3 = torch.aten.eq.Tensor %2, %max : !v, !c -> !b
    %4 = torch.aten.le.Scalar %y, %one : !v, !torch.int -> !b
    %5 = torch.aten.bitwise_or.Tensor %1, %3 : !b, !b -> !b
    %6 = torch.aten.bitwise_or.Tensor %5, %4 : !b, !b -> !b
    return %6 : !b
  }
}
