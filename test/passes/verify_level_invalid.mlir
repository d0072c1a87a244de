// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=JOINT
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=program}' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=PROGRAM
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=regions}' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=REGIONS
//
// Catches a pass that leaves the wrong language behind and is believed, and a malformed module that ends in a Python
// error. Each run reads all modules and looks for its own level's messages, in order.

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 3]]:1): 'builtin.module' op expects 'dovetail.level' to be "joint", got "split"
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "split"} {
  func.func @joint(%x: !r) {
    return
  }
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 1]]:1): 'builtin.module' op expects 'dovetail.level' to be "joint", got none
module {}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 1]]:1): 'builtin.module' op expects 'dovetail.level' to be "joint", got 1 : i64
module attributes {dovetail.level = 1} {}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 1]]:1): 'builtin.module' op expects a function '@joint' at level 'joint'
module attributes {dovetail.level = "joint"} {
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 7]]:3): 'func.func' op '@helper' has no place at level 'joint', expected @joint
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) {
    return
  }
  func.func @helper() {
    return
  }
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 2]]:3): 'func.func' op '@joint' expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>) {
    return
  }
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op '@joint' expects a body of one block, got 0 blocks
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @joint(!r)
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 3]]:10): 'dovetail.alloc' op has no place in '@joint' at level 'joint'
module attributes {dovetail.level = "joint"} {
  func.func @joint() {
    %0 = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    return
  }
}

// -----

// JOINT: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 5]]:10): 'builtin.unrealized_conversion_cast' op has no place in '@joint', expected an op of dovetail, torch, func
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) {
    %0 = builtin.unrealized_conversion_cast %x : !r to !v
    return
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 10]]:10): 'torch.aten.exp' op computes in '@forward' at level 'program', expected a call or a view
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 11]]:5): 'dovetail.write' op has no place in '@forward' at level 'program'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    "dovetail.write"(%0, %x) {mode = "hidden"} : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 14]]:10): 'dovetail.alloc' op has no place in a region, which IREE compiles
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r() attributes {dovetail.region} {
    %0 = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    return
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 14]]:10): 'torch.operator' op has no place in a region, which IREE compiles
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v) attributes {dovetail.region} {
    %0 = torch.operator "torch.aten.sinc"(%x) {dovetail.reason = "no rule"} : (!v) -> !v
    return
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 13]]:3): 'func.func' op '@r' is a region, it expects values and memory, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !r) attributes {dovetail.region} {
    return
  }
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 13]]:3): 'func.func' op expects 'dovetail.forward' and 'dovetail.backward', got no 'dovetail.backward'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward}
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 13]]:3): 'func.func' op refers to '@backward', which is not defined
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 17]]:3): 'func.func' op expects its forward to take and return first what it does, got (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> 
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r) -> !v {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 17]]:3): 'func.func' op expects its backward to take the 0 saved values first and return 2 gradients, got 
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @forward(%x, %x) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r, %y: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r) -> !v {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// PROGRAM: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 17]]:3): 'func.func' op expects its backward to take the 1 saved values first and return 1 gradients, got 
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> (!r, !v) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%t: !r) -> !v {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// REGIONS: loc("{{.*}}verify_level_invalid.mlir":[[# @LINE + 5]]:10): 'dovetail.own' op has no place in '@call' at level 'regions'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !v) -> !r {
    %0 = "dovetail.own"(%x) {requires_grad = false} : (!v) -> !r
    return %0 : !r
  }
}

// -----

// REGIONS: 'func.func' op expects 'dovetail.mutated' to be 0 to 2 of its arguments, got 3 : i64
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 3}
  func.func @call(%x: !r, %y: !r) {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

// REGIONS: 'func.func' op expects argument 1 to be a ref with a 'dovetail.name', got '!dovetail.ref<{{.*}}>'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func private @guard(!r {dovetail.name = "x"}, !r) attributes {dovetail.mutated = 1}
  func.func @call(%x: !r, %y: !r) {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

// REGIONS: 'func.func' op expects argument 1 to have 'dovetail.group', 'dovetail.start', 'dovetail.root' and 'dovetail.object' together, got dovetail.group, dovetail.start
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func private @guard(!r {dovetail.name = "x", dovetail.group = 0, dovetail.start = 0, dovetail.root = 0, dovetail.object = 0},
                           !r {dovetail.name = "y", dovetail.group = 0, dovetail.start = 4}) attributes {dovetail.mutated = 1}
  func.func @call(%x: !r, %y: !r) {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

// REGIONS: 'func.func' op expects result 1 to have 'dovetail.saved', "checked" or "private", got none
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> (!r, !v) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0}) -> !v {
    return %s : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// REGIONS: 'func.func' op expects result 1 to have 'dovetail.saved', "checked" or "private", got "shared"
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "shared"}) {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0}) -> !v {
    return %s : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// REGIONS: 'func.func' op expects argument 0 to have 'dovetail.tangent_of', one of the 1 results, got none
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r) -> !v {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}

// -----

// REGIONS: 'func.func' op expects argument 0 to have 'dovetail.tangent_of', one of the 1 results, got 1 : i64
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r {dovetail.tangent_of = 1}) -> !v {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward}
}
