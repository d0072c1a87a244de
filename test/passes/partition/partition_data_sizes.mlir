// Would catch a size that only data tells, read again by the backward, or lost to it.
// RUN: dovetail-opt %s --pass-pipeline=partition,verify-level{level=split} | FileCheck %s

!x = !torch.vtensor<[6],f32>
!r = !dovetail.ref<!x, strided<[1]>>
!y = !torch.vtensor<[?],f32>
!o = !dovetail.ref<!y, strided<[1]>>
#sizes = affine_map<()[s0] -> (s0)>
module attributes {dovetail.hints = array<i64: 32>, dovetail.level = "joint", dovetail.target = "cpu"} {
  // CHECK-LABEL: func.func @forward
  // CHECK: %[[N:.*]] = torch.operator "torch.aten.sym_size.int"({{.*}}dovetail.symbol = 0 : i64
  // CHECK: return %{{.*}}, %[[N]]
  // CHECK-LABEL: func.func @backward
  // CHECK-SAME: (%{{.*}}, %[[SAVED:.*]]: !torch.int {dovetail.range = array<i64: 0, 6>, dovetail.symbol = 0 : i64}, %{{.*}}: !dovetail.ref
  // CHECK-NOT: sym_size
  // CHECK: torch.aten.mul.Scalar %{{.*}}, %[[SAVED]]
  func.func @joint(%x: !r {dovetail.name = "x", dovetail.requires_grad}) -> !o attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !x
    %zero = torch.constant.int 0
    %1 = torch.aten.gt.Scalar %0, %zero : !x, !torch.int -> !torch.vtensor<[6],i1>
    %2 = torch.prim.ListConstruct %1 : (!torch.vtensor<[6],i1>) -> !torch.list<optional<vtensor>>
    %3 = torch.aten.index.Tensor %0, %2 {dovetail.sizes = [#sizes]} : !x, !torch.list<optional<vtensor>> -> !y
    %n = torch.operator "torch.aten.sym_size.int"(%3, %zero) {dovetail.range = array<i64: 0, 6>, dovetail.reason = "a size that only data tells", dovetail.symbol = 0 : i64} : (!y, !torch.int) -> !torch.int
    %4 = torch.aten.mul.Scalar %3, %n {dovetail.sizes = [#sizes]} : !y, !torch.int -> !y
    %5 = "dovetail.own"(%4) {requires_grad = true} : (!y) -> !o
    %6 = "dovetail.tangent"(%5) {dovetail.sizes = [#sizes]} : (!o) -> !o
    %7 = "dovetail.read"(%6) {dovetail.sizes = [#sizes]} : (!o) -> !y
    %8 = torch.aten.mul.Scalar %7, %n {dovetail.sizes = [#sizes]} : !y, !torch.int -> !y
    %true = torch.constant.bool true
    %9 = torch.aten.index_put %0, %2, %8, %true : !x, !torch.list<optional<vtensor>>, !y, !torch.bool -> !x
    "dovetail.gradient"(%9, %x) : (!x, !r) -> ()
    return %5 : !o
  }
}
