// RUN: dovetail-opt %s --pass-pipeline='fold-row-sums' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-row-sums' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline=fold-row-sums | FileCheck %s --check-prefix=STAYS
//
// Catches rows of a tied table that are added to zeros as large as it, and a sum of that and the product; rows that are
// added to a product more than once, which rounds more; a product that is read besides; rows of an open number; and a CPU's.

!int = !torch.int
!i = !torch.vtensor<[4],si64>
!i2 = !torch.vtensor<[8],si64>
!n = !torch.vtensor<[9],si64>
!x = !torch.vtensor<[4,6],f32>
!y = !torch.vtensor<[9,4],f32>
!x2 = !torch.vtensor<[8,6],f32>
!w = !torch.vtensor<[9,6],f32>
!ox = !torch.vtensor<[?,6],f32>
!rox = !dovetail.ref<!ox, strided<[6, 1]>>
!ri = !dovetail.ref<!i, strided<[1]>>
!rx = !dovetail.ref<!x, strided<[6, 1]>>
!ry = !dovetail.ref<!y, strided<[4, 1]>>
!rw = !dovetail.ref<!w, strided<[6, 1]>>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK-DAG: %[[P:.*]] = torch.aten.mm
  // CHECK-DAG: %[[SUM:.*]] = torch.aten.add.Tensor %{{.*}} -> !torch.vtensor<[4,6],f32>
  // CHECK: %[[T:.*]] = torch.operator "torch.aten.index_add"(%[[P]], %{{.*}}, %{{.*}}, %[[SUM]], %{{.*}})
  // CHECK-COUNT-4: torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[9,6],f32>
  // CHECK: "dovetail.own"(%[[T]])
  // STAYS-LABEL: func.func @joint(
  // STAYS-COUNT-5: torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[9,6],f32>
  func.func @joint(%x: !rx, %y: !ry, %a: !rx, %o: !rox) -> (!rw, !rw, !rw, !rw, !rw) attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %four = torch.constant.int 4
    %six = torch.constant.int 6
    %eight = torch.constant.int 8
    %nine = torch.constant.int 9
    %none = torch.constant.none
    %false = torch.constant.bool false
    %device = torch.constant.device "cuda:0"
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%y) : (!ry) -> !y
    %2 = "dovetail.read"(%a) : (!rx) -> !x
    %count = torch.prim.ListConstruct %four : (!int) -> !torch.list<int>
    %i = torch.aten.full %count, %six, %four, %none, %device, %false : !torch.list<int>, !int, !int, !torch.none, !torch.Device, !torch.bool -> !i
    %last = torch.aten.arange.start_step %zero, %four, %one, %four, %none, %device, %false : !int, !int, !int, !int, !torch.none, !torch.Device, !torch.bool -> !i
    %rows = torch.prim.ListConstruct %nine : (!int) -> !torch.list<int>
    %nowhere = torch.aten.full %rows, %zero, %four, %none, %device, %false : !torch.list<int>, !int, !int, !torch.none, !torch.Device, !torch.bool -> !n
    %where = torch.aten.scatter.src %nowhere, %zero, %i, %last : !n, !int, !i, !i -> !n
    %place = torch.aten.gather %where, %zero, %i, %false : !n, !int, !i, !torch.bool -> !i
    %beside = torch.aten.add.Scalar %place, %four, %one : !i, !int, !int -> !i
    %places = torch.prim.ListConstruct %place, %beside : (!i, !i) -> !torch.list<vtensor>
    %both = torch.aten.cat %places, %zero : !torch.list<vtensor>, !int -> !i2
    %halves = torch.prim.ListConstruct %0, %2 : (!x, !x) -> !torch.list<vtensor>
    %terms = torch.aten.cat %halves, %zero : !torch.list<vtensor>, !int -> !x2
    %size2 = torch.prim.ListConstruct %eight, %six : (!int, !int) -> !torch.list<int>
    %zeros2 = torch.aten.full %size2, %zero, %six, %none, %device, %false : !torch.list<int>, !int, !int, !torch.none, !torch.Device, !torch.bool -> !x2
    %sums = torch.operator "torch.aten.index_add"(%zeros2, %zero, %both, %terms, %one) : (!x2, !int, !i2, !x2, !int) -> !x2
    %first = torch.aten.slice.Tensor %sums, %zero, %zero, %four, %one : !x2, !int, !int, !int, !int -> !x
    %second = torch.aten.slice.Tensor %sums, %zero, %four, %eight, %one : !x2, !int, !int, !int, !int -> !x
    %sum = torch.aten.add.Tensor %first, %second, %one : !x, !x, !int -> !x
    %size = torch.prim.ListConstruct %nine, %six : (!int, !int) -> !torch.list<int>
    %zeros = torch.aten.full %size, %zero, %six, %none, %device, %false : !torch.list<int>, !int, !int, !torch.none, !torch.Device, !torch.bool -> !w
    %product = torch.aten.mm %1, %0 : !y, !x -> !w
    %added = torch.operator "torch.aten.index_add"(%zeros, %zero, %i, %sum, %one) : (!w, !int, !i, !x, !int) -> !w
    %3 = torch.aten.add.Tensor %product, %added, %one : !w, !w, !int -> !w

    // COM: All rows of one place may be added to the product, or at places of another order.
    %product1 = torch.aten.mm %1, %2 : !y, !x -> !w
    %added1 = torch.operator "torch.aten.index_add"(%zeros, %zero, %i, %0, %one) : (!w, !int, !i, !x, !int) -> !w
    %4 = torch.aten.add.Tensor %product1, %added1, %one : !w, !w, !int -> !w
    %product2 = torch.aten.mm %1, %2 : !y, !x -> !w
    %added2 = torch.operator "torch.aten.index_add"(%zeros, %zero, %last, %sum, %one) : (!w, !int, !i, !x, !int) -> !w
    %5 = torch.aten.add.Tensor %product2, %added2, %one : !w, !w, !int -> !w

    // COM: The product is read besides.
    %product3 = torch.aten.mm %1, %2 : !y, !x -> !w
    %added3 = torch.operator "torch.aten.index_add"(%zeros, %zero, %i, %sum, %one) : (!w, !int, !i, !x, !int) -> !w
    %6 = torch.aten.add.Tensor %product3, %added3, %one : !w, !w, !int -> !w
    %7 = torch.aten.mul.Tensor %6, %product3 : !w, !w -> !w

    // COM: Of an open number of rows.
    %8 = "dovetail.read"(%o) : (!rox) -> !ox
    %first_numbers = torch.aten.select.int %8, %one, %zero : !ox, !int, !int -> !torch.vtensor<[?],f32>
    %near = torch.aten.mul.Scalar %first_numbers, %zero : !torch.vtensor<[?],f32>, !int -> !torch.vtensor<[?],f32>
    %open_index = torch.aten._to_copy %near, %four, %none, %none, %none, %false, %none : !torch.vtensor<[?],f32>, !int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[?],si64>
    %product4 = torch.aten.mm %1, %2 : !y, !x -> !w
    %added4 = torch.operator "torch.aten.index_add"(%zeros, %zero, %open_index, %8, %one) : (!w, !int, !torch.vtensor<[?],si64>, !ox, !int) -> !w
    %9 = torch.aten.add.Tensor %product4, %added4, %one : !w, !w, !int -> !w
    %o0 = "dovetail.own"(%3) {requires_grad = false} : (!w) -> !rw
    %o1 = "dovetail.own"(%4) {requires_grad = false} : (!w) -> !rw
    %o2 = "dovetail.own"(%5) {requires_grad = false} : (!w) -> !rw
    %o3 = "dovetail.own"(%7) {requires_grad = false} : (!w) -> !rw
    %o4 = "dovetail.own"(%9) {requires_grad = false} : (!w) -> !rw
    return %o0, %o1, %o2, %o3, %o4 : !rw, !rw, !rw, !rw, !rw
  }
}
