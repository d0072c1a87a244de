// RUN: dovetail-opt %s --pass-pipeline='verify-level,drop-redundant-copies,merge-equal-values,verify-level' | FileCheck %s --check-prefix=JOINT
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,merge-equal-values,partition,verify-level{level=split},plan-epilogue' | FileCheck %s --check-prefix=SPLIT
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,merge-equal-values,partition,verify-level{level=split},plan-epilogue,state-border,place-ops,outline-regions,verify-level{level=program}' -o %t
// RUN: FileCheck %s --check-prefix=PROGRAM < %t
// RUN: dovetail-opt %s --pass-pipeline=compile -o %t.regions
// RUN: FileCheck %s --check-prefix=REGIONS < %t.regions
// RUN: dovetail-opt %t --pass-pipeline='call-small-regions,lower-regions,prove-in-place,limit-regions,choose-drivers,plan-memory,verify-memory,state-replay,verify-level{level=regions}' | diff %t.regions -
// RUN: dovetail-opt %s --pass-pipeline='builtin.module(compile{partition=default})' --run-check | FileCheck %s --check-prefix=ALL
//
// Catches a pipeline whose passes don't fit together: a layer that updates a running statistic and is trained, at each
// level. Also that the text between two levels holds everything: going on from it gives the same module.

!m = !torch.vtensor<[2,4],f32>
!rm = !dovetail.ref<!m, strided<[4, 1]>>
!w = !torch.vtensor<[4,4],f32>
!rw = !dovetail.ref<!w, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // JOINT-LABEL: func.func @joint(
  // JOINT-NOT: torch.aten.clone
  // JOINT: torch.aten.mm
  // JOINT: torch.aten.tanh
  // JOINT-NOT: torch.aten.tanh
  // JOINT: "dovetail.write"
  // JOINT: %[[O:.*]] = "dovetail.own"
  // JOINT: "dovetail.tangent"(%[[O]])
  // JOINT: "dovetail.gradient"

  // SPLIT: module attributes {dovetail.level = "split"}
  // SPLIT-LABEL: func.func @call(
  // SPLIT: %[[R:.*]]:2 = call @apply(
  // SPLIT: "dovetail.write"(%[[R]]#1,
  // SPLIT: return %[[R]]#0
  // SPLIT-LABEL: func.func @forward(
  // SPLIT: torch.aten.mm
  // SPLIT: torch.aten.tanh
  // SPLIT-LABEL: func.func @backward(
  // SPLIT: torch.aten.tanh_backward
  // SPLIT: torch.aten.mm

  // PROGRAM: module attributes {dovetail.level = "program"}
  // PROGRAM-LABEL: func.func @forward(
  // PROGRAM: %[[MM:.*]] = torch.operator "torch.aten.mm"({{.*}}) {dovetail.reason = "library kernel: contraction"}
  // PROGRAM: call @forward_region_{{[0-9]+}}({{.*}}%[[MM]]{{.*}})
  // PROGRAM-LABEL: func.func @backward(
  // PROGRAM: %[[G:.*]] = call @backward_region_{{[0-9]+}}(
  // PROGRAM: torch.operator "torch.aten.mm"(%{{.*}}, %[[G]])
  // PROGRAM: func.func private @forward_region_
  // PROGRAM: torch.aten.tanh
  // PROGRAM: func.func private @backward_region_
  // PROGRAM: torch.aten.tanh_backward

  // REGIONS: module attributes {dovetail.level = "regions"}
  // REGIONS-LABEL: func.func @forward(
  // REGIONS: %[[D:.*]] = "dovetail.alloc"
  // REGIONS: call @forward_region_{{[0-9]+}}({{.*}}%[[D]]{{.*}}) : ({{.*}}) -> ()
  // REGIONS: torch.copy.to_vtensor %[[D]]
  // REGIONS: func.func private @forward_region_
  // REGIONS: torch.overwrite.tensor.contents

  // ALL: module attributes {dovetail.level = "regions"}
  func.func @joint(%x: !rm, %w: !rw {dovetail.requires_grad, dovetail.static}, %running: !rm {dovetail.static}) -> !rm attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rm) -> !m
    %1 = "dovetail.read"(%w) : (!rw) -> !w
    %2 = "dovetail.read"(%running) : (!rm) -> !m
    %3 = torch.aten.mm %0, %1 : !m, !w -> !m
    %4 = torch.aten.tanh %3 : !m -> !m
    %5 = torch.aten.clone %3, %none : !m, !torch.none -> !m
    %6 = torch.aten.tanh %5 : !m -> !m
    %7 = torch.aten.add.Tensor %2, %6, %one : !m, !m, !torch.int -> !m
    "dovetail.write"(%7, %running) {mode = "no_grad"} : (!m, !rm) -> ()
    %o = "dovetail.own"(%4) {requires_grad = true} : (!m) -> !rm
    %t = "dovetail.tangent"(%o) : (!rm) -> !rm
    %8 = "dovetail.read"(%t) : (!rm) -> !m
    %9 = torch.aten.tanh_backward %8, %4 : !m, !m -> !m
    %10 = torch.aten.transpose.int %0, %zero, %one : !m, !torch.int, !torch.int -> !torch.vtensor<[4,2],f32>
    %11 = torch.aten.mm %10, %9 : !torch.vtensor<[4,2],f32>, !m -> !w
    "dovetail.gradient"(%11, %w) : (!w, !rw) -> ()
    return %o : !rm
  }
}
