// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=JOINT
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=split}' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=SPLIT
//
// Catches a misspelt policy, and one that comes too late, which would both be ignored in silence.

// JOINT: loc("{{.*}}check_recompute.mlir":[[# @LINE + 6]]:10): 'torch.aten.exp' op expects 'dovetail.recompute' to be one of "must_recompute", "prefer_recompute", "must_save", "prefer_save", got "always"
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.recompute = "always"} : !v -> !v
    return
  }
}

// -----

// SPLIT: loc("{{.*}}check_recompute.mlir":[[# @LINE + 9]]:10): 'torch.aten.exp' op in '@forward' expects no 'dovetail.recompute', which is for torch ops of '@joint'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) {
    return
  }
  func.func @forward(%x: !r) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.recompute = "must_save"} : !v -> !v
    return
  }
}
