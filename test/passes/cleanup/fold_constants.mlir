// RUN: dovetail-opt %s --pass-pipeline='fold-constants,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-constants' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='fold-constants{elements=2},merge-equal-values' | FileCheck %s --check-prefix=SMALL
// RUN: not dovetail-opt %s --pass-pipeline='fold-constants{elements=-1}' 2>&1 | FileCheck %s --check-prefix=ERROR
//
// Catches constants that are computed in each call; and folding that changes numbers (types, rounding, wrapping), that
// puts large tensors into the program, that draws random numbers once for all, or knows what depends on an argument.

// ERROR: pass 'fold-constants': option 'elements' expects 0 or more, got -1

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!i = !torch.vtensor<[4],si64>
!m = !torch.vtensor<[4,4],f32>
!rm = !dovetail.ref<!m, strided<[4, 1]>>
!big = !torch.vtensor<[100],f32>
!rbig = !dovetail.ref<!big, strided<[1]>>
!n = !torch.vtensor<[100],si64>
!rn = !dovetail.ref<!n, strided<[1]>>
!b = !torch.vtensor<[2],ui8>
!rb = !dovetail.ref<!b, strided<[1]>>
!t = !torch.vtensor<[4],i1>
!rt = !dovetail.ref<!t, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // SMALL-LABEL: func.func @joint(
  func.func @joint(%x: !r) -> (!rm, !rbig, !rn, !r, !r, !rb, !rt) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %cpu = torch.constant.device "cpu"
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %-1 = torch.constant.int -1
    %4 = torch.constant.int 4
    %100 = torch.constant.int 100
    %200 = torch.constant.int 200
    %tenth = torch.constant.float 1.000000e-01
    %inf = torch.constant.float 0xFFF0000000000000
    // CHECK: %[[X:.*]] = "dovetail.read"
    %v = "dovetail.read"(%x) : (!r) -> !v

    // COM: A causal mask of 4 by 4 is a literal, if that many elements are allowed; then even its source is unknown.
    // CHECK-NOT: torch.aten.arange
    // CHECK: %[[MASK:.*]] = torch.vtensor.literal(dense<{{.*}}0.000000e+00, 0xFF800000, 0xFF800000, 0xFF800000], [0.000000e+00, 0.000000e+00, 0xFF800000,
    // SMALL: torch.aten.arange.start_step
    // SMALL: torch.aten.le.Tensor
    // SMALL: torch.aten.where.self
    %a = torch.aten.arange.start_step %0, %4, %1, %none, %none, %cpu, %false
        : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !i
    %row = torch.aten.unsqueeze %a, %0 : !i, !torch.int -> !torch.vtensor<[1,4],si64>
    %column = torch.aten.unsqueeze %a, %-1 : !i, !torch.int -> !torch.vtensor<[4,1],si64>
    %le = torch.aten.le.Tensor %row, %column
        : !torch.vtensor<[1,4],si64>, !torch.vtensor<[4,1],si64> -> !torch.vtensor<[4,4],i1>
    %zero = torch.aten.scalar_tensor %0, %none, %none, %cpu, %none
        : !torch.int, !torch.none, !torch.none, !torch.Device, !torch.none -> !torch.vtensor<[],f32>
    %never = torch.aten.scalar_tensor %inf, %none, %none, %cpu, %none
        : !torch.float, !torch.none, !torch.none, !torch.Device, !torch.none -> !torch.vtensor<[],f32>
    %mask = torch.aten.where.self %le, %zero, %never
        : !torch.vtensor<[4,4],i1>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32> -> !m

    // COM: One number in a hundred elements is that number: float32 rounding, 0.1f + 0.1f * 2 = 0.3f.
    // CHECK: %[[FULL:.*]] = torch.aten.full {{.*}}, %float3.000000e-01{{.*}}, %int6
    %sizes = torch.prim.ListConstruct %100 : (!torch.int) -> !torch.list<int>
    %tenths = torch.aten.full %sizes, %tenth, %none, %none, %cpu, %false
        : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.Device, !torch.bool -> !big
    %like = torch.aten.full_like %tenths, %tenth, %none, %none, %none, %false, %none
        : !big, !torch.float, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !big
    %fifths = torch.aten.mul.Scalar %like, %2 : !big, !torch.int -> !big
    %sum = torch.aten.add.Tensor %tenths, %fifths, %1 : !big, !big, !torch.int -> !big

    // COM: A hundred numbers are no literal.
    // CHECK: %[[LONG:.*]] = torch.aten.arange.start_step
    // CHECK: %[[DOUBLED:.*]] = torch.aten.mul.Scalar %[[LONG]]
    %long = torch.aten.arange.start_step %0, %100, %1, %none, %none, %cpu, %false
        : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !n
    %doubled = torch.aten.mul.Scalar %long, %2 : !n, !torch.int -> !n

    // COM: Random numbers are drawn in each call.
    // CHECK: %[[ONES:.*]] = torch.aten.full
    // CHECK: %[[DRAWN:.*]] = torch.operator "torch.aten.bernoulli"(%[[ONES]]
    %ones = torch.aten.full_like %v, %1, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %drawn = torch.operator "torch.aten.bernoulli"(%ones, %none) {dovetail.effect = "draws", dovetail.reason = "effect"} : (!v, !torch.none) -> !v
    // COM: Sines differ between libraries; 200 + 100 in a byte is 44.
    // CHECK: %[[SINE:.*]] = torch.aten.sin %[[ONES]]
    %sine = torch.aten.sin %ones : !v -> !v
    // CHECK: %[[WRAPPED:.*]] = torch.aten.full {{.*}}, %int44
    %bytes = torch.vtensor.literal(dense<200> : tensor<2xui8>) : !b
    %wrapped = torch.aten.add.Scalar %bytes, %100, %1 : !b, !torch.int, !torch.int -> !b
    // COM: Truth values are numbers beside numbers; of equal numbers one is chosen, whatever the condition.
    // CHECK: %[[TRUTHS:.*]] = torch.aten.full {{.*}}, %int1{{.*}}, %int11
    %positive = torch.aten.gt.Scalar %v, %0 : !v, !torch.int -> !t
    %two = torch.aten.scalar_tensor %2, %none, %none, %cpu, %none
        : !torch.int, !torch.none, !torch.none, !torch.Device, !torch.none -> !torch.vtensor<[],f32>
    %chosen = torch.aten.where.self %positive, %two, %two
        : !t, !torch.vtensor<[],f32>, !torch.vtensor<[],f32> -> !v
    %true = torch.constant.bool true
    %one = torch.aten.Int.bool %true : !torch.bool -> !torch.int
    %more = torch.aten.gt.Scalar %chosen, %one : !v, !torch.int -> !t
    %truths = torch.aten.eq.Scalar %more, %one : !t, !torch.int -> !t

    // COM: What has to do with an argument is not known.
    // CHECK: %[[UNKNOWN:.*]] = torch.aten.mul.Tensor %[[X]]
    // CHECK: torch.aten.add.Tensor %[[UNKNOWN]], %[[SINE]]
    %unknown = torch.aten.mul.Tensor %v, %drawn : !v, !v -> !v
    %all = torch.aten.add.Tensor %unknown, %sine, %1 : !v, !v, !torch.int -> !v

    // CHECK: "dovetail.own"(%[[MASK]])
    // CHECK: "dovetail.own"(%[[FULL]])
    // CHECK: "dovetail.own"(%[[DOUBLED]])
    // CHECK: "dovetail.own"(%[[DRAWN]])
    // CHECK: "dovetail.own"(%[[WRAPPED]])
    // CHECK: "dovetail.own"(%[[TRUTHS]])
    %o = "dovetail.own"(%mask) {requires_grad = false} : (!m) -> !rm
    %p = "dovetail.own"(%sum) {requires_grad = false} : (!big) -> !rbig
    %q = "dovetail.own"(%doubled) {requires_grad = false} : (!n) -> !rn
    %s = "dovetail.own"(%drawn) {requires_grad = false} : (!v) -> !r
    %t = "dovetail.own"(%all) {requires_grad = false} : (!v) -> !r
    %u = "dovetail.own"(%wrapped) {requires_grad = false} : (!b) -> !rb
    %w = "dovetail.own"(%truths) {requires_grad = false} : (!t) -> !rt
    return %o, %p, %q, %s, %t, %u, %w : !rm, !rbig, !rn, !r, !r, !rb, !rt
  }
}
