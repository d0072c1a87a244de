// RUN: dovetail-opt %s --pass-pipeline='lay-out-arguments' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-arguments,place-ops,outline-regions' | FileCheck %s --check-prefix=OUTLINED
// RUN: dovetail-opt %s --pass-pipeline='lay-out-arguments' --run-check -o %t
//
// Catches an argument whose columns lie in rows, of which the host makes a copy for a region, though the region can
// transpose it; and a permutation of what lies in rows, of what is small, of what no region takes, and of images that lie
// channels last, whose rows are too short.

!v = !torch.vtensor<[256,512],f32>
!t = !torch.vtensor<[512,256],f32>
!s = !torch.vtensor<[16,16],f32>
!i = !torch.vtensor<[16,8,32,32],f32>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!turned = !dovetail.ref<!v, strided<[1, 256]>>
!small = !dovetail.ref<!s, strided<[1, 16]>>
!rs = !dovetail.ref<!s, strided<[16, 1]>>
!last = !dovetail.ref<!i, strided<[8192, 1, 256, 8]>>
!ri = !dovetail.ref<!i, strided<[8192, 1024, 32, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !turned, %y: !rv, %z: !small, %w: !last) -> (!rv, !rv, !rs, !ri) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %y, %z, %w) : (!turned, !rv, !small, !last) -> (!rv, !rv, !rs, !ri)
    return %0#0, %0#1, %0#2, %0#3 : !rv, !rv, !rs, !ri
  }
  // CHECK-LABEL: func.func @forward(
  // OUTLINED-LABEL: func.func @forward(
  // OUTLINED:         %[[X:.*]] = "dovetail.read"(%arg0)
  // OUTLINED:         %[[ROWS:.*]] = torch.aten.permute %[[X]]
  // OUTLINED:         call @[[REGION:[a-z0-9_]+]](%[[ROWS]],
  // OUTLINED:       func.func private @[[REGION]](
  // OUTLINED:         %[[BACK:.*]] = torch.aten.permute %arg0,
  // OUTLINED:         torch.aten.exp %[[BACK]]
  func.func @forward(%x: !turned, %y: !rv, %z: !small, %w: !last) -> (!rv, !rv, !rs, !ri) attributes {dovetail.role = "forward"} {
    // CHECK:         %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK:         %[[ROWS:.*]] = torch.aten.permute %[[X]], %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[512,256],f32>
    // CHECK:         %[[TURNED:.*]] = torch.aten.permute %[[ROWS]]
    // CHECK:         torch.aten.exp %[[TURNED]]
    // CHECK:         "dovetail.copy"(%[[TURNED]])
    // CHECK-NOT:     torch.aten.permute
    // CHECK:         return
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!turned) -> !v
    %1 = "dovetail.read"(%y) : (!rv) -> !v
    %2 = "dovetail.read"(%z) : (!small) -> !s
    %3 = "dovetail.read"(%w) : (!last) -> !i
    %4 = torch.aten.exp %0 : !v -> !v
    %5 = torch.aten.mul.Tensor %4, %1 : !v, !v -> !v
    %6 = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !rv
    %7 = "dovetail.copy"(%0) : (!v) -> !v
    %8 = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !rv
    %9 = torch.aten.mm %2, %2 : !s, !s -> !s
    %10 = torch.aten.exp %9 : !s -> !s
    %11 = torch.aten.add.Tensor %10, %2, %one : !s, !s, !torch.int -> !s
    %12 = "dovetail.own"(%11) {requires_grad = false} : (!s) -> !rs
    %13 = torch.aten.exp %3 : !i -> !i
    %14 = "dovetail.own"(%13) {requires_grad = false} : (!i) -> !ri
    return %6, %8, %12, %14 : !rv, !rv, !rs, !ri
  }
}
