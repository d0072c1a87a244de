// Would catch memory on a device that no program for the CPU can use, and a second way to say that it is on the CPU.
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics

!r = !dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{names the device "cuda:0", expected none at target "cpu"}}
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!s = !dovetail.ref<!v, #dovetail.layout<strided<[1]>, "cpu">>
module attributes {dovetail.level = "joint", dovetail.target = "cpu"} {
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{names the device "cpu", expected none at target "cpu"}}
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !s
    return
  }
}
