// RUN: dovetail-opt %s --verify-comparisons --verify-diagnostics --split-input-file
//
// Catches truth values that a GPU counts in floating point, in the forward and again in the backward, taken for sums that
// round: a defect that ran the graph eagerly. Of more than float32 holds, they do round.

!m = !torch.vtensor<[8,4],i1>
!f = !torch.vtensor<[8,4],f32>
!b = !torch.vtensor<[4,8],f32>
!w = !torch.vtensor<[4],f64>
!s = !torch.vtensor<[4],f32>
!n = !torch.vtensor<[4],si64>
!r = !dovetail.ref<!s, strided<[1]>>
!rm = !dovetail.ref<!m, strided<[4, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !rm, %y: !r) -> (!r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %mask = "dovetail.read"(%x) : (!rm) -> !m
    %v = "dovetail.read"(%y) : (!r) -> !s
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int4 = torch.constant.int 4
    %int6 = torch.constant.int 6
    %int7 = torch.constant.int 7
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %mask, %int6, %none, %none, %none, %false, %none : !m, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !f
    %1 = torch.aten.transpose.int %0, %int0, %int1 : !f, !torch.int, !torch.int -> !b
    %2 = torch.aten.sum.dim_IntList %1, %last, %false, %int7 : !b, !torch.list<int>, !torch.bool, !torch.int -> !w
    %3 = torch.aten._to_copy %2, %int6, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    %4 = torch.aten._to_copy %3, %int4, %none, %none, %none, %false, %none : !s, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !n
    %5 = torch.aten.div.Tensor %v, %4 : !s, !n -> !s
    %o = "dovetail.own"(%5) {requires_grad = true} : (!s) -> !r
    return %o, %mask : !r, !m
  }
  func.func @backward(%mask: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> !s attributes {dovetail.role = "backward"} {
    %v = "dovetail.read"(%t) : (!r) -> !s
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int4 = torch.constant.int 4
    %int6 = torch.constant.int 6
    %int7 = torch.constant.int 7
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %mask, %int6, %none, %none, %none, %false, %none : !m, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !f
    %1 = torch.aten.transpose.int %0, %int0, %int1 : !f, !torch.int, !torch.int -> !b
    %2 = torch.aten.sum.dim_IntList %1, %last, %false, %int7 : !b, !torch.list<int>, !torch.bool, !torch.int -> !w
    %3 = torch.aten._to_copy %2, %int6, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    %4 = torch.aten._to_copy %3, %int4, %none, %none, %none, %false, %none : !s, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !n
    %5 = torch.aten.div.Tensor %v, %4 : !s, !n -> !s
    return %5 : !s
  }
}

// -----

!m = !torch.vtensor<[16777217,4],i1>
!f = !torch.vtensor<[16777217,4],f32>
!b = !torch.vtensor<[4,16777217],f32>
!w = !torch.vtensor<[4],f64>
!s = !torch.vtensor<[4],f32>
!n = !torch.vtensor<[4],si64>
!r = !dovetail.ref<!s, strided<[1]>>
!rm = !dovetail.ref<!m, strided<[4, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !rm, %y: !r) -> (!r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %mask = "dovetail.read"(%x) : (!rm) -> !m
    %v = "dovetail.read"(%y) : (!r) -> !s
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int4 = torch.constant.int 4
    %int6 = torch.constant.int 6
    %int7 = torch.constant.int 7
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %mask, %int6, %none, %none, %none, %false, %none : !m, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !f
    %1 = torch.aten.transpose.int %0, %int0, %int1 : !f, !torch.int, !torch.int -> !b
    %2 = torch.aten.sum.dim_IntList %1, %last, %false, %int7 : !b, !torch.list<int>, !torch.bool, !torch.int -> !w
    %3 = torch.aten._to_copy %2, %int6, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    %4 = torch.aten._to_copy %3, %int4, %none, %none, %none, %false, %none : !s, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !n
    %5 = torch.aten.div.Tensor %v, %4 : !s, !n -> !s
    %o = "dovetail.own"(%5) {requires_grad = true} : (!s) -> !r
    return %o, %mask : !r, !m
  }
  func.func @backward(%mask: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> !s attributes {dovetail.role = "backward"} {
    %v = "dovetail.read"(%t) : (!r) -> !s
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int4 = torch.constant.int 4
    %int6 = torch.constant.int 6
    %int7 = torch.constant.int 7
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %mask, %int6, %none, %none, %none, %false, %none : !m, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !f
    %1 = torch.aten.transpose.int %0, %int0, %int1 : !f, !torch.int, !torch.int -> !b
    %2 = torch.aten.sum.dim_IntList %1, %last, %false, %int7 : !b, !torch.list<int>, !torch.bool, !torch.int -> !w
    %3 = torch.aten._to_copy %2, %int6, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    // expected-error @below {{in '@backward' decides once more what '@forward' did, by 'torch.aten.sum.dim_IntList' at}}
    %4 = torch.aten._to_copy %3, %int4, %none, %none, %none, %false, %none : !s, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !n
    %5 = torch.aten.div.Tensor %v, %4 : !s, !n -> !s
    return %5 : !s
  }
}
