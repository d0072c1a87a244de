// Would catch a program for a GPU that may have no memory on the CPU or on another GPU, one that names its own device,
// and a region that is given a tensor which lies elsewhere.
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!s = !dovetail.ref<!v, #dovetail.layout<strided<[1]>, "cpu">>
!t = !dovetail.ref<!v, #dovetail.layout<strided<[1]>, "cuda:0">>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.device = "cuda:1"} {
  func.func @joint(%x: !r, %y: !s, %z: !t) attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

!t = !dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // expected-error @below {{names the device "cuda:0", expected "cpu" or another GPU than "cuda:0" at target "cuda:sm_90"}}
  func.func @joint(%x: !t) attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{expects 'dovetail.device' at target "cuda:sm_90" to be "cuda:1" or one with a larger number, got "cuda:0"}}
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.device = "cuda:0"} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{expects 'dovetail.device' at target "cpu" to be none, got "cuda:1"}}
module attributes {dovetail.level = "joint", dovetail.device = "cuda:1"} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}
