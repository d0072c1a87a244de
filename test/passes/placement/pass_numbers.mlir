// RUN: dovetail-opt %s --pass-numbers | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=pass-numbers --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='pass-numbers,place-ops' | FileCheck %s --check-prefix=PLACED
//
// Catches arithmetic with an open number that no region takes, one tensor for each use of a number, and a number that is
// rounded to another type than ATen's kernel rounds it to.

!v = !torch.vtensor<[?,4],f32>
!h = !torch.vtensor<[?,4],f16>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!s = !dovetail.ref<!h, strided<[4, 1]>>
#s = affine_map<()[s0] -> (s0, 4)>
module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:[a-z0-9]+]]: !torch.int {{.*}} %[[F:[a-z0-9]+]]: !torch.float
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %f: !torch.float, %x: !r {dovetail.sizes = #s}, %y: !s {dovetail.sizes = #s}) -> (!r, !s) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%n, %f, %x, %y) : (!torch.int, !torch.float, !r, !s) -> (!r, !s)
    return %0#0, %0#1 : !r, !s
  }
  func.func @forward(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %f: !torch.float, %x: !r {dovetail.sizes = #s}, %y: !s {dovetail.sizes = #s}) -> (!r, !s) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#s]} : (!s) -> !h
    // CHECK: %[[TN:.*]] = torch.prim.NumToTensor.Scalar %[[N]] : !torch.int -> !torch.vtensor<[],si64>
    // CHECK-NEXT: %[[A:.*]] = torch.aten.div.Tensor %{{.*}}, %[[TN]] {dovetail.pinned, dovetail.sizes = [#{{.*}}]} : !torch.vtensor<[?,4],f32>, !torch.vtensor<[],si64> -> !torch.vtensor<[?,4],f32>
    // PLACED: torch.prim.NumToTensor.Scalar {{.*}}dovetail.placement = "library", dovetail.placement_reason = "a number as a tensor, for regions to take"
    // PLACED: torch.aten.div.Tensor {{.*}}dovetail.placement = "region"
    %2 = torch.aten.div.Scalar %0, %n {dovetail.pinned, dovetail.sizes = [#s]} : !v, !torch.int -> !v
    %one = torch.constant.int 1
    // CHECK: %[[TF:.*]] = torch.prim.NumToTensor.Scalar %[[F]] : !torch.float -> !torch.vtensor<[],f64>
    // CHECK-NEXT: %[[B:.*]] = torch.aten.sub.Tensor %[[TF]], %[[A]], %{{.*}}
    %3 = torch.aten.rsub.Scalar %2, %f, %one {dovetail.sizes = [#s]} : !v, !torch.float, !torch.int -> !v
    // CHECK-NEXT: torch.aten.mul.Tensor %[[B]], %[[TN]]
    %4 = torch.aten.mul.Scalar %3, %n {dovetail.sizes = [#s]} : !v, !torch.int -> !v
    // A known number stays, and so does one that is multiplied, or that a kernel of half precision takes in float32.
    // CHECK: torch.aten.mul.Scalar
    // CHECK: torch.aten.add.Scalar
    // CHECK: torch.aten.mul.Scalar
    %5 = torch.aten.mul.Scalar %4, %one {dovetail.sizes = [#s]} : !v, !torch.int -> !v
    %6 = torch.aten.add.Scalar %5, %f, %n {dovetail.sizes = [#s]} : !v, !torch.float, !torch.int -> !v
    %7 = torch.aten.mul.Scalar %1, %f {dovetail.sizes = [#s]} : !h, !torch.float -> !h
    %o = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%7) {requires_grad = false} : (!h) -> !s
    return %o, %p : !r, !s
  }
}
