// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='place-ops,outline-regions' | FileCheck %s --check-prefix=SOON
// RUN: sed 's/256/2560/g' %s | dovetail-opt - --pass-pipeline='place-ops,outline-regions' | FileCheck %s --check-prefix=SOON
//
// Catches a launch of its own for each gradient that autocast converts back: on a GPU, those of some megabytes are
// converted together, after all else. Large ones, and all on a CPU, are converted at once, so that what is converted dies.

!v = !torch.vtensor<[256,256],f32>
!h = !torch.vtensor<[256,256],bf16>
!r = !dovetail.ref<!v, strided<[256, 1]>>
!rh = !dovetail.ref<!h, strided<[256, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rh, %y: !rh) -> !rh attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!rh, !rh) -> !rh
    return %0 : !rh
  }
  func.func private @apply(!rh, !rh) -> !rh attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
  func.func @forward(%x: !rh, %y: !rh) -> (!rh, !h {dovetail.saved = "private"}, !h {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rh) -> !h
    %1 = "dovetail.read"(%y) : (!rh) -> !h
    %2 = torch.aten.mm %0, %1 : !h, !h -> !h
    %3 = "dovetail.own"(%2) {requires_grad = true} : (!h) -> !rh
    return %3, %0, %1 : !rh, !h, !h
  }
  // CHECK-LABEL: func.func @backward(
  // CHECK: %[[ONE:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[MIDDLE:.*]] = call @backward_region
  // CHECK: %[[TWO:.*]] = torch.operator "torch.aten.mm"(%[[MIDDLE]],
  // CHECK: %[[BOTH:.*]]:2 = call @backward_region{{.*}}(%[[ONE]], %[[TWO]])
  // CHECK: return %[[BOTH]]#0, %[[BOTH]]#1
  // SOON-LABEL: func.func @backward(
  // SOON: %[[ONE:.*]] = torch.operator "torch.aten.mm"
  // SOON: call @backward_region{{.*}}%[[ONE]]
  // SOON: torch.operator "torch.aten.mm"
  // SOON: call @backward_region
  func.func @backward(%a: !h, %b: !h, %g: !rh {dovetail.tangent_of = 0 : i64}) -> (!v, !v) attributes {dovetail.role = "backward"} {
    %int6 = torch.constant.int 6
    %false = torch.constant.bool false
    %none = torch.constant.none
    %0 = "dovetail.read"(%g) : (!rh) -> !h
    %1 = torch.aten.mm %a, %0 : !h, !h -> !h
    %2 = torch.aten._to_copy %1, %int6, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %3 = torch.aten.mm %0, %b : !h, !h -> !h
    %4 = torch.aten.relu %3 : !h -> !h
    %5 = torch.aten.mm %4, %0 : !h, !h -> !h
    %6 = torch.aten._to_copy %5, %int6, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    return %2, %6 : !v, !v
  }
}
