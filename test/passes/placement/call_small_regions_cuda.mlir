// RUN: dovetail-opt %s --pass-pipeline='call-small-regions,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=call-small-regions --run-check -o %t
//
// Catches a region that only fills its result: no code comes of it that a GPU could launch, beside a library call or
// not, written to an argument or not. One that computes what it fills with stays.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#1 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[FULL:.*]] = torch.operator "torch.aten.full"({{.*}}) {dovetail.reason = "IREE fills memory without code that could be launched"}
  // CHECK: %[[SUM:.*]] = call @forward_region_1(
  // CHECK: "dovetail.own"(%[[FULL]])
  // CHECK: "dovetail.own"(%[[SUM]])
  // CHECK-NOT: func.func private @forward_region_0
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = call @forward_region_0() : () -> !v
    %2 = call @forward_region_1(%0) : (!v) -> !v
    %3 = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %4 = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %3, %4 : !r, !r
  }
  func.func private @forward_region_0() -> !v attributes {dovetail.role = "region"} {
    %int4 = torch.constant.int 4
    %sizes = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
    %int3 = torch.constant.int 3
    %int6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.aten.full %sizes, %int3, %int6, %none, %none, %false : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !v
    return %0 : !v
  }
  func.func private @forward_region_1(%x: !v) -> !v attributes {dovetail.role = "region"} {
    %int4 = torch.constant.int 4
    %sizes = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
    %int3 = torch.constant.int 3
    %int6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %one = torch.constant.int 1
    %0 = torch.aten.full %sizes, %int3, %int6, %none, %none, %false : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !v
    %1 = torch.aten.add.Tensor %x, %0, %one : !v, !v, !torch.int -> !v
    return %1 : !v
  }
}
