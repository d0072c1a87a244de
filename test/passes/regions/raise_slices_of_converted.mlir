// RUN: dovetail-opt %s --pass-pipeline='raise-slices' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='raise-slices,lower-regions' --run-check -o %t
//
// Catches a gradient in half precision that a region on a GPU converts and stores to add up the heads of each pair: they are
// parts of a dimension that a reshape splits, of what is converted.

!x = !torch.vtensor<[4,8],bf16>
!w = !torch.vtensor<[4,8],f32>
!s = !torch.vtensor<[2,2,8],f32>
!h = !torch.vtensor<[2,1,8],f32>
!rx = !dovetail.ref<!x, strided<[8, 1]>>
!rh = !dovetail.ref<!h, strided<[8, 8, 1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx) -> (!rh, !rh) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!rx) -> (!rh, !rh)
    return %0#0, %0#1 : !rh, !rh
  }
  func.func @forward(%x: !rx) -> (!rh, !rh) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %3:2 = call @region(%0) : (!x) -> (!h, !h)
    %4 = "dovetail.own"(%3#0) {requires_grad = false} : (!h) -> !rh
    %5 = "dovetail.own"(%3#1) {requires_grad = false} : (!h) -> !rh
    return %4, %5 : !rh, !rh
  }
  // CHECK-LABEL: func.func private @region(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[4,8],bf16>
  func.func private @region(%x: !x) -> (!h, !h) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %six = torch.constant.int 6
    %eight = torch.constant.int 8
    %none = torch.constant.none
    %false = torch.constant.bool false
    %sizes = torch.prim.ListConstruct %two, %two, %eight : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    // CHECK: %[[SPLIT:.*]] = torch.aten.reshape %[[X]], %{{.*}} -> !torch.vtensor<[2,2,8],bf16>
    // CHECK: %[[FIRST:.*]] = torch.aten.slice.Tensor %[[SPLIT]], %{{.*}} -> !torch.vtensor<[2,1,8],bf16>
    // CHECK: %[[WIDE:.*]] = torch.aten._to_copy %[[FIRST]], %{{.*}} -> !torch.vtensor<[2,1,8],f32>
    %w = torch.aten._to_copy %x, %six, %none, %none, %none, %false, %none : !x, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !w
    %s = torch.aten.reshape %w, %sizes : !w, !torch.list<int> -> !s
    %a = torch.aten.slice.Tensor %s, %one, %zero, %one, %one : !s, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // CHECK: torch.aten._to_copy %{{.*}} -> !torch.vtensor<[2,1,8],f32>
    %b = torch.aten.slice.Tensor %s, %one, %one, %two, %one : !s, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // CHECK: torch.aten.add.Tensor %[[WIDE]],
    %c = torch.aten.add.Tensor %a, %b, %one : !h, !h, !torch.int -> !h
    // COM: What is computed otherwise than by a conversion is stored.
    // CHECK: %[[SINE:.*]] = torch.aten.sin %{{.*}} -> !torch.vtensor<[4,8],f32>
    // CHECK: %[[STORED:.*]] = torch.aten.reshape %[[SINE]],
    // CHECK: torch.aten.slice.Tensor %[[STORED]],
    %t = torch.aten.sin %w : !w -> !w
    %u = torch.aten.reshape %t, %sizes : !w, !torch.list<int> -> !s
    %d = torch.aten.slice.Tensor %u, %one, %zero, %one, %one : !s, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    return %c, %d : !h, !h
  }
}
