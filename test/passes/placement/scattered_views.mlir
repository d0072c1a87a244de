// RUN: dovetail-opt %s --split-input-file --pass-pipeline='place-ops,outline-regions' | FileCheck %s
//
// Catches a region that reads a large tensor across its rows, one element at a time; a small tensor that is copied
// before a region; and rows of two tensors that a region joins. Then one that is copied though the region transposes it
// by blocks; and an argument that lies transposed, which the host need not copy.

!v = !torch.vtensor<[256,512],bf16>
!t = !torch.vtensor<[512,256],bf16>
!s = !torch.vtensor<[16,32],f32>
!u = !torch.vtensor<[32,16],f32>
!c = !torch.vtensor<[512,512],bf16>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!rt = !dovetail.ref<!t, strided<[256, 1]>>
!rs = !dovetail.ref<!s, strided<[32, 1]>>
!ru = !dovetail.ref<!u, strided<[16, 1]>>
!rc = !dovetail.ref<!c, strided<[512, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rv, %y: !rs) -> (!rt, !ru, !rc) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x, %y) : (!rv, !rs) -> (!rt, !ru, !rc)
    return %0#0, %0#1, %0#2 : !rt, !ru, !rc
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK:       call @forward_region_0(%{{.*}}) : (!torch.vtensor<[16,32],f32>)
  // CHECK:       %[[T:.*]] = torch.aten.transpose.int
  // CHECK:       %[[R:.*]] = call @forward_region_1(%[[T]]) : (!torch.vtensor<[512,256],bf16>)
  // CHECK:       %[[PARTS:.*]] = torch.prim.ListConstruct %[[R]], %[[R]]
  // CHECK:       torch.operator "torch.aten.cat"(%[[PARTS]], %{{.*}}) {dovetail.reason = "ATen copies rows
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK:       torch.aten.transpose.int
  // CHECK-LABEL: func.func private @forward_region_1(
  // CHECK-NOT:   torch.aten.transpose.int
  func.func @forward(%x: !rv, %y: !rs) -> (!rt, !ru, !rc) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = "dovetail.read"(%y) : (!rs) -> !s
    %2 = torch.aten.transpose.int %0, %zero, %one : !v, !torch.int, !torch.int -> !t
    %3 = torch.aten.exp %2 : !t -> !t
    %4 = torch.aten.transpose.int %1, %zero, %one : !s, !torch.int, !torch.int -> !u
    %5 = torch.aten.exp %4 : !u -> !u
    %list = torch.prim.ListConstruct %3, %3 : (!t, !t) -> !torch.list<vtensor>
    %6 = torch.aten.cat %list, %one : !torch.list<vtensor>, !torch.int -> !c
    %7 = "dovetail.own"(%3) {requires_grad = false} : (!t) -> !rt
    %8 = "dovetail.own"(%5) {requires_grad = false} : (!u) -> !ru
    %9 = "dovetail.own"(%6) {requires_grad = false} : (!c) -> !rc
    return %7, %8, %9 : !rt, !ru, !rc
  }
}

// -----

!v = !torch.vtensor<[256,512],f32>
!t = !torch.vtensor<[512,256],f32>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!lies = !dovetail.ref<!v, strided<[1, 256]>>
!rt = !dovetail.ref<!t, strided<[256, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rv, %y: !lies) -> !rt attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %y) : (!rv, !lies) -> !rt
    return %0 : !rt
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK:       %[[X:.*]] = "dovetail.read"(%arg0)
  // CHECK:       %[[Y:.*]] = "dovetail.read"(%arg1)
  // CHECK:       %[[SHOWN:.*]] = torch.aten.permute %[[Y]]
  // CHECK:       call @forward_region_{{.*}}(%[[X]], %[[SHOWN]])
  // CHECK-LABEL: func.func private @forward_region_
  // CHECK-SAME:    (%[[X:.*]]: !torch.vtensor<[256,512],f32>, %[[SHOWN:.*]]: !torch.vtensor<[512,256],f32>)
  // CHECK:         %[[TURNED:.*]] = torch.aten.permute %[[X]]
  // CHECK:         torch.aten.mul.Tensor %[[TURNED]], %[[SHOWN]]
  func.func @forward(%x: !rv, %y: !lies) -> !rt attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = "dovetail.read"(%y) : (!lies) -> !v
    %2 = torch.aten.permute %0, %order : !v, !torch.list<int> -> !t
    %3 = torch.aten.permute %1, %order : !v, !torch.list<int> -> !t
    %4 = torch.aten.mul.Tensor %2, %3 : !t, !t -> !t
    %5 = "dovetail.own"(%4) {requires_grad = false} : (!t) -> !rt
    return %5 : !rt
  }
}
