// RUN: dovetail-opt %s --pin-compared-values | FileCheck %s
//
// Catches a maximum that is taken of one computation of a value and compared with another; and pins that cost memory
// for nothing: of what gives the same bits everywhere, of what a comparison meets once, and of what a sum blended.

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!s = !torch.vtensor<[],f32>
!b = !torch.vtensor<[2,2],i1>
!l = !torch.list<int>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rb = !dovetail.ref<!b, strided<[2, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r, %z: !r) -> (!rb, !rb, !rb, !rb, !rb, !rb, !rb) attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !l
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%z) : (!r) -> !v

    // COM: The comparison comes from the tangent's inverse by two ways, through a view on one of them.
    // CHECK: torch.aten.tan %{{[0-9]+}} :
    // CHECK: torch.aten.atan %{{.*}} {dovetail.pinned}
    // CHECK: torch.aten.amax %{{[^{]*$}}
    %2 = torch.aten.tan %0 : !v -> !v
    %3 = torch.aten.atan %2 : !v -> !v
    %4 = torch.aten.amax %3, %dim, %true : !v, !l, !torch.bool -> !c
    %5 = torch.aten.transpose.int %3, %zero, %one : !v, !torch.int, !torch.int -> !v
    %6 = torch.aten.eq.Tensor %5, %4 : !v, !c -> !b

    // COM: Not the argument, nor the absolute values, which are the same wherever they are computed.
    // CHECK: torch.aten.abs %{{[0-9]+}} :
    %7 = torch.aten.abs %1 : !v -> !v
    %8 = torch.aten.amin %7, %dim, %true : !v, !l, !torch.bool -> !c
    %9 = torch.aten.eq.Tensor %7, %8 : !v, !c -> !b

    // COM: Only one way.
    // CHECK: torch.aten.exp %{{[0-9]+}} :
    %10 = torch.aten.exp %0 : !v -> !v
    %11 = torch.aten.le.Scalar %10, %zero : !v, !torch.int -> !b

    // COM: No element of a value is a sum of its elements.
    // CHECK: torch.aten.expm1 %{{[0-9]+}} :
    %12 = torch.aten.expm1 %0 : !v -> !v
    %13 = torch.aten.sum.dim_IntList %12, %dim, %true, %none : !v, !l, !torch.bool, !torch.none -> !c
    %14 = torch.aten.eq.Tensor %12, %13 : !v, !c -> !b

    // COM: Nor is a product one of its factors.
    // CHECK: torch.aten.log %{{[0-9]+}} :
    %15 = torch.aten.log %1 : !v -> !v
    %16 = torch.aten.sigmoid %15 : !v -> !v
    %17 = torch.aten.mul.Tensor %15, %16 : !v, !v -> !v
    %18 = torch.aten.gt.Scalar %17, %zero : !v, !torch.int -> !b

    // COM: A difference is zero where both are equal; the product would be fused with it.
    // CHECK: torch.aten.mul.Tensor %{{.*}} {dovetail.pinned}
    // CHECK: torch.aten.sub.Tensor %{{[^{]*$}}
    %19 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %20 = torch.aten.amax %19, %dim, %true : !v, !l, !torch.bool -> !c
    %21 = torch.aten.sub.Tensor %19, %20, %one : !v, !c, !torch.int -> !v
    %22 = torch.aten.ge.Scalar %21, %zero : !v, !torch.int -> !b

    // COM: Two results of one op are two values.
    // CHECK: torch.aten.var_mean.correction %{{[^{]*$}}
    %23:2 = torch.aten.var_mean.correction %1, %dim, %one, %true : !v, !l, !torch.int, !torch.bool -> !c, !c
    %24 = torch.aten.sub.Tensor %23#0, %23#1, %one : !c, !c, !torch.int -> !c
    %25 = torch.aten.ge.Tensor %24, %0 : !c, !v -> !b

    %a = "dovetail.own"(%6) {requires_grad = false} : (!b) -> !rb
    %b = "dovetail.own"(%9) {requires_grad = false} : (!b) -> !rb
    %c = "dovetail.own"(%11) {requires_grad = false} : (!b) -> !rb
    %d = "dovetail.own"(%14) {requires_grad = false} : (!b) -> !rb
    %e = "dovetail.own"(%18) {requires_grad = false} : (!b) -> !rb
    %f = "dovetail.own"(%22) {requires_grad = false} : (!b) -> !rb
    %g = "dovetail.own"(%25) {requires_grad = false} : (!b) -> !rb
    return %a, %b, %c, %d, %e, %f, %g : !rb, !rb, !rb, !rb, !rb, !rb, !rb
  }
}
