// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=split}' --split-input-file --verify-diagnostics
//
// Catches a misspelt policy, and one that comes too late, which would both be ignored in silence.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'torch.aten.exp' op in '@forward' expects no 'dovetail.recompute', which is for torch ops of '@joint'}}
    %1 = torch.aten.exp %0 {dovetail.recompute = "must_save"} : !v -> !v
    return
  }
}
