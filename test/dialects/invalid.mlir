// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches a verifier that lets malformed IR pass, that reports it at the wrong place or in other words, or that raises a
// Python exception on IR of a shape it did not expect. What IRDL itself checks says its own words.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.read' op has no attribute 'kind', expected none}}
  %0 = "dovetail.read"(%x) {kind = 1 : i64} : (!r) -> !v
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op has no attribute 'Mode', expected 'mode' or 'versions'}}
  "dovetail.write"(%v, %x) {Mode = "hidden", mode = "hidden"} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op has no attribute 'strides', expected 'size', 'stride', 'offset' or 'versions'}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [], stride = [], strides = []} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{op expects exactly 2 operands, but got 1}}
  "dovetail.write"(%v) {mode = "hidden"} : (!v) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{op expects exactly 1 results, but got 0}}
  "dovetail.read"(%x) : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{unregistered operation 'dovetail.reed' found in dialect ('dovetail') that does not allow unknown operations}}
  %0 = "dovetail.reed"(%x) : (!r) -> !v
  return
}

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[]>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[]>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[-1]>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[-1]>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1], offset: 2>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1], offset: 2>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!b = !dovetail.ref<!torch.tensor<[4],f32>, strided<[1]>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.tensor<[4],f32>, strided<[1]>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!b = !dovetail.ref<i32, strided<[1]>>
func.func @f(%x: !b) {
  // expected-error @below {{'dovetail.detach' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<i32, strided<[1]>>'}}
  %0 = "dovetail.detach"(%x) : (!b) -> !b
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.read' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  %0 = "dovetail.read"(%x) : (!b) -> !v
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.write' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  "dovetail.write"(%v, %x) {mode = "hidden"} : (!v, !b) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.own' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  %0 = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !b
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.view' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!b) -> !b
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.set_metadata' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = [1]} : (!b) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !b) {
  // expected-error @below {{'dovetail.gradient' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  "dovetail.gradient"(%v, %x) : (!v, !b) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!b = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  // expected-error @below {{'dovetail.tangent' op expects a ref to a '!torch.vtensor' with one stride a dimension and no offset, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1, 1]>>'}}
  %0 = "dovetail.tangent"(%o) : (!r) -> !b
  return
}

// -----

// expected-error @below {{expected 2 type arguments, but had 1}}
func.func private @f(!dovetail.ref<!torch.vtensor<[4],f32>>)

// -----

// expected-error @below {{'3 : i64' does not satisfy the constraint}}
func.func private @f(!dovetail.ref<!torch.vtensor<[4],f32>, 3>)

// -----

// expected-error @below {{expected base attribute 'builtin.type' but got 'builtin.integer'}}
func.func private @f(!dovetail.ref<3, strided<[1]>>)

// -----

// expected-error @below {{expected dynamic type}}
func.func private @f(!dovetail.rex<!torch.vtensor<[4],f32>>)

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.read' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[5],f32>'}}
  %0 = "dovetail.read"(%x) : (!r) -> !torch.vtensor<[5],f32>
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base type 'dovetail.ref' but got 'torch.vtensor'}}
  %0 = "dovetail.read"(%v) : (!v) -> !v
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op attribute "mode" is expected but not provided}}
  "dovetail.write"(%v, %x) : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base attribute 'builtin.string' but got 'builtin.integer'}}
  "dovetail.write"(%v, %x) {mode = 1 : i64} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op expects 'mode' to be 'tracked', 'no_grad' or 'hidden', got 'data'}}
  "dovetail.write"(%v, %x) {mode = "data"} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d, %x: !r) {
  // expected-error @below {{'dovetail.write' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'}}
  "dovetail.write"(%d, %x) {mode = "hidden"} : (!d, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base type 'dovetail.ref' but got 'torch.vtensor'}}
  "dovetail.write"(%v, %v) {mode = "hidden"} : (!v, !v) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.own' op attribute "requires_grad" is expected but not provided}}
  %0 = "dovetail.own"(%v) : (!v) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.own' op expects 'requires_grad' to be true or false, got 1 : i64}}
  %0 = "dovetail.own"(%v) {requires_grad = 1 : i64} : (!v) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d) {
  // expected-error @below {{'dovetail.own' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'}}
  %0 = "dovetail.own"(%d) {requires_grad = true} : (!d) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base type 'dovetail.ref' but got 'torch.vtensor'}}
  %0 = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !v
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.view' op attribute "callee" is expected but not provided}}
  %0 = "dovetail.view"(%x) {args = [], index = -1 : i64} : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base attribute 'builtin.array' but got 'builtin.string'}}
  %0 = "dovetail.view"(%x) {args = "", callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!r64 = !dovetail.ref<!torch.vtensor<[4],f64>, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.view' op expects a view to keep the element type, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>' to '!dovetail.ref<!torch.vtensor<[4],f64>, strided<[1]>>'}}
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r64
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!s = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[2]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.detach' op expects result type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[2]>>'}}
  %0 = "dovetail.detach"(%x) : (!r) -> !s
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op expects one stride a size, got 2 sizes and 1 strides}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [1]} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op expects 'size' to hold integers from 0 up, got -4 : i64}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [-4], stride = [1]} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op expects 'stride' to hold integers from 0 up, got "1"}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = ["1"]} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op attribute "offset" is expected but not provided}}
  "dovetail.set_metadata"(%x) {size = [4], stride = [1]} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.string'}}
  "dovetail.set_metadata"(%x) {offset = "0", size = [4], stride = [1]} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.tangent' op expects the result of a 'dovetail.own', got a value of type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  %0 = "dovetail.tangent"(%x) : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %d = "dovetail.detach"(%x) : (!r) -> !r
  // expected-error @below {{'dovetail.tangent' op expects the result of a 'dovetail.own', got a value of type '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  %0 = "dovetail.tangent"(%d) : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  // expected-error @below {{'dovetail.tangent' op expects an owned result with 'requires_grad = true'}}
  %0 = "dovetail.tangent"(%o) : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!r5 = !dovetail.ref<!torch.vtensor<[5],f32>, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  // expected-error @below {{'dovetail.tangent' op expects a value of type '!torch.vtensor<[5],f32>' to match '!dovetail.ref<!torch.vtensor<[5],f32>, strided<[1]>>', got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  %0 = "dovetail.tangent"(%o) : (!r) -> !r5
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  %d = "dovetail.detach"(%x) : (!r) -> !r
  // expected-error @below {{'dovetail.gradient' op expects an argument of the function, got the result of 'dovetail.detach'}}
  "dovetail.gradient"(%v, %d) : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!d = !torch.vtensor<[4],f64>
func.func @f(%d: !d, %x: !r) {
  // expected-error @below {{'dovetail.gradient' op expects a value of type '!torch.vtensor<[4],f32>' to match '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>', got '!torch.vtensor<[4],f64>'}}
  "dovetail.gradient"(%d, %x) : (!d, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f() {
  // expected-error @below {{'dovetail.alloc' op expects a result of type '!torch.tensor', ranked, got '!torch.vtensor<[4],f32>'}}
  %0 = "dovetail.alloc"() : () -> !v
  return
}

// -----

func.func @f() {
  // expected-error @below {{'dovetail.alloc' op expects a number for each of the 1 open sizes, got 0}}
  %0 = "dovetail.alloc"() : () -> !torch.tensor<[?],f32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'dovetail.alloc' op has no attribute 'zero', expected 'device'}}
  %0 = "dovetail.alloc"() {zero} : () -> !torch.tensor<[4],f32>
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op expects 'versions' to be an integer from 1 up, got 0 : i64}}
  "dovetail.write"(%v, %x) {mode = "tracked", versions = 0 : i64} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op expects 'versions' to be an integer from 1 up, got "2"}}
  "dovetail.write"(%v, %x) {mode = "tracked", versions = "2"} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.write' op expects no 'versions' in mode 'hidden', got 2 : i64}}
  "dovetail.write"(%v, %x) {mode = "hidden", versions = 2 : i64} : (!v, !r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_metadata' op expects 'versions' to be an integer from 1 up, got 0 : i64}}
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4], stride = [1], versions = 0 : i64} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.touch' op expects 'versions' to be an integer from 1 up, got 0 : i64}}
  "dovetail.touch"(%x) {versions = 0 : i64} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.touch' op attribute "versions" is expected but not provided}}
  "dovetail.touch"(%x) : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.touch' op has no attribute 'mode', expected 'versions'}}
  "dovetail.touch"(%x) {mode = "hidden", versions = 1 : i64} : (!r) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{expected base type 'dovetail.ref' but got 'torch.vtensor'}}
  "dovetail.touch"(%v) {versions = 1 : i64} : (!v) -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.view' op expects 'grad_mode' to be true or false, got 1 : i64}}
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", grad_mode = 1 : i64, index = -1 : i64} : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.view' op has no attribute 'mode', expected 'callee', 'args', 'index' or 'grad_mode'}}
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64, mode = true} : (!r) -> !r
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_grad_mode' op attribute "enabled" is expected but not provided}}
  "dovetail.set_grad_mode"() : () -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_grad_mode' op expects 'enabled' to be true or false, got 1 : i64}}
  "dovetail.set_grad_mode"() {enabled = 1 : i64} : () -> ()
  return
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @f(%v: !v, %x: !r) {
  // expected-error @below {{'dovetail.set_grad_mode' op has no attribute 'mode', expected 'enabled'}}
  "dovetail.set_grad_mode"() {enabled = true, mode = true} : () -> ()
  return
}
