// RUN: dovetail-opt %s --pass-pipeline='split-reductions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='split-reductions,lower-regions' --run-check -o %t
//
// Catches long sums that are added up one by one, blocks that leave out or repeat numbers, and short sums, which blocks
// would only make slower, in several stages.

!x = !torch.vtensor<[4096],f32>
!rows = !torch.vtensor<[100,3],f32>
!wide = !torch.vtensor<[2,1040],f32>
!double = !torch.vtensor<[67,3],f64>
!short = !torch.vtensor<[32,3],f32>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !dovetail.ref<!x, strided<[1]>>, %r: !dovetail.ref<!rows, strided<[3, 1]>>, %w: !dovetail.ref<!wide, strided<[1040, 1]>>, %d: !dovetail.ref<!double, strided<[3, 1]>>, %s: !dovetail.ref<!short, strided<[3, 1]>>) -> (!dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>, !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>) attributes {dovetail.role = "call"} {
    %0:5 = call @forward(%x, %r, %w, %d, %s) : (!dovetail.ref<!x, strided<[1]>>, !dovetail.ref<!rows, strided<[3, 1]>>, !dovetail.ref<!wide, strided<[1040, 1]>>, !dovetail.ref<!double, strided<[3, 1]>>, !dovetail.ref<!short, strided<[3, 1]>>) -> (!dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>, !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>)
    return %0#0, %0#1, %0#2, %0#3, %0#4 : !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>, !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>
  }
  func.func @forward(%x: !dovetail.ref<!x, strided<[1]>>, %r: !dovetail.ref<!rows, strided<[3, 1]>>, %w: !dovetail.ref<!wide, strided<[1040, 1]>>, %d: !dovetail.ref<!double, strided<[3, 1]>>, %s: !dovetail.ref<!short, strided<[3, 1]>>) -> (!dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>, !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!dovetail.ref<!x, strided<[1]>>) -> !x
    %1 = "dovetail.read"(%r) : (!dovetail.ref<!rows, strided<[3, 1]>>) -> !rows
    %2 = "dovetail.read"(%w) : (!dovetail.ref<!wide, strided<[1040, 1]>>) -> !wide
    %3 = "dovetail.read"(%d) : (!dovetail.ref<!double, strided<[3, 1]>>) -> !double
    %4 = "dovetail.read"(%s) : (!dovetail.ref<!short, strided<[3, 1]>>) -> !short
    %5:5 = call @forward_region_0(%0, %1, %2, %3, %4) : (!x, !rows, !wide, !double, !short) -> (!torch.vtensor<[],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[2,1],f32>, !torch.vtensor<[3],f64>, !torch.vtensor<[3],f32>)
    %o = "dovetail.own"(%5#0) {requires_grad = false} : (!torch.vtensor<[],f32>) -> !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>
    %p = "dovetail.own"(%5#1) {requires_grad = false} : (!torch.vtensor<[3],f32>) -> !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>
    %q = "dovetail.own"(%5#2) {requires_grad = false} : (!torch.vtensor<[2,1],f32>) -> !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>
    %t = "dovetail.own"(%5#3) {requires_grad = false} : (!torch.vtensor<[3],f64>) -> !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>
    %u = "dovetail.own"(%5#4) {requires_grad = false} : (!torch.vtensor<[3],f32>) -> !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>
    return %o, %p, %q, %t, %u : !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[2,1],f32>, strided<[1, 1]>>, !dovetail.ref<!torch.vtensor<[3],f64>, strided<[1]>>, !dovetail.ref<!torch.vtensor<[3],f32>, strided<[1]>>
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[4096],f32>, %[[R:[a-z0-9]+]]: !torch.vtensor<[100,3],f32>, %[[W:[a-z0-9]+]]: !torch.vtensor<[2,1040],f32>, %[[D:[a-z0-9]+]]: !torch.vtensor<[67,3],f64>, %[[S:[a-z0-9]+]]: !torch.vtensor<[32,3],f32>
  func.func private @forward_region_0(%x: !x, %r: !rows, %w: !wide, %d: !double, %s: !short) -> (!torch.vtensor<[],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[2,1],f32>, !torch.vtensor<[3],f64>, !torch.vtensor<[3],f32>) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    // Neighbours: as many vectors as one lane may add up.
    // CHECK: %[[X1:.*]] = torch.aten.reshape %[[X]], %{{.*}} -> !torch.vtensor<[8,512],f32>
    // CHECK: %[[X2:.*]] = torch.aten.sum.dim_IntList %[[X1]], %{{.*}} -> !torch.vtensor<[8],f32>
    // CHECK: %[[X3:.*]] = torch.aten.sum.dim_IntList %[[X2]], %{{.*}} -> !torch.vtensor<[],f32>
    %0 = torch.aten.sum %x, %none : !x, !torch.none -> !torch.vtensor<[],f32>
    // Rows: by a divisor of their number; the mean divides once.
    // CHECK: %[[R1:.*]] = torch.aten.reshape %[[R]], %{{.*}} -> !torch.vtensor<[10,10,3],f32>
    // CHECK: %[[R2:.*]] = torch.aten.sum.dim_IntList %[[R1]], %{{.*}} -> !torch.vtensor<[10,3],f32>
    // CHECK: %[[R3:.*]] = torch.aten.sum.dim_IntList %[[R2]], %{{.*}} -> !torch.vtensor<[3],f32>
    // CHECK: %[[HUNDRED:.*]] = torch.constant.float 1.000000e+02
    // CHECK: %[[R4:.*]] = torch.aten.div.Scalar %[[R3]], %[[HUNDRED]]
    %1 = torch.aten.mean.dim %r, %first, %false, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
    // Neighbours of several rows: one loop, in float64.
    // CHECK: %[[W1:.*]] = torch.aten.sum.dim_IntList %[[W]], %{{.*}} -> !torch.vtensor<[2],f64>
    // CHECK: %[[W2:.*]] = torch.aten._to_copy %[[W1]], %{{.*}} -> !torch.vtensor<[2],f32>
    // CHECK: %[[W3:.*]] = torch.aten.reshape %[[W2]], %{{.*}} -> !torch.vtensor<[2,1],f32>
    %2 = torch.aten.sum.dim_IntList %w, %last, %true, %none : !wide, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,1],f32>
    // float64, a prime number of rows: what is left over is added up by itself.
    // CHECK: %[[D1:.*]] = torch.aten.slice.Tensor %[[D]], %{{.*}} -> !torch.vtensor<[64,3],f64>
    // CHECK: %[[D2:.*]] = torch.aten.reshape %[[D1]], %{{.*}} -> !torch.vtensor<[4,16,3],f64>
    // CHECK: %[[D3:.*]] = torch.aten.sum.dim_IntList %[[D2]], %{{.*}} -> !torch.vtensor<[4,3],f64>
    // CHECK: %[[D4:.*]] = torch.aten.sum.dim_IntList %[[D3]], %{{.*}} -> !torch.vtensor<[3],f64>
    // CHECK: %[[D5:.*]] = torch.aten.slice.Tensor %[[D]], %{{.*}} -> !torch.vtensor<[3,3],f64>
    // CHECK: %[[D6:.*]] = torch.aten.sum.dim_IntList %[[D5]], %{{.*}} -> !torch.vtensor<[3],f64>
    // CHECK: %[[D7:.*]] = torch.aten.add.Tensor %[[D4]], %[[D6]]
    %3 = torch.aten.sum.dim_IntList %d, %first, %false, %none : !double, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f64>
    // Few rows stay as they are.
    // CHECK: %[[S1:.*]] = torch.aten.sum.dim_IntList %[[S]], %{{.*}} -> !torch.vtensor<[3],f32>
    %4 = torch.aten.sum.dim_IntList %s, %first, %false, %none : !short, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
    // CHECK: return %[[X3]], %[[R4]], %[[W3]], %[[D7]], %[[S1]]
    return %0, %1, %2, %3, %4 : !torch.vtensor<[],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[2,1],f32>, !torch.vtensor<[3],f64>, !torch.vtensor<[3],f32>
  }
}
