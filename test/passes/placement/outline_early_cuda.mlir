// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='place-ops,outline-regions' | FileCheck %s --check-prefix=LATE
// RUN: sed 's/256/2560/g' %s | dovetail-opt - --pass-pipeline='place-ops,outline-regions' | FileCheck %s --check-prefix=LATE
//
// Catches a launch of its own for each bias that autocast converts: on a GPU, small ones are converted together, before
// anything else. Large ones, and all on a CPU, are converted where they are used, and die young.

!v = !torch.vtensor<[256,256],f32>
!h = !torch.vtensor<[256,256],bf16>
!r = !dovetail.ref<!v, strided<[256, 1]>>
!rh = !dovetail.ref<!h, strided<[256, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rh, %a: !r, %b: !r) -> !rh attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %a, %b) : (!rh, !r, !r) -> !rh
    return %0 : !rh
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[BOTH:.*]]:2 = call @forward_region_0(
  // CHECK: torch.operator "torch.aten.mm"({{.*}}, %[[BOTH]]#0)
  // CHECK: torch.operator "torch.aten.mm"({{.*}}, %[[BOTH]]#1)
  // LATE-LABEL: func.func @forward(
  // LATE: %[[ONE:.*]] = call @forward_region_0(
  // LATE: %[[M:.*]] = torch.operator "torch.aten.mm"({{.*}}, %[[ONE]])
  // LATE: call @forward_region_1(
  func.func @forward(%x: !rh, %a: !r, %b: !r) -> !rh attributes {dovetail.role = "forward"} {
    %int15 = torch.constant.int 15
    %false = torch.constant.bool false
    %none = torch.constant.none
    %0 = "dovetail.read"(%x) : (!rh) -> !h
    %1 = "dovetail.read"(%a) : (!r) -> !v
    %2 = "dovetail.read"(%b) : (!r) -> !v
    %3 = torch.aten._to_copy %1, %int15, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %4 = torch.aten._to_copy %2, %int15, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %5 = torch.aten.mm %0, %3 : !h, !h -> !h
    %6 = torch.aten.relu %5 : !h -> !h
    %7 = torch.aten.mm %6, %4 : !h, !h -> !h
    %8 = "dovetail.own"(%7) {requires_grad = false} : (!h) -> !rh
    return %8 : !rh
  }
}
