// RUN: dovetail-opt %s --pass-pipeline='raise-slices' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='raise-slices,lower-regions' --run-check -o %t
//
// Catches a value that a region on a GPU stores to slice it; a slice of a wrong dimension of an operand that is permuted,
// reshaped, or shared by rows; and one of a reduction, or of what is pinned, which would be computed twice.

!x = !torch.vtensor<[4,8,64],f32>
!p = !torch.vtensor<[8,4,64],f32>
!h = !torch.vtensor<[8,4,32],f32>
!w = !torch.vtensor<[64],f32>
!k = !torch.vtensor<[8,1,1],f32>
!f = !torch.vtensor<[32,64],f32>
!g = !torch.vtensor<[32,32],f32>
!rows = !torch.vtensor<[32],f32>
!few = !torch.vtensor<[8],f32>
!rx = !dovetail.ref<!x, strided<[512, 64, 1]>>
!rw = !dovetail.ref<!w, strided<[1]>>
!rk = !dovetail.ref<!k, strided<[1, 1, 1]>>
!rh = !dovetail.ref<!h, strided<[128, 32, 1]>>
!rg = !dovetail.ref<!g, strided<[32, 1]>>
!rfew = !dovetail.ref<!few, strided<[1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx, %w: !rw, %k: !rk) -> (!rh, !rg, !rfew, !rh) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %w, %k) : (!rx, !rw, !rk) -> (!rh, !rg, !rfew, !rh)
    return %0#0, %0#1, %0#2, %0#3 : !rh, !rg, !rfew, !rh
  }
  func.func @forward(%x: !rx, %w: !rw, %k: !rk) -> (!rh, !rg, !rfew, !rh) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%w) : (!rw) -> !w
    %2 = "dovetail.read"(%k) : (!rk) -> !k
    %3:4 = call @region(%0, %1, %2) : (!x, !w, !k) -> (!h, !g, !few, !h)
    %4 = "dovetail.own"(%3#0) {requires_grad = false} : (!h) -> !rh
    %5 = "dovetail.own"(%3#1) {requires_grad = false} : (!g) -> !rg
    %6 = "dovetail.own"(%3#2) {requires_grad = false} : (!few) -> !rfew
    %7 = "dovetail.own"(%3#3) {requires_grad = false} : (!h) -> !rh
    return %4, %5, %6, %7 : !rh, !rg, !rfew, !rh
  }
  // CHECK-LABEL: func.func private @region(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[4,8,64],f32>, %[[W:[a-z0-9]+]]: !torch.vtensor<[64],f32>, %[[K:[a-z0-9]+]]: !torch.vtensor<[8,1,1],f32>
  func.func private @region(%x: !x, %w: !w, %k: !k) -> (!h, !g, !few, !h) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %three = torch.constant.int 3
    %thirty = torch.constant.int 32
    %end = torch.constant.int 64
    %none = torch.constant.none
    %false = torch.constant.bool false
    %order = torch.prim.ListConstruct %one, %zero, %two : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    // CHECK: %[[XS:.*]] = torch.aten.slice.Tensor %[[X]], %{{.*}} -> !torch.vtensor<[4,8,32],f32>
    // CHECK: %[[P:.*]] = torch.aten.permute %[[XS]], %{{.*}} -> !torch.vtensor<[8,4,32],f32>
    // CHECK: %[[WS:.*]] = torch.aten.slice.Tensor %[[W]], %{{.*}} -> !torch.vtensor<[32],f32>
    // CHECK: %[[M:.*]] = torch.aten.mul.Tensor %[[P]], %[[WS]]
    // CHECK: %[[A:.*]] = torch.aten.add.Tensor %[[M]], %[[K]]
    %p = torch.aten.permute %x, %order : !x, !torch.list<int> -> !p
    %m = torch.aten.mul.Tensor %p, %w : !p, !w -> !p
    %a = torch.aten.add.Tensor %m, %k, %one : !p, !k, !torch.int -> !p
    %0 = torch.aten.slice.Tensor %a, %two, %thirty, %end, %one : !p, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // COM: Through a reshape that leaves the dimension.
    // CHECK: torch.aten.slice.Tensor %[[X]], %{{.*}} -> !torch.vtensor<[4,8,32],f32>
    // CHECK: %[[E:.*]] = torch.aten.exp {{.*}} -> !torch.vtensor<[4,8,32],f32>
    // CHECK: torch.aten.reshape %[[E]], %{{.*}} -> !torch.vtensor<[32,32],f32>
    %sizes = torch.prim.ListConstruct %thirty, %end : (!torch.int, !torch.int) -> !torch.list<int>
    %e = torch.aten.exp %x : !x -> !x
    %f = torch.aten.view %e, %sizes : !x, !torch.list<int> -> !f
    %1 = torch.aten.slice.Tensor %f, %one, %zero, %end, %two : !f, !torch.int, !torch.int, !torch.int, !torch.int -> !g
    // COM: Of a reduction, which stays whole.
    // CHECK: %[[S:.*]] = torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[32],f32>
    // CHECK: torch.aten.slice.Tensor %[[S]],
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %s = torch.aten.sum.dim_IntList %f, %last, %false, %none : !f, !torch.list<int>, !torch.bool, !torch.none -> !rows
    %eight = torch.constant.int 8
    %2 = torch.aten.slice.Tensor %s, %zero, %zero, %eight, %one : !rows, !torch.int, !torch.int, !torch.int, !torch.int -> !few
    // COM: Pinned.
    // CHECK: %[[T:.*]] = torch.aten.tanh
    // CHECK: torch.aten.slice.Tensor %[[T]],
    %t = torch.aten.tanh %p {dovetail.pinned} : !p -> !p
    %3 = torch.aten.slice.Tensor %t, %two, %zero, %thirty, %one : !p, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    return %0, %1, %2, %3 : !h, !g, !few, !h
  }
}
