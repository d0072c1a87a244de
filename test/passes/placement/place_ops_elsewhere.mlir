// Would catch an op on the CPU, or one that takes a number from there, in a region of a GPU's; a number as a tensor that
// both the CPU and a region take; and a copy to another device that is dropped as one that changes nothing.
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,partition,place-ops' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,partition,place-ops,outline-regions,lower-regions,plan-memory,state-recordable,verify-memory,verify-level{level=regions}' | FileCheck %s --check-prefix=REGIONS
// RUN: dovetail-opt %s --pass-pipeline='compile' --run-check -o /dev/null

!v = !torch.vtensor<[4],f32>
!n = !torch.vtensor<[],f32>
!gpu = !dovetail.ref<!v, strided<[1]>>
!host = !dovetail.ref<!v, #dovetail.layout<strided<[1]>, "cpu">>
!number = !dovetail.ref<!n, #dovetail.layout<strided<[]>, "cpu">>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward
  // REGIONS-LABEL: func.func @forward
  func.func @joint(%x: !gpu, %y: !host, %scale: !number) -> (!gpu, !host, !gpu, !gpu) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!gpu) -> !v
    %1 = "dovetail.read"(%y) : (!host) -> !v
    %2 = "dovetail.read"(%scale) : (!number) -> !n
    // CHECK: torch.aten.exp %{{.*}} {dovetail.placement = "region"}
    %3 = torch.aten.exp %0 : !v -> !v
    // CHECK: torch.aten.exp %{{.*}} {dovetail.placement = "library", dovetail.placement_reason = "a tensor lies on cpu, regions run on cuda:0"}
    // REGIONS: torch.operator "torch.aten.exp"({{.*}}) {dovetail.not_recordable = "aten.exp.default makes a tensor on the CPU", dovetail.reason = "a tensor lies on cpu, regions run on cuda:0"}
    %4 = torch.aten.exp %1 : !v -> !v
    // CHECK: torch.aten.mul.Tensor %{{.*}} {dovetail.placement = "library"
    %5 = torch.aten.mul.Tensor %3, %2 : !v, !n -> !v
    %int1 = torch.constant.int 1
    %float2 = torch.constant.float 2.0
    // CHECK: torch.prim.NumToTensor.Scalar %{{.*}} {dovetail.placement = "region"}
    // CHECK: torch.prim.NumToTensor.Scalar %{{.*}} {dovetail.placement = "library", dovetail.placement_reason = "a number as a tensor, on the CPU"}
    %6 = torch.prim.NumToTensor.Scalar %float2 : !torch.float -> !n
    // CHECK: torch.aten.sub.Tensor %{{.*}} {dovetail.placement = "region"}
    // CHECK: torch.aten.sub.Tensor %{{.*}} {dovetail.placement = "library"
    %7 = torch.aten.sub.Tensor %6, %3, %int1 : !n, !v, !torch.int -> !v
    %8 = torch.aten.sub.Tensor %6, %4, %int1 : !n, !v, !torch.int -> !v
    %cuda = torch.constant.device "cuda:0"
    %int6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    // CHECK: torch.aten._to_copy %{{.*}} {dovetail.placement = "library"
    %9 = torch.aten._to_copy %8, %int6, %none, %cuda, %none, %false, %none : !v, !torch.int, !torch.none, !torch.Device, !torch.none, !torch.bool, !torch.none -> !v
    %a = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !gpu
    %b = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !host
    %c = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !gpu
    %d = "dovetail.own"(%9) {requires_grad = false} : (!v) -> !gpu
    return %a, %b, %c, %d : !gpu, !host, !gpu, !gpu
  }
}
