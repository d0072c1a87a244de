// RUN: dovetail-opt %s --pass-pipeline='compose-views,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='compose-views' --run-check -o %t
//
// Catches chains of views that stay, and views that are composed wrong: permutations in the wrong order, slices of other
// dimensions or steps, a reshape through a permutation, and what the user observes: `dovetail.view`s.

!v = !torch.vtensor<[2,3,4],f32>
!r = !dovetail.ref<!v, strided<[12, 4, 1]>>
!a = !torch.vtensor<[3,4,2],f32>
!b = !torch.vtensor<[4,2,3],f32>
!f = !torch.vtensor<[6,4],f32>
!u = !torch.vtensor<[6,1,4],f32>
!w = !torch.vtensor<[1,6,1,4],f32>
!x = !torch.vtensor<[5,6,3,4],f32>
!g = !torch.vtensor<[24],f32>
!s = !torch.vtensor<[4,4],f32>
!t = !torch.vtensor<[2,4],f32>
!q = !torch.vtensor<[2,2],f32>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg: !r) -> (!r, !dovetail.ref<!a, strided<[8, 2, 1]>>, !dovetail.ref<!x, strided<[72, 12, 4, 1]>>,
      !dovetail.ref<!g, strided<[1]>>, !dovetail.ref<!q, strided<[2, 1]>>, !dovetail.ref<!g, strided<[1]>>, !r) attributes {dovetail.role = "joint"} {
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %4 = torch.constant.int 4
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %24 = torch.constant.int 24
    %none = torch.constant.none
    %huge = torch.constant.int 9223372036854775807
    // CHECK: %[[X:.*]] = "dovetail.read"
    %v = "dovetail.read"(%arg) : (!r) -> !v

    // COM: Back where it was: (1, 2, 0) thrice, and a transposition twice.
    %next = torch.prim.ListConstruct %1, %2, %0 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %p1 = torch.aten.permute %v, %next : !v, !torch.list<int> -> !a
    %p2 = torch.aten.permute %p1, %next : !a, !torch.list<int> -> !b
    %p3 = torch.aten.permute %p2, %next : !b, !torch.list<int> -> !v
    %back = torch.aten.exp %p3 : !v -> !v
    // COM: Turned twice and transposed twice is turned once.
    %last = torch.constant.int -1
    %p4 = torch.aten.transpose.int %p2, %0, %1 : !b, !torch.int, !torch.int -> !torch.vtensor<[2,4,3],f32>
    %p5 = torch.aten.transpose.int %p4, %0, %last
        : !torch.vtensor<[2,4,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4,2],f32>
    // CHECK: %[[ORDER:.*]] = torch.prim.ListConstruct %int1, %int2, %int0
    // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[X]], %[[ORDER]]
    // CHECK: %[[BACK:.*]] = torch.aten.exp %[[X]]
    // CHECK: %[[COSINE:.*]] = torch.aten.cos %[[TURNED]]
    %turned = torch.aten.cos %p5 : !a -> !a

    // COM: Reshapes are one; a reshape of a permutation is not.
    %flat = torch.prim.ListConstruct %6, %4 : (!torch.int, !torch.int) -> !torch.list<int>
    %s1 = torch.aten.view %back, %flat : !v, !torch.list<int> -> !f
    %s2 = torch.aten.unsqueeze %s1, %1 : !f, !torch.int -> !u
    %s3 = torch.aten.unsqueeze %s2, %0 : !u, !torch.int -> !w
    // CHECK: %[[SIZES:.*]] = torch.prim.ListConstruct %int1, %int6, %int1, %int4
    // CHECK: %[[VIEW:.*]] = torch.aten.view %[[BACK]], %[[SIZES]]
    // COM: Expansions are one.
    %sizes1 = torch.prim.ListConstruct %5, %6, %1, %4 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %sizes2 = torch.prim.ListConstruct %last, %last, %3, %last : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %e1 = torch.aten.expand %s3, %sizes1, %false : !w, !torch.list<int>, !torch.bool -> !torch.vtensor<[5,6,1,4],f32>
    %e2 = torch.aten.expand %e1, %sizes2, %false : !torch.vtensor<[5,6,1,4],f32>, !torch.list<int>, !torch.bool -> !x
    // CHECK: %[[EXPANDED:.*]] = torch.aten.expand %[[VIEW]]
    %long = torch.prim.ListConstruct %24 : (!torch.int) -> !torch.list<int>
    %kept0 = torch.aten.permute %turned, %next : !a, !torch.list<int> -> !b
    // CHECK: %[[KEPT:.*]] = torch.aten.permute %[[COSINE]]
    // CHECK: %[[LONG:.*]] = torch.aten.view %[[COSINE]]
    // CHECK: %[[FLAT:.*]] = torch.aten.view %[[KEPT]]
    %l1 = torch.aten.view %turned, %flat : !a, !torch.list<int> -> !f
    %l2 = torch.aten.view %l1, %long : !f, !torch.list<int> -> !g
    %l3 = torch.aten.view %kept0, %long : !b, !torch.list<int> -> !g

    // COM: 1:5, of it every other one: 1:5:2. Slices of another dimension stay, one of everything goes.
    // CHECK: %[[ROWS:.*]] = torch.aten.slice.Tensor %{{.*}}, %int0, %int1, %int4, %int2
    // CHECK: %[[FIRST:.*]] = torch.aten.slice.Tensor %[[ROWS]], %int1, %int0, %int2, %int1
    %c0 = torch.aten.slice.Tensor %s1, %0, %1, %5, %1 : !f, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %c1 = torch.aten.slice.Tensor %c0, %0, %none, %huge, %2 : !s, !torch.int, !torch.none, !torch.int, !torch.int -> !t
    %c2 = torch.aten.slice.Tensor %c1, %1, %0, %huge, %1 : !t, !torch.int, !torch.int, !torch.int, !torch.int -> !t
    %c3 = torch.aten.slice.Tensor %c2, %1, %0, %2, %1 : !t, !torch.int, !torch.int, !torch.int, !torch.int -> !q

    // CHECK: "dovetail.own"(%[[BACK]])
    // CHECK: "dovetail.own"(%[[COSINE]])
    // CHECK: "dovetail.own"(%[[EXPANDED]])
    // CHECK: "dovetail.own"(%[[LONG]])
    // CHECK: "dovetail.own"(%[[FIRST]])
    // CHECK: "dovetail.own"(%[[FLAT]])
    %o = "dovetail.own"(%back) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%turned) {requires_grad = false} : (!a) -> !dovetail.ref<!a, strided<[8, 2, 1]>>
    %q = "dovetail.own"(%e2) {requires_grad = false} : (!x) -> !dovetail.ref<!x, strided<[72, 12, 4, 1]>>
    %s = "dovetail.own"(%l2) {requires_grad = false} : (!g) -> !dovetail.ref<!g, strided<[1]>>
    %t = "dovetail.own"(%c3) {requires_grad = false} : (!q) -> !dovetail.ref<!q, strided<[2, 1]>>
    %u = "dovetail.own"(%l3) {requires_grad = false} : (!g) -> !dovetail.ref<!g, strided<[1]>>
    // CHECK: "dovetail.view"(%{{.*}}) {args = [{{\[}}24]]
    // CHECK: "dovetail.view"(%{{.*}}) {args = [{{\[}}2, 3, 4]]
    %w1 = "dovetail.view"(%arg) {args = [[24]], callee = "aten.view.default", index = -1 : i64}
        : (!r) -> !dovetail.ref<!g, strided<[1]>>
    %w2 = "dovetail.view"(%w1) {args = [[2, 3, 4]], callee = "aten.view.default", index = -1 : i64}
        : (!dovetail.ref<!g, strided<[1]>>) -> !r
    return %o, %p, %q, %s, %t, %u, %w2 : !r, !dovetail.ref<!a, strided<[8, 2, 1]>>,
      !dovetail.ref<!x, strided<[72, 12, 4, 1]>>, !dovetail.ref<!g, strided<[1]>>, !dovetail.ref<!q, strided<[2, 1]>>,
      !dovetail.ref<!g, strided<[1]>>, !r
  }
}
