// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches wrapper subclasses that are said in a way that can't be made, and that fail in the user's call.

!v = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op t:T expects its sizes and strides to be numbers, or by symbols that the function takes, got s1}}
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0)>}) -> !r attributes {dovetail.arguments = [0, {attributes = ["a"], class = "t:T", context = "None", parts = [1], size = affine_map<()[s0, s1] -> (s1)>, stride = [1]}], dovetail.results = [0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op 'dovetail.arguments' expects each position from 0 to 0 once, got [1]}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [{attributes = ["a"], class = "t:T", context = "None", parts = [1], size = [4], stride = [1]}], dovetail.results = [0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op 'dovetail.results' expects each position from 0 to 0 once, got [0, 0]}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [0, {attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects both 'dovetail.arguments' and 'dovetail.results', or none of them}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects 'dovetail.results' to be an array, got 0 : i64}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = 0, dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op 'dovetail.arguments' expects positions and wrapped tensors, got a reference}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [{argument = 0}, 0], dovetail.results = [0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op 'dovetail.results' refers to argument 1, expected one of 1}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{argument = 1}, 0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op 'dovetail.results' refers to result 0, expected one before result 0}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{result = 0}, 0], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects a position or a wrapped tensor, got "x"}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = ["x"], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op a wrapped tensor expects attributes, class, context, parts, size, stride, versions, got class}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{class = "t:T"}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op a wrapped tensor expects 'size' to be a tuple, got 4}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = 4, stride = [1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op t:T expects one part for each of its attributes ('a', 'b')}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a", "b"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op t:T expects one stride a size, got (4,) and (1, 1)}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1, 1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op expects a class as 'module:name', got 'T'}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // expected-error @below {{'func.func' op t:T expects a Python literal as its context, got f(1)}}
  func.func @joint(%x: !r) -> !r attributes {dovetail.arguments = [0], dovetail.results = [{attributes = ["a"], class = "t:T", context = "f(1)", parts = [0], size = [4], stride = [1]}], dovetail.role = "joint"} {
    return %x : !r
  }
}
