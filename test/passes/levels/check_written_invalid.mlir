// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='verify-level{level=regions}'
//
// Catches a library call that is given memory of another shape than its result, which PyTorch would resize, a concatenation
// that leaves some of its memory unset, a fill, a scatter and a sum of rows of other sizes, and a call that can't write to memory at all.

!v = !torch.vtensor<[4,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,3],f32>
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[4,3],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.exp"(%0, %m) {dovetail.reason = "one"} : (!v, !torch.tensor<[4,3],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,5],f32>
    %l = torch.prim.ListConstruct %0, %0 : (!v, !v) -> !torch.list<vtensor>
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[4,5],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.cat"(%l, %one, %m) {dovetail.reason = "one"} : (!torch.list<vtensor>, !torch.int, !torch.tensor<[4,5],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,2],f32>
    // expected-error @+1 {{'torch.operator' op writes to memory, expected aten.cat, full, index_add, mm or slice_scatter, or a pointwise op with an overload 'out'}}
    torch.operator "torch.aten.matmul"(%0, %0, %m) {dovetail.reason = "one"} : (!v, !v, !torch.tensor<[4,2],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,2],f32>
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[4,2],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.mm"(%0, %0, %m) {dovetail.reason = "one"} : (!v, !v, !torch.tensor<[4,2],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[?,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r) attributes {dovetail.role = "call"} {
    call @forward(%n, %x) : (!torch.int, !r) -> ()
    return
  }
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"(%n) : (!torch.int) -> !torch.tensor<[?,3],f32>
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[?,3],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.exp"(%0, %m) {dovetail.reason = "one"} : (!v, !torch.tensor<[?,3],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,3],f32>
    %none = torch.constant.none
    %two = torch.constant.int 2
    // expected-error @+2 {{'torch.operator' op writes to '!torch.tensor<[4,3],f32>', expected memory of the shape of its result}}
    %size = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
    torch.operator "torch.aten.full"(%size, %two, %none, %none, %none, %none, %m) {dovetail.reason = "one"} : (!torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.tensor<[4,3],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,3],f32>
    %none = torch.constant.none
    %two = torch.constant.int 2
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[4,3],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.slice_scatter"(%0, %0, %two, %two, %two, %two, %m) {dovetail.reason = "one"} : (!v, !v, !torch.int, !torch.int, !torch.int, !torch.int, !torch.tensor<[4,3],f32>) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4,2],f32>
!i = !torch.vtensor<[4],si64>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!j = !dovetail.ref<!i, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %i: !j) attributes {dovetail.role = "call"} {
    call @forward(%x, %i) : (!r, !j) -> ()
    return
  }
  func.func @forward(%x: !r, %i: !j) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%i) : (!j) -> !i
    %m = "dovetail.alloc"() : () -> !torch.tensor<[4,3],f32>
    %zero = torch.constant.int 0
    // expected-error @+1 {{'torch.operator' op writes to '!torch.tensor<[4,3],f32>', expected memory of the shape of its result}}
    torch.operator "torch.aten.index_add"(%0, %zero, %1, %0, %zero, %m) {dovetail.reason = "one"} : (!v, !torch.int, !i, !v, !torch.int, !torch.tensor<[4,3],f32>) -> ()
    return
  }
}
