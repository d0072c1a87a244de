// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches a pass that leaves the wrong language behind and is believed, and a malformed module that ends in a Python
// error.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
// expected-error @below {{'builtin.module' op expects 'dovetail.level' to be "joint", got "split"}}
module attributes {dovetail.level = "split"} {
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.level' to be "joint", got none}}
module {}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.level' to be "joint", got 1 : i64}}
module attributes {dovetail.level = 1} {}

// -----

// expected-error @below {{'builtin.module' op expects a function of 'dovetail.role' "joint" at level 'joint'}}
module attributes {dovetail.level = "joint"} {
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    return
  }
  // expected-error @below {{'func.func' op '@helper' expects 'dovetail.role' to be "joint", "border", "guard", "region", "subgraph" or "layouts", got none}}
  func.func @helper() {
    return
  }
}

// -----

module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op '@joint' expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  func.func @joint(%x: !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>) attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op '@joint' expects a body of one block, got 0 blocks}}
  func.func private @joint(!r) attributes {dovetail.role = "joint"}
}

// -----

module attributes {dovetail.level = "joint"} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    // expected-error @below {{'dovetail.alloc' op has no place in '@joint' at level 'joint'}}
    %0 = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    // expected-error @below {{'builtin.unrealized_conversion_cast' op has no place in '@joint', expected an op of dovetail, torch, func}}
    %0 = builtin.unrealized_conversion_cast %x : !r to !v
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects 'dovetail.apart' of argument 0 to be a number, got unit}}
  func.func private @guard(!r {dovetail.name = "x", dovetail.apart}) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  func.func @joint(%x: !r) attributes {dovetail.role = "joint"} {
    call @guard(%x) : (!r) -> ()
    return
  }
}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.target' to be "cpu" or "cuda:sm_80" or "cuda:sm_89" or "cuda:sm_90", got "cuda:sm_12"}}
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_12"} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.target' to be "cpu" or "cuda:sm_80" or "cuda:sm_89" or "cuda:sm_90", got 1 : i64}}
module attributes {dovetail.level = "joint", dovetail.target = 1} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.tf32' to be a unit of a module for a GPU, got unit}}
module attributes {dovetail.level = "joint", dovetail.tf32} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

// expected-error @below {{'builtin.module' op expects 'dovetail.tf32' to be a unit of a module for a GPU, got true}}
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.tf32 = true} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}
