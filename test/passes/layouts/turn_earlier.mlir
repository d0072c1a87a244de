// RUN: dovetail-opt %s --pass-pipeline='turn-earlier,verify-level{level=joint}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='turn-earlier' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='turn-earlier' | FileCheck %s --check-prefix=ALONE
//
// Catches heads of attention that a region stores in one order and again, or ATen copies, in that in which a product takes
// them. What something else takes as it is stays, as do sums of two tensors, both of which would be permuted, what only
// regions take, what is small, what the host must show, and what a library takes as it lies, as products do matrices, and
// convolutions do images; and all of it on a CPU.

!h = !torch.vtensor<[4,8,128,32],bf16>
!f = !torch.vtensor<[4,8,128,32],f32>
!k = !torch.vtensor<[4,8,32,128],f32>
!p = !torch.vtensor<[4,128,8,32],bf16>
!pf = !torch.vtensor<[4,128,8,32],f32>
!m = !torch.vtensor<[512,256],bf16>
!w = !torch.vtensor<[256,256],bf16>
!s = !torch.vtensor<[2,2,2,2],bf16>
!sf = !torch.vtensor<[2,2,2,2],f32>
!sm = !torch.vtensor<[4,4],bf16>
!rf = !dovetail.ref<!f, strided<[32768, 4096, 32, 1]>>
!rk = !dovetail.ref<!k, strided<[32768, 4096, 128, 1]>>
!rh = !dovetail.ref<!h, strided<[32768, 4096, 32, 1]>>
!rp = !dovetail.ref<!p, strided<[32768, 256, 32, 1]>>
!rm = !dovetail.ref<!m, strided<[256, 1]>>
!rw = !dovetail.ref<!w, strided<[256, 1]>>
!rsf = !dovetail.ref<!sf, strided<[8, 4, 2, 1]>>
!rsm = !dovetail.ref<!sm, strided<[4, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
  // CHECK: %[[K:.*]] = "dovetail.read"(%arg1)
  // COM: The result of one tensor, and of one that is permuted already: the two permutations are one.
  // CHECK: %[[XP:.*]] = torch.aten.permute %[[X]], {{.*}} -> !torch.vtensor<[4,128,8,32],f32>
  // CHECK: %[[XC:.*]] = torch.aten._to_copy %[[XP]], {{.*}} -> !torch.vtensor<[4,128,8,32],bf16>
  // CHECK: torch.aten.view %[[XC]],
  // CHECK: %[[KP:.*]] = torch.aten.permute %[[K]], {{.*}} -> !torch.vtensor<[4,128,8,32],f32>
  // CHECK: %[[KM:.*]] = torch.aten.mul.Scalar %[[KP]],
  // CHECK: torch.aten._to_copy %[[KM]], {{.*}} -> !torch.vtensor<[4,128,8,32],bf16>
  // COM: All else as it was.
  // CHECK: %[[TWO:.*]] = torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[4,8,128,32],bf16>
  // CHECK: torch.aten.permute %[[TWO]],
  // CHECK: %[[TAKEN:.*]] = torch.aten.neg {{.*}} -> !torch.vtensor<[4,8,128,32],bf16>
  // CHECK: torch.aten.permute %[[TAKEN]],
  // CHECK: %[[HERE:.*]] = torch.aten.exp {{.*}} -> !torch.vtensor<[4,8,128,32],bf16>
  // CHECK: torch.aten.permute %[[HERE]],
  // CHECK: %[[SMALL:.*]] = torch.aten._to_copy {{.*}} -> !torch.vtensor<[2,2,2,2],bf16>
  // CHECK: torch.aten.permute %[[SMALL]],
  // CHECK: %[[SHOWN:.*]] = torch.aten.sin {{.*}} -> !torch.vtensor<[4,8,128,32],bf16>
  // CHECK: torch.aten.permute %[[SHOWN]], {{.*}} {dovetail.shows_rows}
  // CHECK: %[[AS:.*]] = torch.aten.tan
  // CHECK: torch.aten.permute %[[AS]],
  // ALONE-LABEL: func.func @joint(
  // ALONE: %[[ALONE:.*]] = torch.aten._to_copy {{.*}} -> !torch.vtensor<[4,8,128,32],bf16>
  // ALONE: torch.aten.permute %[[ALONE]],
  func.func @joint(%x: !rf, %k: !rk, %h: !rh, %w: !rw, %s: !rsf) -> (!rm, !rm, !rm, !rm, !rh, !rp, !rsm, !rm) attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %three = torch.constant.int 3
    %int15 = torch.constant.int 15
    %int512 = torch.constant.int 512
    %int256 = torch.constant.int 256
    %int4 = torch.constant.int 4
    %false = torch.constant.bool false
    %none = torch.constant.none
    %heads = torch.prim.ListConstruct %zero, %two, %one, %three : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %turned = torch.prim.ListConstruct %zero, %one, %three, %two : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %rows = torch.prim.ListConstruct %int512, %int256 : (!torch.int, !torch.int) -> !torch.list<int>
    %few = torch.prim.ListConstruct %int4, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rf) -> !f
    %1 = "dovetail.read"(%k) : (!rk) -> !k
    %2 = "dovetail.read"(%h) : (!rh) -> !h
    %3 = "dovetail.read"(%w) : (!rw) -> !w
    %4 = "dovetail.read"(%s) : (!rsf) -> !sf
    %5 = torch.aten._to_copy %0, %int15, %none, %none, %none, %false, %none
        : !f, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %6 = torch.aten.permute %5, %heads : !h, !torch.list<int> -> !p
    %7 = torch.aten.view %6, %rows : !p, !torch.list<int> -> !m
    %8 = torch.aten.mm %7, %3 : !m, !w -> !m
    %9 = torch.aten.permute %1, %turned : !k, !torch.list<int> -> !f
    %10 = torch.aten.mul.Scalar %9, %two : !f, !torch.int -> !f
    %11 = torch.aten._to_copy %10, %int15, %none, %none, %none, %false, %none
        : !f, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %12 = torch.aten.permute %11, %heads : !h, !torch.list<int> -> !p
    %13 = torch.aten.view %12, %rows : !p, !torch.list<int> -> !m
    %14 = torch.aten.mm %13, %3 : !m, !w -> !m
    %20 = torch.aten.cos %2 : !h -> !h
    %15 = torch.aten.add.Tensor %2, %20, %one : !h, !h, !torch.int -> !h
    %16 = torch.aten.permute %15, %heads : !h, !torch.list<int> -> !p
    %17 = torch.aten.view %16, %rows : !p, !torch.list<int> -> !m
    %18 = torch.aten.mm %17, %3 : !m, !w -> !m
    %21 = torch.aten.neg %2 : !h -> !h
    %22 = torch.aten.permute %21, %heads : !h, !torch.list<int> -> !p
    %23 = torch.aten.view %22, %rows : !p, !torch.list<int> -> !m
    %24 = torch.aten.mm %23, %3 : !m, !w -> !m
    %25 = torch.aten.exp %2 : !h -> !h
    %26 = torch.aten.permute %25, %heads : !h, !torch.list<int> -> !p
    %27 = torch.aten.sin %26 : !p -> !p
    %28 = torch.aten._to_copy %4, %int15, %none, %none, %none, %false, %none
        : !sf, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    %29 = torch.aten.permute %28, %heads : !s, !torch.list<int> -> !s
    %30 = torch.aten.view %29, %few : !s, !torch.list<int> -> !sm
    %31 = torch.aten.mm %30, %30 : !sm, !sm -> !sm
    %32 = torch.aten.sin %2 : !h -> !h
    %33 = torch.aten.permute %32, %heads {dovetail.shows_rows} : !h, !torch.list<int> -> !p
    %34 = torch.aten.view %33, %rows : !p, !torch.list<int> -> !m
    %35 = torch.aten.mm %34, %3 : !m, !w -> !m
    %across = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %36 = torch.aten.tan %3 : !w -> !w
    %37 = torch.aten.permute %36, %across : !w, !torch.list<int> -> !w
    %38 = torch.aten.mm %37, %3 : !w, !w -> !w
    %40 = "dovetail.own"(%8) {requires_grad = false} : (!m) -> !rm
    %41 = "dovetail.own"(%14) {requires_grad = false} : (!m) -> !rm
    %42 = "dovetail.own"(%18) {requires_grad = false} : (!m) -> !rm
    %43 = "dovetail.own"(%24) {requires_grad = false} : (!m) -> !rm
    %44 = "dovetail.own"(%21) {requires_grad = false} : (!h) -> !rh
    %45 = "dovetail.own"(%27) {requires_grad = false} : (!p) -> !rp
    %46 = "dovetail.own"(%31) {requires_grad = false} : (!sm) -> !rsm
    %47 = "dovetail.own"(%35) {requires_grad = false} : (!m) -> !rm
    return %40, %41, %42, %43, %44, %45, %46, %47 : !rm, !rm, !rm, !rm, !rh, !rp, !rsm, !rm
  }
}
