// Would catch a copy of a size that only data tells in a region, which has no number for it.
// RUN: dovetail-opt %s --pass-pipeline=place-ops | FileCheck %s

!y = !torch.vtensor<[?],f32>
!o = !dovetail.ref<!y, strided<[1]>>
#sizes = affine_map<()[s0] -> (s0)>
module attributes {dovetail.hints = array<i64: 32>, dovetail.level = "split", dovetail.target = "cpu"} {
  func.func @forward(%x: !dovetail.ref<!torch.vtensor<[6],f32>, strided<[1]>>) -> (!o, !o) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!dovetail.ref<!torch.vtensor<[6],f32>, strided<[1]>>) -> !torch.vtensor<[6],f32>
    %zero = torch.constant.int 0
    %1 = torch.aten.gt.Scalar %0, %zero : !torch.vtensor<[6],f32>, !torch.int -> !torch.vtensor<[6],i1>
    %2 = torch.aten.masked_select %0, %1 {dovetail.sizes = [#sizes]} : !torch.vtensor<[6],f32>, !torch.vtensor<[6],i1> -> !y
    %n = torch.operator "torch.aten.sym_size.int"(%2, %zero) {dovetail.range = array<i64: 0, 6>, dovetail.reason = "a size that only data tells", dovetail.symbol = 0 : i64} : (!y, !torch.int) -> !torch.int
    // CHECK: torch.aten.tanh {{.*}}dovetail.placement = "fallback", dovetail.placement_reason = "a size is known only when it runs"
    %3 = torch.aten.tanh %2 {dovetail.sizes = [#sizes]} : !y -> !y
    // CHECK: "dovetail.copy"{{.*}}dovetail.placement = "fallback", dovetail.placement_reason = "a size is known only when it runs"
    %4 = "dovetail.copy"(%3) {dovetail.sizes = [#sizes]} : (!y) -> !y
    %5 = "dovetail.own"(%3) {requires_grad = false} : (!y) -> !o
    %6 = "dovetail.own"(%4) {requires_grad = false} : (!y) -> !o
    return %5, %6 : !o, !o
  }
  func.func @call(%x: !dovetail.ref<!torch.vtensor<[6],f32>, strided<[1]>> {dovetail.name = "x"}) -> (!o, !o) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!dovetail.ref<!torch.vtensor<[6],f32>, strided<[1]>>) -> (!o, !o)
    return %0#0, %0#1 : !o, !o
  }
}
