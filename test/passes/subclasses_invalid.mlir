// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics | FileCheck %s
//
// Catches wrapper subclasses that are said in a way that can't be made, and that fail in the user's call.

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op 'dovetail.arguments' expects each position from 0 to 0 once, got {{\[}}1]
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [{attributes = ["a"], class = "t:T", context = "None", parts = [1], size = [4], stride = [1]}], dovetail.results = [0]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op 'dovetail.results' expects each position from 0 to 0 once, got {{\[}}0, 0]
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [0, {attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op expects both 'dovetail.arguments' and 'dovetail.results', or none of them
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op expects 'dovetail.results' to be an array, got 0 : i64
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = 0} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op 'dovetail.arguments' expects positions and wrapped tensors, got a reference
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [{argument = 0}, 0], dovetail.results = [0]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op 'dovetail.results' refers to argument 1, expected one of 1
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{argument = 1}, 0]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op 'dovetail.results' refers to result 0, expected one before result 0
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{result = 0}, 0]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op expects a position or a wrapped tensor, got "x"
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = ["x"]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op a wrapped tensor expects attributes, class, context, parts, size, stride, versions, got class
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{class = "t:T"}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op a wrapped tensor expects 'size' to be a tuple, got 4
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = 4, stride = [1]}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op t:T expects one part for each of its attributes ('a', 'b')
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a", "b"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op t:T expects one stride a size, got (4,) and (1, 1)
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1, 1]}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op expects a class as 'module:name', got 'T'
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "T", context = "None", parts = [0], size = [4], stride = [1]}]} {
    return %x : !r
  }
}

// -----

// CHECK: loc("{{.*}}subclasses_invalid.mlir":[[# @LINE + 4]]:3): 'func.func' op t:T expects a Python literal as its context, got f(1)
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "f(1)", parts = [0], size = [4], stride = [1]}]} {
    return %x : !r
  }
}
