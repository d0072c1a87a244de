// RUN: dovetail-opt %s --pass-pipeline='join-products' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='join-products' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline=join-products | FileCheck %s --check-prefix=APART
//
// Catches weights joined in another order than their products are taken apart, or heads that begin in the middle of one;
// products joined of several matrices, of few rows, of weights that are computed, or of open sizes; and a CPU's.

!x = !torch.vtensor<[2048,64],f32>
!q = !torch.vtensor<[96,64],f32>
!k = !torch.vtensor<[32,64],f32>
!tq = !torch.vtensor<[64,96],f32>
!tk = !torch.vtensor<[64,32],f32>
!pq = !torch.vtensor<[2048,96],f32>
!pk = !torch.vtensor<[2048,32],f32>
!hq = !torch.vtensor<[4,512,6,16],f32>
!hk = !torch.vtensor<[4,512,2,16],f32>
!few = !torch.vtensor<[64,64],f32>
!pf = !torch.vtensor<[64,32],f32>
!open = !torch.vtensor<[?,64],f32>
!po = !torch.vtensor<[?,32],f32>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rq = !dovetail.ref<!q, strided<[64, 1]>>
!rk = !dovetail.ref<!k, strided<[64, 1]>>
!rf = !dovetail.ref<!few, strided<[64, 1]>>
!ro = !dovetail.ref<!open, strided<[64, 1]>>
!opq = !dovetail.ref<!pq, strided<[96, 1]>>
!opk = !dovetail.ref<!pk, strided<[32, 1]>>
!ohq = !dovetail.ref<!hq, strided<[49152, 96, 16, 1]>>
!ohk = !dovetail.ref<!hk, strided<[16384, 32, 16, 1]>>
!opf = !dovetail.ref<!pf, strided<[32, 1]>>
!opo = !dovetail.ref<!po, strided<[32, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[Y:.*]] = "dovetail.read"
  // CHECK: %[[K:.*]] = "dovetail.read"
  // CHECK: %[[Q:.*]] = "dovetail.read"
  // CHECK: %[[V:.*]] = "dovetail.read"
  // APART-LABEL: func.func @joint(
  // APART-NOT: torch.aten.cat
  func.func @joint(%x: !rx, %y: !rx, %k: !rk, %q: !rq, %v: !rk, %f: !rf, %o: !ro) -> (!opk, !opq, !ohk, !ohq, !opk, !opk, !opf, !opf, !opo, !opo, !opk, !opq, !opk) attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %2 = torch.constant.int 2
    %4 = torch.constant.int 4
    %6 = torch.constant.int 6
    %16 = torch.constant.int 16
    %512 = torch.constant.int 512
    %turned = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %few_heads = torch.prim.ListConstruct %4, %512, %2, %16 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %heads = torch.prim.ListConstruct %4, %512, %6, %16 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%y) : (!rx) -> !x
    %3 = "dovetail.read"(%k) : (!rk) -> !k
    %5 = "dovetail.read"(%q) : (!rq) -> !q
    %7 = "dovetail.read"(%v) : (!rk) -> !k
    %8 = "dovetail.read"(%f) : (!rf) -> !few
    %9 = "dovetail.read"(%o) : (!ro) -> !open
    %tk = torch.aten.permute %3, %turned : !k, !torch.list<int> -> !tk
    %tq = torch.aten.permute %5, %turned : !q, !torch.list<int> -> !tq

    // COM: What takes products as they are gets columns.
    // CHECK: %[[BOTH:.*]] = torch.prim.ListConstruct %[[K]], %[[Q]]
    // CHECK: %[[W:.*]] = torch.aten.cat %[[BOTH]], {{.*}} -> !torch.vtensor<[128,64],f32>
    // CHECK: %[[T:.*]] = torch.aten.permute %[[W]]
    // CHECK: %[[P:.*]] = torch.aten.mm %[[X]], %[[T]] : {{.*}} -> !torch.vtensor<[2048,128],f32>
    // CHECK: %[[PK:.*]] = torch.aten.slice.Tensor %[[P]], {{.*}} -> !torch.vtensor<[2048,32],f32>
    // CHECK: %[[PQ:.*]] = torch.aten.slice.Tensor %[[P]], {{.*}} -> !torch.vtensor<[2048,96],f32>
    // CHECK-NOT: torch.aten.mm %[[X]]
    %10 = torch.aten.mm %0, %tk : !x, !tk -> !pk
    %11 = torch.aten.mm %0, %tq : !x, !tq -> !pq

    // COM: What takes heads gets some of them.
    // CHECK: %[[ALL:.*]] = torch.prim.ListConstruct %[[K]], %[[Q]]
    // CHECK: %[[W:.*]] = torch.aten.cat %[[ALL]]
    // CHECK: %[[T:.*]] = torch.aten.permute %[[W]]
    // CHECK: %[[P:.*]] = torch.aten.mm %[[Y]], %[[T]]
    // CHECK: %[[H:.*]] = torch.aten.reshape %[[P]], {{.*}} -> !torch.vtensor<[4,512,8,16],f32>
    // CHECK: %[[HK:.*]] = torch.aten.slice.Tensor %[[H]], {{.*}} -> !torch.vtensor<[4,512,2,16],f32>
    // CHECK: %[[HQ:.*]] = torch.aten.slice.Tensor %[[H]], {{.*}} -> !torch.vtensor<[4,512,6,16],f32>
    %12 = torch.aten.mm %1, %tk : !x, !tk -> !pk
    %13 = torch.aten.mm %1, %tq : !x, !tq -> !pq
    %14 = torch.aten.view %12, %few_heads : !pk, !torch.list<int> -> !hk
    %15 = torch.aten.view %13, %heads : !pq, !torch.list<int> -> !hq

    // COM: What checkpointing computes again is joined with its like.
    // CHECK: torch.aten.cat {{.*}} {dovetail.recompute = "must_recompute"}
    // CHECK: torch.aten.mm {{.*}} {dovetail.recompute = "must_recompute"} : {{.*}} -> !torch.vtensor<[2048,128],f32>
    // CHECK: torch.aten.mm {{.*}} : {{.*}} -> !torch.vtensor<[2048,32],f32>
    %checked = torch.aten.neg %0 {dovetail.recompute = "must_recompute"} : !x -> !x
    %23 = torch.aten.mm %checked, %tk {dovetail.recompute = "must_recompute"} : !x, !tk -> !pk
    %24 = torch.aten.mm %checked, %tq {dovetail.recompute = "must_recompute"} : !x, !tq -> !pq
    %25 = torch.aten.mm %checked, %tk : !x, !tk -> !pk

    // COM: Of a weight that is computed; of few rows; of an open number of them.
    // CHECK-NOT: torch.aten.cat
    %sin = torch.aten.sin %7 : !k -> !k
    %ts = torch.aten.permute %sin, %turned : !k, !torch.list<int> -> !tk
    %sum = torch.aten.add.Tensor %0, %1, %one : !x, !x, !torch.int -> !x
    %17 = torch.aten.mm %sum, %ts : !x, !tk -> !pk
    %18 = torch.aten.mm %sum, %tk : !x, !tk -> !pk
    %19 = torch.aten.mm %8, %tk : !few, !tk -> !pf
    %20 = torch.aten.mm %8, %tk : !few, !tk -> !pf
    %21 = torch.aten.mm %9, %tk : !open, !tk -> !po
    %22 = torch.aten.mm %9, %tk : !open, !tk -> !po
    %r0 = "dovetail.own"(%10) {requires_grad = false} : (!pk) -> !opk
    %r1 = "dovetail.own"(%11) {requires_grad = false} : (!pq) -> !opq
    %r2 = "dovetail.own"(%14) {requires_grad = false} : (!hk) -> !ohk
    %r3 = "dovetail.own"(%15) {requires_grad = false} : (!hq) -> !ohq
    %r4 = "dovetail.own"(%17) {requires_grad = false} : (!pk) -> !opk
    %r5 = "dovetail.own"(%18) {requires_grad = false} : (!pk) -> !opk
    %r6 = "dovetail.own"(%19) {requires_grad = false} : (!pf) -> !opf
    %r7 = "dovetail.own"(%20) {requires_grad = false} : (!pf) -> !opf
    %r8 = "dovetail.own"(%21) {requires_grad = false} : (!po) -> !opo
    %r9 = "dovetail.own"(%22) {requires_grad = false} : (!po) -> !opo
    %r10 = "dovetail.own"(%23) {requires_grad = false} : (!pk) -> !opk
    %r11 = "dovetail.own"(%24) {requires_grad = false} : (!pq) -> !opq
    %r12 = "dovetail.own"(%25) {requires_grad = false} : (!pk) -> !opk
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12 : !opk, !opq, !ohk, !ohq, !opk, !opk, !opf, !opf, !opo, !opo, !opk, !opq, !opk
  }
}
