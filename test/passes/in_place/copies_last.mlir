// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t
//
// Catches counters of batch norms that are copied one by one, between the statistics: those follow one another, so that
// one call copies all. What shares memory with another argument is written in the user's order.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!n = !torch.vtensor<[],si64>
!nm = !torch.tensor<[],si64>
!nr = !dovetail.ref<!n, strided<[]>>

module attributes {dovetail.level = "regions"} {
  // CHECK-LABEL: func.func @call(
  // CHECK: %[[NEW:.*]]:4 = call @forward
  // CHECK-NEXT: "dovetail.write"(%[[NEW]]#1, %arg1)
  // CHECK-NEXT: "dovetail.write"(%[[NEW]]#3, %arg3)
  // CHECK-NEXT: "dovetail.write"(%[[NEW]]#0, %arg0)
  // CHECK-NEXT: "dovetail.write"(%[[NEW]]#2, %arg2)
  // CHECK-NEXT: return
  func.func @call(%a: !nr, %x: !r, %b: !nr, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%a, %x, %b, %y) : (!nr, !r, !nr, !r) -> ()
    %0:4 = call @forward(%a, %x, %b, %y) : (!nr, !r, !nr, !r) -> (!nr, !r, !nr, !r)
    "dovetail.write"(%0#0, %a) {mode = "no_grad"} : (!nr, !nr) -> ()
    "dovetail.write"(%0#1, %x) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#2, %b) {mode = "no_grad"} : (!nr, !nr) -> ()
    "dovetail.write"(%0#3, %y) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!nr {dovetail.name = "a"}, !r {dovetail.name = "x"}, !nr {dovetail.name = "b"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 4 : i64, dovetail.role = "guard"}
  func.func @forward(%a: !nr, %x: !r, %b: !nr, %y: !r) -> (!nr, !r, !nr, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%a) : (!nr) -> !n
    %1 = "dovetail.read"(%x) : (!r) -> !v
    %2 = "dovetail.read"(%b) : (!nr) -> !n
    %3 = "dovetail.read"(%y) : (!r) -> !v
    %ma = "dovetail.alloc"() : () -> !nm
    %mx = "dovetail.alloc"() : () -> !m
    %mb = "dovetail.alloc"() : () -> !nm
    %my = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %3, %ma, %mx, %mb, %my) : (!n, !v, !n, !v, !nm, !m, !nm, !m) -> ()
    %4 = torch.copy.to_vtensor %ma : !n
    %5 = torch.copy.to_vtensor %mx : !v
    %6 = torch.copy.to_vtensor %mb : !n
    %7 = torch.copy.to_vtensor %my : !v
    %oa = "dovetail.own"(%4) {requires_grad = false} : (!n) -> !nr
    %ox = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %ob = "dovetail.own"(%6) {requires_grad = false} : (!n) -> !nr
    %oy = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    return %oa, %ox, %ob, %oy : !nr, !r, !nr, !r
  }
  func.func private @forward_region_0(%a: !n, %x: !v, %b: !n, %y: !v, %ma: !nm, %mx: !m, %mb: !nm, %my: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Scalar %a, %one, %one : !n, !torch.int, !torch.int -> !n
    %1 = torch.aten.mul.Scalar %x, %one : !v, !torch.int -> !v
    %2 = torch.aten.add.Scalar %b, %one, %one : !n, !torch.int, !torch.int -> !n
    %3 = torch.aten.mul.Scalar %y, %one : !v, !torch.int -> !v
    torch.overwrite.tensor.contents %0 overwrites %ma : !n, !nm
    torch.overwrite.tensor.contents %1 overwrites %mx : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %mb : !n, !nm
    torch.overwrite.tensor.contents %3 overwrites %my : !v, !m
    return
  }
}
