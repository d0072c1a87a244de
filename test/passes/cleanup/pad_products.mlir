// RUN: dovetail-opt %s --pass-pipeline='pad-products,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='pad-products' --run-check -o %t
//
// Catches a product that keeps rows of odd length, which the library multiplies at a sixth of the speed; longer rows that
// are summed with what is behind their end, or copied; and products that are padded though that costs more.

!x = !torch.vtensor<[2048,1024],bf16>
!w = !torch.vtensor<[1030,1024],bf16>
!t = !torch.vtensor<[1024,1030],bf16>
!y = !torch.vtensor<[2048,1030],bf16>
!b = !torch.vtensor<[2048,1030],i1>
!i = !torch.vtensor<[1030],si64>
!k = !torch.vtensor<[2048,1],bf16>
!c = !torch.vtensor<[2048,1],si64>
!s = !torch.vtensor<[1030],bf16>
!e = !torch.vtensor<[4,1030],bf16>
!v = !torch.vtensor<[4,1024],bf16>
!rx = !dovetail.ref<!x, strided<[1024, 1]>>
!rw = !dovetail.ref<!w, strided<[1024, 1]>>
!rk = !dovetail.ref<!k, strided<[1, 1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>
!rs = !dovetail.ref<!s, strided<[1]>>
!re = !dovetail.ref<!e, strided<[1030, 1]>>
!rv = !dovetail.ref<!v, strided<[1024, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !rx, %w: !rw, %class: !rc, %few: !rv) -> (!rk, !rs, !rx, !rw, !re) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %n = torch.constant.int 1030
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %zero = torch.constant.float 0.0
    %device = torch.constant.device "cuda:0"
    %swapped = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
    // CHECK: %[[X:.*]] = "dovetail.read"
    // CHECK: %[[W:.*]] = "dovetail.read"
    %3 = "dovetail.read"(%x) : (!rx) -> !x
    %4 = "dovetail.read"(%w) : (!rw) -> !w
    %5 = "dovetail.read"(%class) : (!rc) -> !c
    %6 = "dovetail.read"(%few) : (!rv) -> !v

    // COM: The weight gets two rows of zeros; the result is two columns wider.
    // CHECK: %[[ROWS:.*]] = torch.prim.ListConstruct %[[W]], %{{.*}}<[1030,1024],bf16>, !torch.vtensor<[2,1024],bf16>
    // CHECK: %[[WIDE:.*]] = torch.aten.cat %[[ROWS]],
    // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[WIDE]],
    // CHECK: %[[Y:.*]] = torch.aten.mm %[[X]], %[[TURNED]] : {{.*}}[1024,1032],bf16> -> !torch.vtensor<[2048,1032],bf16>
    %7 = torch.aten.permute %4, %swapped : !w, !torch.list<int> -> !t
    %8 = torch.aten.mm %3, %7 : !x, !t -> !y

    // COM: What is pointwise goes along, indices of columns, too.
    // CHECK: %[[INDEX:.*]] = torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[1032],si64>
    // CHECK: %[[HOT:.*]] = torch.aten.eq.Tensor %[[INDEX]], {{.*}} -> !torch.vtensor<[2048,1032],i1>
    // CHECK: %[[EXP:.*]] = torch.aten.exp %[[Y]] : !torch.vtensor<[2048,1032],bf16>
    // CHECK: %[[CHOSEN:.*]] = torch.aten.where.self %[[HOT]], %[[EXP]], %[[Y]]
    %9 = torch.aten.arange.start_step %0, %n, %1, %none, %none, %device, %false : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !i
    %10 = torch.aten.eq.Tensor %9, %5 : !i, !c -> !b
    %11 = torch.aten.exp %8 : !y -> !y
    %12 = torch.aten.where.self %10, %11, %8 : !b, !y, !y -> !y

    // COM: A maximum of rows reads -inf behind them; sums of columns have two more of them.
    // CHECK: %[[COUNT:.*]] = torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[1032],si32>
    // CHECK: %[[INSIDE:.*]] = torch.aten.lt.Scalar %[[COUNT]],
    // CHECK: torch.constant.float 0xFFF0000000000000
    // CHECK: %[[LOW:.*]] = torch.aten.where.self %[[INSIDE]], %[[CHOSEN]],
    // CHECK: torch.aten.amax %[[LOW]],
    // CHECK: %[[SUMS:.*]] = torch.aten.sum.dim_IntList %[[CHOSEN]], {{.*}} -> !torch.vtensor<[1032],bf16>
    // CHECK: torch.aten.slice.Tensor %[[SUMS]],
    %13 = torch.aten.amax %12, %last, %true : !y, !torch.list<int>, !torch.bool -> !k
    %14 = torch.aten.sum.dim_IntList %12, %first, %false, %none : !y, !torch.list<int>, !torch.bool, !torch.none -> !s

    // COM: Two products take the same zeros behind its rows, and the weight that was padded.
    // CHECK: %[[ZEROED:.*]] = torch.aten.where.self %[[INSIDE]], %[[CHOSEN]],
    // CHECK: torch.aten.mm %[[ZEROED]], %[[WIDE]]
    // CHECK: %[[COLUMNS:.*]] = torch.aten.permute %[[ZEROED]],
    // CHECK: %[[GRADIENT:.*]] = torch.aten.mm %[[COLUMNS]], %[[X]] : {{.*}} -> !torch.vtensor<[1032,1024],bf16>
    // CHECK: torch.aten.slice.Tensor %[[GRADIENT]],
    // CHECK-NOT: torch.aten.cat
    %15 = torch.aten.mm %12, %4 : !y, !w -> !x
    %16 = torch.aten.permute %12, %swapped : !y, !torch.list<int> -> !torch.vtensor<[1030,2048],bf16>
    %17 = torch.aten.mm %16, %3 : !torch.vtensor<[1030,2048],bf16>, !x -> !w

    // COM: Four rows are not worth it.
    // CHECK: torch.aten.mm {{.*}} -> !torch.vtensor<[4,1030],bf16>
    %18 = torch.aten.mm %6, %7 : !v, !t -> !e
    %19 = "dovetail.own"(%13) {requires_grad = false} : (!k) -> !rk
    %20 = "dovetail.own"(%14) {requires_grad = false} : (!s) -> !rs
    %21 = "dovetail.own"(%15) {requires_grad = false} : (!x) -> !rx
    %22 = "dovetail.own"(%17) {requires_grad = false} : (!w) -> !rw
    %23 = "dovetail.own"(%18) {requires_grad = false} : (!e) -> !re
    return %19, %20, %21, %22, %23 : !rk, !rs, !rx, !rw, !re
  }
}
