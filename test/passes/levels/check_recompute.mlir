// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches a misspelt policy, and one that comes too late, which would both be ignored in silence.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'torch.aten.exp' op expects 'dovetail.recompute' to be one of "must_recompute", "prefer_recompute", "must_save", "prefer_save", got "always"}}
    %1 = torch.aten.exp %0 {dovetail.recompute = "always"} : !v -> !v
    return
  }
}
