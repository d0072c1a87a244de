// RUN: dovetail-opt %s --pass-pipeline='fold-indices,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-indices' --run-check -o %t
//
// Catches library calls for elements in their own order; and a view in place of what chooses others, in another order,
// or along a diagonal. What counts beyond the tensor's sizes stays, so that eager's error does.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!m = !torch.vtensor<[3,1,4],f32>
!rm = !dovetail.ref<!m, strided<[4, 4, 1]>>
!t = !torch.vtensor<[4,3],f32>
!rt = !dovetail.ref<!t, strided<[3, 1]>>
!two = !torch.vtensor<[1,2,4],f32>
!rtwo = !dovetail.ref<!two, strided<[8, 4, 1]>>
!three = !torch.vtensor<[3],f32>
!rthree = !dovetail.ref<!three, strided<[1]>>
!half = !torch.vtensor<[3,2],f32>
!rhalf = !dovetail.ref<!half, strided<[2, 1]>>
!row = !torch.vtensor<[1,4],f32>
!rrow = !dovetail.ref<!row, strided<[4, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
  func.func @joint(%x: !r) -> (!rm, !rtwo, !rhalf, !rrow, !rt, !rthree, !rhalf, !rrow) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %4 = torch.constant.int 4
    %-1 = torch.constant.int -1
    %none = torch.constant.none
    %false = torch.constant.bool false
    %base = "dovetail.read"(%x) : (!r) -> !v
    %i3 = torch.aten.arange.start_step %0, %3, %1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],si64>
    %i4 = torch.aten.arange.start_step %0, %4, %1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4],si64>
    %i2 = torch.aten.arange.start_step %0, %2, %1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],si64>
    %later = torch.aten.arange.start_step %1, %3, %1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],si64>
    %s311 = torch.prim.ListConstruct %3, %1, %1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %s31 = torch.prim.ListConstruct %3, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %s41 = torch.prim.ListConstruct %4, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %s12 = torch.prim.ListConstruct %1, %2 : (!torch.int, !torch.int) -> !torch.list<int>
    %i311 = torch.aten.view %i3, %s311 : !torch.vtensor<[3],si64>, !torch.list<int> -> !torch.vtensor<[3,1,1],si64>
    %i41 = torch.aten.view %i4, %s41 : !torch.vtensor<[4],si64>, !torch.list<int> -> !torch.vtensor<[4,1],si64>
    %i12 = torch.aten.view %i2, %s12 : !torch.vtensor<[2],si64>, !torch.list<int> -> !torch.vtensor<[1,2],si64>

    // COM: Each dimension in its own.
    // CHECK: %[[A:.*]] = torch.aten.reshape %[[X]], %{{.*}} -> !torch.vtensor<[3,1,4],f32>
    // CHECK: "dovetail.own"(%[[A]])
    %l0 = torch.prim.ListConstruct %i311, %i4 : (!torch.vtensor<[3,1,1],si64>, !torch.vtensor<[4],si64>) -> !torch.list<optional<vtensor>>
    %a = torch.aten.index.Tensor %base, %l0 : !v, !torch.list<optional<vtensor>> -> !m
    %oa = "dovetail.own"(%a) {requires_grad = false} : (!m) -> !rm
    // COM: The first rows of a longer table.
    // CHECK: %[[ROWS:.*]] = torch.aten.slice.Tensor %[[X]], %int0, %int0, %int2, %int1 {{.*}} -> !torch.vtensor<[2,4],f32>
    // CHECK: torch.aten.reshape %[[ROWS]], %{{.*}} -> !torch.vtensor<[1,2,4],f32>
    %b = torch.aten.embedding %base, %i12, %-1, %false, %false : !v, !torch.vtensor<[1,2],si64>, !torch.int, !torch.bool, !torch.bool -> !two
    %ob = "dovetail.own"(%b) {requires_grad = false} : (!two) -> !rtwo
    // CHECK: torch.aten.slice.Tensor %[[X]], %int1, %int0, %int2, %int1 {{.*}} -> !torch.vtensor<[3,2],f32>
    %c = torch.aten.index_select %base, %-1, %i2 : !v, !torch.int, !torch.vtensor<[2],si64> -> !half
    %oc = "dovetail.own"(%c) {requires_grad = false} : (!half) -> !rhalf
    // CHECK: %[[ROW:.*]] = torch.aten.slice.Tensor %[[X]], %int0, %int0, %int1, %int1 {{.*}} -> !torch.vtensor<[1,4],f32>
    // CHECK: torch.aten.reshape %[[ROW]], %{{.*}} -> !torch.vtensor<[1,4],f32>
    %zero = torch.vtensor.literal(dense<0> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
    %l1 = torch.prim.ListConstruct %zero : (!torch.vtensor<[1],si64>) -> !torch.list<optional<vtensor>>
    %d = torch.aten.index.Tensor %base, %l1 : !v, !torch.list<optional<vtensor>> -> !row
    %od = "dovetail.own"(%d) {requires_grad = false} : (!row) -> !rrow

    // COM: Transposed; a diagonal; not from 0 up; another row than the first.
    // CHECK-COUNT-2: torch.aten.index.Tensor %[[X]]
    // CHECK: torch.aten.index_select %[[X]]
    // CHECK: torch.aten.index.Tensor %[[X]]
    // CHECK-NOT: torch.aten.{{index|embedding}}
    %l2 = torch.prim.ListConstruct %i3, %i41 : (!torch.vtensor<[3],si64>, !torch.vtensor<[4,1],si64>) -> !torch.list<optional<vtensor>>
    %e = torch.aten.index.Tensor %base, %l2 : !v, !torch.list<optional<vtensor>> -> !t
    %oe = "dovetail.own"(%e) {requires_grad = false} : (!t) -> !rt
    %l3 = torch.prim.ListConstruct %i3, %i3 : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
    %f = torch.aten.index.Tensor %base, %l3 : !v, !torch.list<optional<vtensor>> -> !three
    %of = "dovetail.own"(%f) {requires_grad = false} : (!three) -> !rthree
    %g = torch.aten.index_select %base, %1, %later : !v, !torch.int, !torch.vtensor<[2],si64> -> !half
    %og = "dovetail.own"(%g) {requires_grad = false} : (!half) -> !rhalf
    %second = torch.vtensor.literal(dense<1> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
    %l4 = torch.prim.ListConstruct %second : (!torch.vtensor<[1],si64>) -> !torch.list<optional<vtensor>>
    %h = torch.aten.index.Tensor %base, %l4 : !v, !torch.list<optional<vtensor>> -> !row
    %oh = "dovetail.own"(%h) {requires_grad = false} : (!row) -> !rrow
    return %oa, %ob, %oc, %od, %oe, %of, %og, %oh : !rm, !rtwo, !rhalf, !rrow, !rt, !rthree, !rhalf, !rrow
  }
  func.func @call(%x: !r) -> (!rm, !rtwo, !rhalf, !rrow, !rt, !rthree, !rhalf, !rrow) attributes {dovetail.role = "call"} {
    %0:8 = call @joint(%x) : (!r) -> (!rm, !rtwo, !rhalf, !rrow, !rt, !rthree, !rhalf, !rrow)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : !rm, !rtwo, !rhalf, !rrow, !rt, !rthree, !rhalf, !rrow
  }
}
