// RUN: dovetail-opt %s --pass-pipeline='select-parts' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='select-parts,raise-slices,lower-regions' --run-check -o %t
//
// Catches a rotary embedding whose halves are joined in memory on a GPU, the parts in the wrong order or along a wrong
// dimension; and a choice between parts that are long, of several sizes, or no whole vectors, which IREE writes in place.

!x = !torch.vtensor<[8,64],f32>
!h = !torch.vtensor<[8,32],f32>
!q = !torch.vtensor<[8,16],f32>
!o = !torch.vtensor<[8,80],f32>
!v = !torch.vtensor<[8,6],f32>
!l = !torch.vtensor<[8,8192],f32>
!m = !torch.vtensor<[8,4096],f32>
!t = !torch.vtensor<[8,2,3,4],f32>
!u = !torch.vtensor<[8,6,3,4],f32>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rl = !dovetail.ref<!l, strided<[8192, 1]>>
!rt = !dovetail.ref<!t, strided<[24, 12, 4, 1]>>
!ro = !dovetail.ref<!o, strided<[80, 1]>>
!rv = !dovetail.ref<!v, strided<[6, 1]>>
!ru = !dovetail.ref<!u, strided<[72, 12, 4, 1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx, %l: !rl, %t: !rt) -> (!rx, !ro, !rv, !rl, !ru) attributes {dovetail.role = "call"} {
    %0:5 = call @forward(%x, %l, %t) : (!rx, !rl, !rt) -> (!rx, !ro, !rv, !rl, !ru)
    return %0#0, %0#1, %0#2, %0#3, %0#4 : !rx, !ro, !rv, !rl, !ru
  }
  func.func @forward(%x: !rx, %l: !rl, %t: !rt) -> (!rx, !ro, !rv, !rl, !ru) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%l) : (!rl) -> !l
    %2 = "dovetail.read"(%t) : (!rt) -> !t
    %3:5 = call @region(%0, %1, %2) : (!x, !l, !t) -> (!x, !o, !v, !l, !u)
    %4 = "dovetail.own"(%3#0) {requires_grad = false} : (!x) -> !rx
    %5 = "dovetail.own"(%3#1) {requires_grad = false} : (!o) -> !ro
    %6 = "dovetail.own"(%3#2) {requires_grad = false} : (!v) -> !rv
    %7 = "dovetail.own"(%3#3) {requires_grad = false} : (!l) -> !rl
    %8 = "dovetail.own"(%3#4) {requires_grad = false} : (!u) -> !ru
    return %4, %5, %6, %7, %8 : !rx, !ro, !rv, !rl, !ru
  }
  // CHECK-LABEL: func.func private @region(
  func.func private @region(%x: !x, %l: !l, %t: !t) -> (!x, !o, !v, !l, !u) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %three = torch.constant.int 3
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    %a = torch.aten.slice.Tensor %x, %one, %half, %end, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %b = torch.aten.slice.Tensor %x, %one, %zero, %half, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // CHECK: %[[N:.*]] = torch.aten.neg
    %n = torch.aten.neg %a : !h -> !h
    // CHECK: %[[I:.*]] = torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[2],si32>
    // CHECK: %[[J:.*]] = torch.aten.reshape %[[I]], %{{.*}} -> !torch.vtensor<[2,1],si32>
    // CHECK: %[[A:.*]] = torch.aten.reshape %[[N]], %{{.*}} -> !torch.vtensor<[8,1,32],f32>
    // CHECK: %[[B:.*]] = torch.aten.reshape %{{.*}} -> !torch.vtensor<[8,1,32],f32>
    // CHECK: %[[C:.*]] = torch.aten.eq.Scalar %[[J]], %{{.*}} -> !torch.vtensor<[2,1],i1>
    // CHECK: %[[W:.*]] = torch.aten.where.self %[[C]], %[[A]], %[[B]] : {{.*}} -> !torch.vtensor<[8,2,32],f32>
    // CHECK: torch.aten.view %[[W]], %{{.*}} -> !torch.vtensor<[8,64],f32>
    %p = torch.prim.ListConstruct %n, %b : (!h, !h) -> !torch.list<vtensor>
    %c = torch.aten.cat %p, %one : !torch.list<vtensor>, !torch.int -> !x
    // COM: Of two sizes.
    // CHECK: torch.aten.cat
    %sixteen = torch.constant.int 16
    %e = torch.aten.slice.Tensor %x, %one, %zero, %sixteen, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !q
    %f = torch.aten.neg %e : !q -> !q
    %g = torch.prim.ListConstruct %f, %x : (!q, !x) -> !torch.list<vtensor>
    %i = torch.aten.cat %g, %one : !torch.list<vtensor>, !torch.int -> !o
    // COM: Of three numbers each, no whole vector.
    // CHECK: torch.aten.cat
    %j = torch.aten.slice.Tensor %x, %one, %zero, %three, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[8,3],f32>
    %k = torch.aten.neg %j : !torch.vtensor<[8,3],f32> -> !torch.vtensor<[8,3],f32>
    %o = torch.prim.ListConstruct %k, %k : (!torch.vtensor<[8,3],f32>, !torch.vtensor<[8,3],f32>) -> !torch.list<vtensor>
    %q = torch.aten.cat %o, %one : !torch.list<vtensor>, !torch.int -> !v
    // COM: Long.
    // CHECK: torch.aten.cat
    %middle = torch.constant.int 4096
    %r = torch.aten.slice.Tensor %l, %one, %zero, %middle, %one : !l, !torch.int, !torch.int, !torch.int, !torch.int -> !m
    %s = torch.aten.neg %r : !m -> !m
    %u = torch.prim.ListConstruct %s, %s : (!m, !m) -> !torch.list<vtensor>
    %v = torch.aten.cat %u, %one : !torch.list<vtensor>, !torch.int -> !l
    // COM: Three parts along a dimension in the middle, counted from the last.
    // CHECK-DAG: torch.aten.arange.start_step {{.*}} -> !torch.vtensor<[3],si32>
    // CHECK: torch.aten.where.self {{.*}} : !torch.vtensor<[3,1,1,1],i1>, !torch.vtensor<[8,1,2,3,4],f32>, !torch.vtensor<[8,1,2,3,4],f32> -> !torch.vtensor<[8,3,2,3,4],f32>
    // CHECK: torch.aten.where.self {{.*}} : !torch.vtensor<[3,1,1,1],i1>, !torch.vtensor<[8,1,2,3,4],f32>, !torch.vtensor<[8,3,2,3,4],f32> -> !torch.vtensor<[8,3,2,3,4],f32>
    // CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[8,6,3,4],f32>
    %back = torch.constant.int -3
    %w = torch.aten.neg %t : !t -> !t
    %y = torch.prim.ListConstruct %t, %w, %t : (!t, !t, !t) -> !torch.list<vtensor>
    %z = torch.aten.cat %y, %back : !torch.list<vtensor>, !torch.int -> !u
    return %c, %i, %q, %v, %z : !x, !o, !v, !l, !u
  }
}
