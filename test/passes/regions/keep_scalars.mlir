// RUN: dovetail-opt %s --pass-pipeline='keep-scalars' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='keep-scalars' --run-check -o %t
//
// Catches a number that IREE rounds to half precision before it multiplies, where 1e-9 becomes 0; a product with
// `alpha` that is rounded by itself; and ops that are widened without need.

!h = !torch.vtensor<[64],f16>
!b = !torch.vtensor<[64],bf16>
!x = !torch.vtensor<[64],f32>
!s = !torch.vtensor<[],f32>
module attributes {dovetail.level = "program"} {
  func.func @call(%h: !dovetail.ref<!h, strided<[1]>>, %b: !dovetail.ref<!b, strided<[1]>>, %x: !dovetail.ref<!x, strided<[1]>>, %s: !dovetail.ref<!s, strided<[]>>) -> (!dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%h, %b, %x, %s) : (!dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!x, strided<[1]>>, !dovetail.ref<!s, strided<[]>>) -> (!dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>)
    return %0#0, %0#1, %0#2, %0#3 : !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>
  }
  func.func @forward(%h: !dovetail.ref<!h, strided<[1]>>, %b: !dovetail.ref<!b, strided<[1]>>, %x: !dovetail.ref<!x, strided<[1]>>, %s: !dovetail.ref<!s, strided<[]>>) -> (!dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%h) : (!dovetail.ref<!h, strided<[1]>>) -> !h
    %1 = "dovetail.read"(%b) : (!dovetail.ref<!b, strided<[1]>>) -> !b
    %2 = "dovetail.read"(%x) : (!dovetail.ref<!x, strided<[1]>>) -> !x
    %3 = "dovetail.read"(%s) : (!dovetail.ref<!s, strided<[]>>) -> !s
    %4:4 = call @forward_region_0(%0, %1, %3) : (!h, !b, !s) -> (!h, !b, !h, !h)
    %5:2 = call @forward_region_1(%0, %2, %3) : (!h, !x, !s) -> (!h, !x)
    %o = "dovetail.own"(%4#0) {requires_grad = false} : (!h) -> !dovetail.ref<!h, strided<[1]>>
    %p = "dovetail.own"(%4#1) {requires_grad = false} : (!b) -> !dovetail.ref<!b, strided<[1]>>
    %q = "dovetail.own"(%4#2) {requires_grad = false} : (!h) -> !dovetail.ref<!h, strided<[1]>>
    %r = "dovetail.own"(%4#3) {requires_grad = false} : (!h) -> !dovetail.ref<!h, strided<[1]>>
    return %o, %p, %q, %r : !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!b, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>, !dovetail.ref<!h, strided<[1]>>
  }
  func.func private @forward_region_0(%h: !h, %b: !b, %s: !s) -> (!h, !b, !h, !h) attributes {dovetail.role = "region"} {
    // CHECK: func.func private @forward_region_0(%[[H:.*]]: !torch.vtensor<[64],f16>, %[[B:.*]]: !torch.vtensor<[64],bf16>, %[[S:.*]]: !torch.vtensor<[],f32>)
    %tiny = torch.constant.float 1.0e-09
    %third = torch.constant.float 0.33333333333333331
    %one = torch.constant.int 1
    // CHECK: %[[WIDE:.*]] = torch.aten._to_copy %[[H]], {{.*}} -> !torch.vtensor<[64],f32>
    // CHECK: %[[PRODUCT:.*]] = torch.aten.mul.Scalar %[[WIDE]], %float1.000000e-09 : {{.*}} -> !torch.vtensor<[64],f32>
    // CHECK: %[[FIRST:.*]] = torch.aten._to_copy %[[PRODUCT]], {{.*}} -> !torch.vtensor<[64],f16>
    %0 = torch.aten.mul.Scalar %h, %tiny : !h, !torch.float -> !h
    // CHECK: %[[QUOTIENT:.*]] = torch.aten.div.Scalar %{{.*}}, %float3.333330e-01 : !torch.vtensor<[64],f32>,
    // CHECK: torch.aten._to_copy %[[QUOTIENT]], {{.*}} -> !torch.vtensor<[64],bf16>
    %1 = torch.aten.div.Scalar %b, %third : !b, !torch.float -> !b
    // CHECK: %[[FACTOR:.*]] = torch.aten._to_copy %[[S]], {{.*}} : !torch.vtensor<[],f32>, {{.*}} -> !torch.vtensor<[],f32>
    // CHECK: torch.aten.mul.Tensor %{{.*}}, %[[FACTOR]] : !torch.vtensor<[64],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[64],f32>
    %2 = torch.aten.mul.Tensor %h, %s : !h, !s -> !h
    // COM: `alpha` is rounded, to 0.333251953125, and so is the scalar tensor; the product is not.
    // CHECK: %[[HALF:.*]] = torch.aten._to_copy %[[S]], {{.*}} -> !torch.vtensor<[],f16>
    // CHECK: %[[TERM:.*]] = torch.aten._to_copy %[[HALF]], {{.*}} -> !torch.vtensor<[],f32>
    // CHECK: %[[ALPHA:.*]] = torch.constant.float 0.333251953125
    // CHECK: torch.aten.add.Tensor %{{.*}}, %[[TERM]], %[[ALPHA]] : !torch.vtensor<[64],f32>,
    %3 = torch.aten.add.Tensor %h, %s, %third : !h, !s, !torch.float -> !h
    return %0, %1, %2, %3 : !h, !b, !h, !h
  }
  // CHECK: func.func private @forward_region_1(
  func.func private @forward_region_1(%h: !h, %x: !x, %s: !s) -> (!h, !x) attributes {dovetail.role = "region"} {
    %tiny = torch.constant.float 1.0e-09
    %half = torch.constant.float 0.5
    %one = torch.constant.int 1
    // CHECK-NOT: _to_copy
    // COM: A half holds 0.5. What is added is rounded by ATen, too, and so is what is multiplied, on the left.
    %0 = torch.aten.mul.Scalar %h, %half : !h, !torch.float -> !h
    %1 = torch.aten.add.Scalar %0, %tiny, %one : !h, !torch.float, !torch.int -> !h
    %2 = torch.aten.mul.Tensor %s, %1 : !s, !h -> !h
    %3 = torch.aten.sub.Tensor %2, %1, %one : !h, !h, !torch.int -> !h
    // COM: float32 needs nothing.
    %4 = torch.aten.mul.Scalar %x, %tiny : !x, !torch.float -> !x
    // CHECK: return
    return %3, %4 : !h, !x
  }
}
