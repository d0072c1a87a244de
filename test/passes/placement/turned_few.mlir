// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='place-ops,outline-regions' | FileCheck %s
//
// Catches filters and images that ATen lays channels last before a region converts them, or in place of one: two launches
// each, and on a CPU two passes over memory. Caches have what few elements trade places with; where many trade places
// with many, a thread would read one element of each sector.

!f = !torch.vtensor<[128,64,3,3],f32>
!fl = !torch.vtensor<[128,3,3,64],f32>
!fh = !torch.vtensor<[128,3,3,64],bf16>
!i = !torch.vtensor<[8,3,64,64],f32>
!il = !torch.vtensor<[8,64,64,3],f32>
!ih = !torch.vtensor<[8,64,64,3],bf16>
!l = !torch.vtensor<[100,1000],bf16>
!lt = !torch.vtensor<[1000,100],bf16>
!rf = !dovetail.ref<!f, strided<[576, 9, 3, 1]>>
!rfh = !dovetail.ref<!fh, strided<[576, 192, 64, 1]>>
!rfl = !dovetail.ref<!fl, strided<[576, 192, 64, 1]>>
!ri = !dovetail.ref<!i, strided<[12288, 4096, 64, 1]>>
!rih = !dovetail.ref<!ih, strided<[12288, 192, 3, 1]>>
!rl = !dovetail.ref<!l, strided<[1000, 1]>>
!rlt = !dovetail.ref<!lt, strided<[100, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%f: !rf, %i: !ri, %l: !rl) -> (!rfh, !rih, !rlt, !rfl) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%f, %i, %l) : (!rf, !ri, !rl) -> (!rfh, !rih, !rlt, !rfl)
    return %0#0, %0#1, %0#2, %0#3 : !rfh, !rih, !rlt, !rfl
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: torch.aten.permute
  // CHECK-NOT: torch.aten.clone
  // CHECK: call @forward_region_0(
  // CHECK: torch.aten.permute {{.*}} -> !torch.vtensor<[1000,100],bf16>
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-DAG: torch.aten.permute {{.*}} -> !torch.vtensor<[128,3,3,64],f32>
  // CHECK-DAG: torch.aten.permute {{.*}} -> !torch.vtensor<[8,64,64,3],f32>
  func.func @forward(%f: !rf, %i: !ri, %l: !rl) -> (!rfh, !rih, !rlt, !rfl) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %three = torch.constant.int 3
    %int15 = torch.constant.int 15
    %false = torch.constant.bool false
    %none = torch.constant.none
    %last = torch.prim.ListConstruct %zero, %two, %three, %one : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %turned = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%f) : (!rf) -> !f
    %1 = "dovetail.read"(%i) : (!ri) -> !i
    %2 = "dovetail.read"(%l) : (!rl) -> !l
    %3 = torch.aten.permute %0, %last : !f, !torch.list<int> -> !fl
    %4 = torch.aten.permute %1, %last : !i, !torch.list<int> -> !il
    %5 = torch.aten.permute %2, %turned : !l, !torch.list<int> -> !lt
    %6 = torch.aten._to_copy %3, %int15, %none, %none, %none, %false, %none
        : !fl, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !fh
    %7 = torch.aten._to_copy %4, %int15, %none, %none, %none, %false, %none
        : !il, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !ih
    %8 = torch.aten.exp %5 : !lt -> !lt
    %9 = "dovetail.own"(%6) {requires_grad = false} : (!fh) -> !rfh
    %10 = "dovetail.own"(%7) {requires_grad = false} : (!ih) -> !rih
    %11 = "dovetail.own"(%8) {requires_grad = false} : (!lt) -> !rlt
    %12 = torch.aten.clone %3, %zero : !fl, !torch.int -> !fl
    %13 = "dovetail.own"(%12) {requires_grad = false} : (!fl) -> !rfl
    return %9, %10, %11, %13 : !rfh, !rih, !rlt, !rfl
  }
}
