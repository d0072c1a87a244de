// RUN: dovetail-opt %s --pass-pipeline='eliminate-dead-writes,partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='eliminate-dead-writes,partition' --run-check -o %t
//
// Catches a backward that raises though eager's does not: `x.mul_(1); return x * w` saves x after its version moved, the
// compiled forward before; what is only touched is therefore saved as a copy.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @call(
  // CHECK: "dovetail.touch"(%{{.*}}) {versions = 1 : i64}
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"(%{{.*}})
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[X]])
  // CHECK: return %{{.*}}, %[[COPY]]
  func.func @joint(%x: !r {dovetail.watched = array<i64: 0>}, %w: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %3 = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    %4 = "dovetail.tangent"(%3) : (!r) -> !r
    %5 = "dovetail.read"(%4) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %0 : !v, !v -> !v
    "dovetail.gradient"(%6, %w) : (!v, !r) -> ()
    return %3 : !r
  }
}
