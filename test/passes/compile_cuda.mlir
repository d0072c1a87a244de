// RUN: dovetail-opt %s --pass-pipeline=compile | FileCheck %s
//
// Catches a pass that knows the CPU alone: a module for a GPU has the same levels, on any machine, but its regions have
// no driver of IREE's, since there only a plan runs them.

// CHECK: module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"}
// CHECK: call @forward_region_0(
// CHECK: func.func private @forward_region_0({{.*}}) attributes {dovetail.role = "region"} {
// CHECK: torch.aten.tanh
!m = !torch.vtensor<[2,4],f32>
!rm = !dovetail.ref<!m, strided<[4, 1]>>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  func.func @joint(%x: !rm) -> !rm attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rm) -> !m
    %1 = torch.aten.tanh %0 : !m -> !m
    %2 = torch.aten.add.Tensor %0, %1, %one : !m, !m, !torch.int -> !m
    %o = "dovetail.own"(%2) {requires_grad = false} : (!m) -> !rm
    return %o : !rm
  }
}

// RUN: not dovetail-opt %s --pass-pipeline='compile,choose-variant{regions=forward_region_0 driver=local-sync},verify-level{level=regions}' 2>&1 | FileCheck %s --check-prefix=DRIVER
// DRIVER: expects no 'dovetail.driver' on a GPU, got "local-sync"
