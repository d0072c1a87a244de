// RUN: dovetail-opt %s --split-input-file --verify-diagnostics | FileCheck %s
//
// Catches a verifier that lets malformed IR pass, that reports it at the wrong place or in other words, or that raises a
// Python exception on IR of a shape it did not expect. What IRDL itself checks says its own words.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.read"(%x) {kind = 1 : i64} : (!r) -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.read' op has no attribute 'kind', expected none

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {Mode = "hidden", mode = "hidden"} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op has no attribute 'Mode', expected 'mode' or 'versions'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [], stride = [], strides = []} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op has no attribute 'strides', expected 'size', 'stride', 'offset' or 'versions'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v) {mode = "hidden"} : (!v) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: op expects exactly 2 operands, but got 1

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.read"(%x) : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: op expects exactly 1 results, but got 0

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.reed"(%x) : (!r) -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: unregistered operation 'dovetail.reed' found in dialect ('dovetail') that does not allow unknown operations

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[]>>'

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[?]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[?]>>'

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[-1]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[-1]>>'

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1], offset: 2>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1], offset: 2>>'

// -----

!b = !dovetail.ref<!torch.vtensor<[?],f32>, strided<[1]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[?],f32>, strided<[1]>>'

// -----

!b = !dovetail.ref<!torch.tensor<[4],f32>, strided<[1]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.tensor<[4],f32>, strided<[1]>>'

// -----

!b = !dovetail.ref<i32, strided<[1]>>
func.func @f(%x: !b) {
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<i32, strided<[1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  %0 = "dovetail.read"(%x) : (!b) -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.read' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  "dovetail.write"(%v, %x) {mode = "hidden"} : (!v, !b) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  %0 = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.own' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!b) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.view' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = [1]} : (!b) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  "dovetail.gradient"(%v, %x) : (!v, !b) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.gradient' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  %0 = "dovetail.tangent"(%o) : (!r) -> !b
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.tangent' op expects a ref to a static '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'

// -----

func.func private @f(!dovetail.ref<!torch.vtensor<[4],f32>>)
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 1]]:32: expected 2 type arguments, but had 1

// -----

func.func private @f(!dovetail.ref<!torch.vtensor<[4],f32>, 3>)
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 1]]:32: expected base attribute 'builtin.strided_layout' but got 'builtin.integer'

// -----

func.func private @f(!dovetail.ref<3, strided<[1]>>)
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 1]]:32: expected base attribute 'builtin.type' but got 'builtin.integer'

// -----

func.func private @f(!dovetail.rex<!torch.vtensor<[4],f32>>)
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 1]]:32: expected dynamic type

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.read"(%x) : (!r) -> !torch.vtensor<[5],f32>
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.read' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[5],f32>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.read"(%v) : (!v) -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: expected base type 'dovetail.ref' but got 'torch.vtensor'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op attribute "mode" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = 1 : i64} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: expected base attribute 'builtin.string' but got 'builtin.integer'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "data"} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects 'mode' to be 'tracked', 'no_grad' or 'hidden', got 'data'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d, %x: !r) {
  "dovetail.write"(%d, %x) {mode = "hidden"} : (!d, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %v) {mode = "hidden"} : (!v, !v) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: expected base type 'dovetail.ref' but got 'torch.vtensor'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.own"(%v) : (!v) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.own' op attribute "requires_grad" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.own"(%v) {requires_grad = 1 : i64} : (!v) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.own' op expects 'requires_grad' to be true or false, got 1 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d) {
  %0 = "dovetail.own"(%d) {requires_grad = true} : (!d) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.own' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: expected base type 'dovetail.ref' but got 'torch.vtensor'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.view"(%x) {args = [], index = -1 : i64} : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.view' op attribute "callee" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.view"(%x) {args = "", callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: expected base attribute 'builtin.array' but got 'builtin.string'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!r64 = !dovetail.ref<!torch.vtensor<[4],f64>, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r64
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.view' op expects a view to keep the element type, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>' to '!dovetail.ref<!torch.vtensor<[4],f64>, strided<[1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!s = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[2]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.detach"(%x) : (!r) -> !s
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.detach' op expects result type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[2]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [1]} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op expects one stride a size, got 2 sizes and 1 strides

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [-4], stride = [1]} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op expects 'size' to hold integers from 0 up, got -4 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = ["1"]} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op expects 'stride' to hold integers from 0 up, got "1"

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {size = [4], stride = [1]} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op attribute "offset" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = "0", size = [4], stride = [1]} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: expected base attribute 'builtin.integer' but got 'builtin.string'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.tangent"(%x) : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.tangent' op expects the result of a 'dovetail.own', got a value of type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %d = "dovetail.detach"(%x) : (!r) -> !r
  %0 = "dovetail.tangent"(%d) : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.tangent' op expects the result of a 'dovetail.own', got a value of type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  %0 = "dovetail.tangent"(%o) : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.tangent' op expects an owned result with 'requires_grad = true'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!r5 = !dovetail.ref<!torch.vtensor<[5],f32>, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  %0 = "dovetail.tangent"(%o) : (!r) -> !r5
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.tangent' op expects a value of type '!torch.vtensor<[5],f32>' to match '!dovetail.ref<!torch.vtensor<[5],f32>, strided<[1]>>', got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %d = "dovetail.detach"(%x) : (!r) -> !r
  "dovetail.gradient"(%v, %d) : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.gradient' op expects an argument of the function, got the result of 'dovetail.detach'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d, %x: !r) {
  "dovetail.gradient"(%d, %x) : (!d, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.gradient' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f() {
  %0 = "dovetail.alloc"() : () -> !v
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.alloc' op expects a result of type '!torch.tensor' with static sizes, got '!torch.vtensor<[4],f32>'

// -----

func.func @f() {
  %0 = "dovetail.alloc"() : () -> !torch.tensor<[?],f32>
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.alloc' op expects a result of type '!torch.tensor' with static sizes, got '!torch.tensor<[?],f32>'

// -----

func.func @f() {
  %0 = "dovetail.alloc"() {zero} : () -> !torch.tensor<[4],f32>
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.alloc' op has no attribute 'zero', expected none

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "tracked", versions = 0 : i64} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects 'versions' to be an integer from 1 up, got 0 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "tracked", versions = "2"} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects 'versions' to be an integer from 1 up, got "2"

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "hidden", versions = 2 : i64} : (!v, !r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.write' op expects no 'versions' in mode 'hidden', got 2 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = [1], versions = 0 : i64} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_metadata' op expects 'versions' to be an integer from 1 up, got 0 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.touch"(%x) {versions = 0 : i64} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.touch' op expects 'versions' to be an integer from 1 up, got 0 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.touch"(%x) : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.touch' op attribute "versions" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.touch"(%x) {mode = "hidden", versions = 1 : i64} : (!r) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.touch' op has no attribute 'mode', expected 'versions'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.touch"(%v) {versions = 1 : i64} : (!v) -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: expected base type 'dovetail.ref' but got 'torch.vtensor'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", grad_mode = 1 : i64, index = -1 : i64} : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.view' op expects 'grad_mode' to be true or false, got 1 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64, mode = true} : (!r) -> !r
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:8: 'dovetail.view' op has no attribute 'mode', expected 'callee', 'args', 'index' or 'grad_mode'

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_grad_mode"() : () -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_grad_mode' op attribute "enabled" is expected but not provided

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_grad_mode"() {enabled = 1 : i64} : () -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_grad_mode' op expects 'enabled' to be true or false, got 1 : i64

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  "dovetail.set_grad_mode"() {enabled = true, mode = true} : () -> ()
  return
}
// CHECK: error: "{{.*}}invalid.mlir":[[# @LINE - 3]]:3: 'dovetail.set_grad_mode' op has no attribute 'mode', expected 'enabled'
