// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=program}' --split-input-file --verify-diagnostics
//
// Catches a gather in a region whose indices may be out of range: compiled code reads whatever lies there, where ATen raises.
// What computes them is followed; what a region is given may be anything.

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %m = torch.aten.mul.Scalar %c, %5 : !i, !torch.int -> !i
    %n = torch.aten.clamp %m, %0, %5 : !i, !torch.int, !torch.int -> !i
    %out = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %n = torch.aten.clamp %i, %0, %5 : !i, !torch.int, !torch.int -> !i
    %out = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.index_select' op gathers in a region, unchecked: expected indices that surely lie from 0 to 7, got such from -2147483648 to 2147483647}}
    %out = torch.aten.index_select %x, %1, %i : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %m = torch.aten.add.Scalar %c, %2, %1 : !i, !torch.int, !torch.int -> !i
    %n = torch.aten.add.Scalar %m, %1, %1 : !i, !torch.int, !torch.int -> !i
    // expected-error @below {{'torch.aten.index_select' op gathers in a region, unchecked: expected indices that surely lie from 0 to 7, got such from 3 to 8}}
    %out = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %m = torch.aten.sub.Tensor %c, %c, %1 : !i, !i, !torch.int -> !i
    // expected-error @below {{'torch.aten.index_select' op gathers in a region, unchecked: expected indices that surely lie from 0 to 7, got such from -5 to 5}}
    %out = torch.aten.index_select %x, %1, %m : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %l = torch.prim.ListConstruct : () -> !torch.list<int>
    %far = torch.constant.int 32
    %b = torch.aten.full %l, %far, %3, %none, %none, %false : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !s
    %m = torch.aten.bitwise_right_shift.Tensor %c, %b : !i, !s -> !i
    %n = torch.aten.clamp %m, %0, %5 : !i, !torch.int, !torch.int -> !i
    // expected-error @below {{'torch.aten.index_select' op gathers in a region, unchecked: expected indices that surely lie from 0 to 7, got some of which nothing is known}}
    %out = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    // expected-error @below {{'torch.aten.index_select' op gathers in a region, expected it along dimension 1 of three of known sizes}}
    %out = torch.aten.index_select %x, %2, %c : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !torch.vtensor<[2,7,4],f32> attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    // expected-error @below {{'torch.aten.index_select' op gathers '!torch.vtensor<[2,7,4],f32>' in a region, expected a result of the shape of its operands}}
    %out = torch.aten.index_select %x, %1, %c : !x, !torch.int, !i -> !torch.vtensor<[2,7,4],f32>
    return %out : !torch.vtensor<[2,7,4],f32>
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cpu"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    // expected-error @below {{'torch.aten.index_select' op has no place in a region, which IREE compiles}}
    %out = torch.aten.index_select %x, %1, %c : !x, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !torch.vtensor<[2,6,4],si64>) -> !o attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers in a region, expected it along dimension 1 of two of known sizes}}
    %out = torch.aten.gather %x, %1, %i, %false : !x, !torch.int, !torch.vtensor<[2,6,4],si64>, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!s = !torch.vtensor<[],si32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !torch.vtensor<[2,6,4],si64>, %y: !o) -> !x attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.scatter_add' op has no place in a region, which IREE compiles}}
    %out = torch.aten.scatter_add %x, %1, %i, %y : !x, !torch.int, !torch.vtensor<[2,6,4],si64>, !o -> !x
    return %out : !x
  }
}

// -----

!x = !torch.vtensor<[4,8],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cpu"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op has no place in a region, which IREE compiles}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,8],f32>
!i = !torch.vtensor<[4,1],si32>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers float32 by int32 in a region, expected float32 or float16 or bfloat16 by int64}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,8],f64>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f64>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers float64 by int64 in a region, expected float32 or float16 or bfloat16 by int64}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,8],f32>
!i = !torch.vtensor<[3,1],si64>
!o = !torch.vtensor<[3,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers '!torch.vtensor<[3,1],f32>' in a region, expected one number of each of 4 rows that have some}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,0],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers '!torch.vtensor<[4,1],f32>' in a region, expected one number of each of 4 rows that have some}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,?],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 1
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers in a region, expected it along dimension 1 of two of known sizes}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,8],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 0
    %false = torch.constant.bool false
    // expected-error @below {{'torch.aten.gather' op gathers in a region, expected it along dimension 1 of two of known sizes}}
    %out = torch.aten.gather %x, %dim, %i, %false : !x, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,8],f32>
!s = !torch.vtensor<[4,7],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dim = torch.constant.int 1
    %end = torch.constant.int 7
    %false = torch.constant.bool false
    %part = torch.aten.slice.Tensor %x, %dim, %zero, %end, %dim : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    // expected-error @below {{'torch.aten.gather' op gathers from a part of a tensor in a region, expected one that lies row by row in memory}}
    %out = torch.aten.gather %part, %dim, %i, %false : !s, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[4,?],f32>
!s = !torch.vtensor<[4,7],f32>
!i = !torch.vtensor<[4,1],si64>
!o = !torch.vtensor<[4,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dim = torch.constant.int 1
    %end = torch.constant.int 7
    %false = torch.constant.bool false
    %part = torch.aten.slice.Tensor %x, %dim, %zero, %end, %dim : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    // expected-error @below {{'torch.aten.gather' op gathers from a part of a tensor in a region, expected one that lies row by row in memory}}
    %out = torch.aten.gather %part, %dim, %i, %false : !s, !torch.int, !i, !torch.bool -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,4,8],f32>
!s = !torch.vtensor<[2,3,8],f32>
!i = !torch.vtensor<[5],si64>
!o = !torch.vtensor<[2,5,8],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dim = torch.constant.int 1
    %end = torch.constant.int 3
    %last = torch.constant.int 2
    %safe = torch.aten.clamp %i, %zero, %last : !i, !torch.int, !torch.int -> !i
    %part = torch.aten.slice.Tensor %x, %dim, %zero, %end, %dim : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    // expected-error @below {{'torch.aten.index_select' op gathers from a part of a tensor in a region, expected one that lies row by row in memory}}
    %out = torch.aten.index_select %part, %dim, %safe : !s, !torch.int, !i -> !o
    return %out : !o
  }
}

// -----

!x = !torch.vtensor<[2,4,8],f32>
!s = !torch.vtensor<[2,3,8],f32>
!i = !torch.vtensor<[5],si64>
!o = !torch.vtensor<[2,5,8],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call() attributes {dovetail.role = "call"} {
    call @forward() : () -> ()
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  func.func private @region(%x: !x, %i: !i) -> !o attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dim = torch.constant.int 1
    %end = torch.constant.int 3
    %last = torch.constant.int 2
    %safe = torch.aten.clamp %i, %zero, %last : !i, !torch.int, !torch.int -> !i
    %part = torch.aten.slice.Tensor %x, %dim, %zero, %end, %dim : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %none = torch.constant.none
    %copy = torch.aten.clone %part, %none : !s, !torch.none -> !s
    // expected-error @below {{'torch.aten.index_select' op gathers from a part of a tensor in a region, expected one that lies row by row in memory}}
    %out = torch.aten.index_select %copy, %dim, %safe : !s, !torch.int, !i -> !o
    return %out : !o
  }
}
