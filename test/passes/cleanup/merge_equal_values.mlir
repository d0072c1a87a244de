// RUN: dovetail-opt %s --pass-pipeline='merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='merge-equal-values' --run-check -o %t
//
// Catches equal ops that are computed twice, and merges that change values: of ops that differ in an operand or in a
// constant, of library calls (which may draw random numbers), of memory that is handed out, and of reads around a write.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!c = !torch.vtensor<[4],complex<f32>>
!h = !torch.vtensor<[4],f16>
!s = !torch.vtensor<[],f32>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r, %y: !r) -> (!r, !r, !r, !r) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v

    // COM: Constants merge first, so that what uses them becomes equal.
    // CHECK-DAG: %[[ONE:.*]] = torch.constant.int 1
    // CHECK-DAG: %[[TWO:.*]] = torch.constant.int 2
    // CHECK-DAG: %[[X:.*]] = "dovetail.read"(%{{.*}})
    %one = torch.constant.int 1
    %uno = torch.constant.int 1
    %two = torch.constant.int 2
    // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor %[[X]], %[[X]], %[[ONE]]
    // CHECK-NEXT: %[[MORE:.*]] = torch.aten.add.Tensor %[[X]], %[[X]], %[[TWO]]
    // CHECK-NEXT: %[[EXP:.*]] = torch.aten.exp %[[SUM]]
    // CHECK-NEXT: %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[EXP]], %[[EXP]]
    // CHECK-NEXT: %[[OTHER:.*]] = torch.aten.mul.Tensor %[[EXP]], %[[MORE]]
    %1 = torch.aten.add.Tensor %0, %0, %one : !v, !v, !torch.int -> !v
    %2 = torch.aten.add.Tensor %0, %0, %uno : !v, !v, !torch.int -> !v
    %3 = torch.aten.add.Tensor %0, %0, %two : !v, !v, !torch.int -> !v
    %4 = torch.aten.exp %1 : !v -> !v
    %5 = torch.aten.exp %2 : !v -> !v
    %6 = torch.aten.mul.Tensor %4, %5 : !v, !v -> !v
    %7 = torch.aten.mul.Tensor %4, %3 : !v, !v -> !v
    // CHECK: %[[A:.*]] = torch.operator "torch.aten.bernoulli.p"
    // CHECK: %[[B:.*]] = torch.operator "torch.aten.bernoulli.p"
    %9 = torch.operator "torch.aten.bernoulli.p"(%6, %half, %none) {dovetail.effect = "draws", dovetail.reason = "has an effect"}
        : (!v, !torch.float, !torch.none) -> !v
    %10 = torch.operator "torch.aten.bernoulli.p"(%6, %half, %none) {dovetail.effect = "draws", dovetail.reason = "has an effect"}
        : (!v, !torch.float, !torch.none) -> !v
    // CHECK: %[[DRAWN:.*]] = torch.aten.sub.Tensor %[[A]], %[[B]]
    %11 = torch.aten.sub.Tensor %9, %10, %one : !v, !v, !torch.int -> !v

    // CHECK: "dovetail.write"(%[[PRODUCT]]
    // CHECK: %[[LATER:.*]] = "dovetail.read"
    "dovetail.write"(%6, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %12 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: "dovetail.own"(%[[OTHER]])
    // CHECK: "dovetail.own"(%[[OTHER]])
    // CHECK: "dovetail.own"(%[[DRAWN]])
    // CHECK: "dovetail.own"(%[[LATER]])
    %o = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%11) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%12) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q, %s : !r, !r, !r, !r
  }

  // COM: Sums and products of two, whatever their order; not a scaled sum, a difference or a complex product.
  // CHECK-LABEL: func.func @commuted(
  func.func @commuted(%x: !v, %y: !v, %w: !c, %z: !c) -> (!v, !v, !c) {
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor %{{.*}}, %{{.*}}, %int1
    // CHECK-NEXT: %[[PRODUCT:.*]] = torch.aten.mul.Tensor
    // CHECK-NEXT: torch.aten.mul.Tensor %[[SUM]], %[[PRODUCT]]
    %0 = torch.aten.add.Tensor %x, %y, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    %2 = torch.aten.add.Tensor %y, %x, %one : !v, !v, !torch.int -> !v
    %3 = torch.aten.mul.Tensor %y, %x : !v, !v -> !v
    %4 = torch.aten.mul.Tensor %2, %3 : !v, !v -> !v
    // CHECK-COUNT-2: torch.aten.add.Tensor %{{.*}}, %{{.*}}, %int2
    // CHECK-COUNT-2: torch.aten.sub.Tensor
    %5 = torch.aten.add.Tensor %x, %y, %two : !v, !v, !torch.int -> !v
    %6 = torch.aten.add.Tensor %y, %x, %two : !v, !v, !torch.int -> !v
    %7 = torch.aten.sub.Tensor %x, %5, %one : !v, !v, !torch.int -> !v
    %8 = torch.aten.sub.Tensor %5, %x, %one : !v, !v, !torch.int -> !v
    %9 = torch.aten.maximum %7, %8 : !v, !v -> !v
    %10 = torch.aten.maximum %9, %6 : !v, !v -> !v
    // CHECK-COUNT-3: torch.aten.mul.Tensor {{.*}}complex
    %11 = torch.aten.mul.Tensor %w, %z : !c, !c -> !c
    %12 = torch.aten.mul.Tensor %z, %w : !c, !c -> !c
    %13 = torch.aten.mul.Tensor %11, %12 : !c, !c -> !c
    return %4, %10, %13 : !v, !v, !c
  }

  // COM: ATen rounds a scalar tensor of another type on the left, and multiplies by the bits that it has on the right.
  // CHECK-LABEL: func.func @mixed(
  // CHECK: torch.aten.mul.Tensor
  // CHECK: torch.aten.mul.Tensor
  func.func @mixed(%x: !h, %s: !s) -> (!h, !h) {
    %0 = torch.aten.mul.Tensor %x, %s : !h, !s -> !h
    %1 = torch.aten.mul.Tensor %s, %x : !s, !h -> !h
    return %0, %1 : !h, !h
  }

  // COM: Complex constants, whose elements the bindings can't read.
  // CHECK-LABEL: func.func @complex_constants(
  // CHECK: %[[I:.*]] = torch.vtensor.literal(dense<(0.000000e+00,1.000000e+00)>
  // CHECK-NEXT: %[[ONE:.*]] = torch.vtensor.literal(dense<(1.000000e+00,0.000000e+00)>
  // CHECK-NEXT: return %[[I]], %[[I]], %[[ONE]]
  func.func @complex_constants() -> (!c, !c, !c) {
    %0 = torch.vtensor.literal(dense<(0.0, 1.0)> : tensor<4xcomplex<f32>>) : !c
    %1 = torch.vtensor.literal(dense<(0.0, 1.0)> : tensor<4xcomplex<f32>>) : !c
    %2 = torch.vtensor.literal(dense<(1.0, 0.0)> : tensor<4xcomplex<f32>>) : !c
    return %0, %1, %2 : !c, !c, !c
  }

  // COM: What the user wants computed anew stays so for whoever else computes it, and what is saved is there for both.
  // CHECK-LABEL: func.func @recomputed(
  // CHECK: %[[EXP:.*]] = torch.aten.exp %{{.*}} {dovetail.recompute = "must_recompute"}
  // CHECK: %[[SIN:.*]] = torch.aten.sin %{{.*}} {dovetail.recompute = "must_save"}
  // CHECK: %[[COS:.*]] = torch.aten.cos %{{.*}} :
  // CHECK: return %[[EXP]], %[[EXP]], %[[SIN]], %[[SIN]], %[[COS]], %[[COS]]
  func.func @recomputed(%x: !v) -> (!v, !v, !v, !v, !v, !v) {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.exp %x {dovetail.recompute = "must_recompute"} : !v -> !v
    %2 = torch.aten.sin %x {dovetail.recompute = "prefer_recompute"} : !v -> !v
    %3 = torch.aten.sin %x {dovetail.recompute = "must_save"} : !v -> !v
    %4 = torch.aten.cos %x : !v -> !v
    %5 = torch.aten.cos %x : !v -> !v
    return %0, %1, %2, %3, %4, %5 : !v, !v, !v, !v, !v, !v
  }

  // CHECK-LABEL: func.func @unused(
  // CHECK-NOT: torch.aten.neg
  // CHECK-NOT: dovetail.read
  // CHECK: torch.operator "torch.aten._assert_async"
  // CHECK: return
  func.func @unused(%x: !r, %y: !v) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.neg %0 : !v -> !v
    torch.operator "torch.aten._assert_async"(%y) {dovetail.effect = "other", dovetail.reason = "has an effect"} : (!v) -> ()
    return
  }
}
