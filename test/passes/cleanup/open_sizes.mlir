// RUN: dovetail-opt %s --drop-redundant-copies | FileCheck %s --check-prefix=COPIES
// RUN: dovetail-opt %s --merge-equal-values | FileCheck %s --check-prefix=EQUAL
// RUN: dovetail-opt %s --forward-stores | FileCheck %s --check-prefix=STORES
// RUN: dovetail-opt %s --compose-views | FileCheck %s --check-prefix=VIEWS
// RUN: dovetail-opt %s --pass-pipeline='fold-concatenations,fold-scatters,fold-constants,fold-indices,fold-one-hot-sums,unify-sums' | FileCheck %s --check-prefix=KEPT
// RUN: dovetail-opt %s --simplify-algebra | FileCheck %s --check-prefix=ALGEBRA
// RUN: dovetail-opt %s --eliminate-dead-writes | FileCheck %s --check-prefix=WRITES
// RUN: dovetail-opt %s --run-check --pass-pipeline='drop-redundant-copies,merge-equal-values,forward-stores,compose-views,fold-concatenations,fold-scatters,fold-constants,simplify-algebra,fold-indices,fold-one-hot-sums,unify-sums,eliminate-dead-writes' -o %t
//
// Catches a cleanup that leaves open sizes alone where they don't matter, takes two for equal because their types are, or
// folds what hangs on their numbers.

!v = !torch.vtensor<[?,4],f32>
!flat = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!int = !torch.int
!list = !torch.list<int>
#s = affine_map<()[s0] -> (s0, 4)>
#f = affine_map<()[s0] -> (s0 * 4)>

// EQUAL-LABEL: func.func @joint
// EQUAL-COUNT-1: torch.aten.mul.int
// EQUAL-NOT: torch.aten.mul.int
// EQUAL: %[[F:.*]] = torch.aten.view
// EQUAL: torch.aten.mul.Tensor %[[F]], %[[F]]

// COPIES-LABEL: func.func @joint
// COPIES: %[[A:.*]] = "dovetail.read"(%arg1)
// COPIES-NOT: torch.aten.clone
// COPIES: torch.aten.copy
// COPIES-NOT: torch.aten.copy
// COPIES: return

// VIEWS-LABEL: func.func @joint
// VIEWS: %[[PRODUCT:.*]] = torch.aten.mul.Tensor
// VIEWS: torch.aten.view %[[PRODUCT]], %{{.*}} {dovetail.sizes =
// VIEWS: %[[B:.*]] = "dovetail.read"(%arg3)
// VIEWS: torch.aten.sub.Tensor %{{.*}}, %[[B]]

// KEPT-LABEL: func.func @joint
// KEPT: %[[ROWS:.*]] = torch.aten.cat
// KEPT: torch.aten.slice.Tensor %[[ROWS]]
// KEPT: torch.aten.select_scatter
// KEPT: %[[TWOS:.*]] = torch.aten.full_like
// KEPT: torch.aten.mul.Scalar %[[TWOS]]

// ALGEBRA-LABEL: func.func @joint
// ALGEBRA: %[[SET:.*]] = torch.aten.select_scatter
// ALGEBRA: torch.aten.add.Tensor %[[SET]]
// COM: %y may have one row, which is then repeated.
// ALGEBRA: %[[ONES:.*]] = torch.aten.full_like
// ALGEBRA: torch.aten.mul.Tensor %{{.*}}, %[[ONES]]

// STORES-LABEL: func.func @joint
// STORES: "dovetail.write"(%[[V:.*]], %arg1)
// STORES-NEXT: torch.aten.sub.Tensor %[[V]]
// WRITES-LABEL: func.func @joint
// WRITES: "dovetail.write"
// WRITES: "dovetail.touch"(%arg1)
func.func @joint(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}, %m: !int {dovetail.range = array<i64: 1, 1>, dovetail.symbol = 1 : i64}, %y: !r {dovetail.sizes = affine_map<()[s0, s1] -> (s1, 4)>}) -> (!r, !r, !r) attributes {dovetail.role = "joint"} {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %4 = torch.constant.int 4
  %a = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
  %copy = torch.aten.clone %a, %none {dovetail.sizes = [#s]} : !v, !torch.none -> !v
  %count = torch.aten.mul.int %n, %4 : !int, !int -> !int
  %again = torch.aten.mul.int %n, %4 : !int, !int -> !int
  %to_flat = torch.prim.ListConstruct %count : (!int) -> !list
  %to_flat_again = torch.prim.ListConstruct %again : (!int) -> !list
  %to_rows = torch.prim.ListConstruct %n, %4 : (!int, !int) -> !list
  %f = torch.aten.view %copy, %to_flat {dovetail.sizes = [#f]} : !v, !list -> !flat
  %g = torch.aten.view %copy, %to_flat_again {dovetail.sizes = [#f]} : !v, !list -> !flat
  %product = torch.aten.mul.Tensor %f, %g {dovetail.sizes = [#f]} : !flat, !flat -> !flat
  %unsqueezed = torch.aten.unsqueeze %product, %0 {dovetail.sizes = [affine_map<()[s0] -> (1, s0 * 4)>]} : !flat, !int -> !torch.vtensor<[1,?],f32>
  %q = torch.aten.view %unsqueezed, %to_rows {dovetail.sizes = [#s]} : !torch.vtensor<[1,?],f32>, !list -> !v

  %parts = torch.prim.ListConstruct %q, %a : (!v, !v) -> !torch.list<vtensor>
  %rows = torch.aten.cat %parts, %0 {dovetail.sizes = [affine_map<()[s0] -> (s0 * 2, 4)>]} : !torch.list<vtensor>, !int -> !v
  %part = torch.aten.slice.Tensor %rows, %0, %0, %n, %1 {dovetail.sizes = [#s]} : !v, !int, !int, !int, !int -> !v
  %row = torch.aten.select.int %part, %0, %1 : !v, !int, !int -> !torch.vtensor<[4],f32>
  %set = torch.aten.select_scatter %part, %row, %0, %1 {dovetail.sizes = [#s]} : !v, !torch.vtensor<[4],f32>, !int, !int -> !v
  %twos = torch.aten.full_like %a, %2, %none, %none, %none, %false, %1 {dovetail.sizes = [#s]} : !v, !int, !torch.none, !torch.none, !torch.none, !torch.bool, !int -> !v
  %fours = torch.aten.mul.Scalar %twos, %2 {dovetail.sizes = [#s]} : !v, !int -> !v

  %same = torch.aten.mul.Scalar %set, %1 {dovetail.sizes = [#s]} : !v, !int -> !v
  %minus = torch.aten.neg %same {dovetail.sizes = [#s]} : !v -> !v
  %plus = torch.aten.neg %minus {dovetail.sizes = [#s]} : !v -> !v
  %sum = torch.aten.add.Tensor %plus, %fours, %1 {dovetail.sizes = [#s]} : !v, !v, !int -> !v
  %b = "dovetail.read"(%y) {dovetail.sizes = [affine_map<()[s0, s1] -> (s1, 4)>]} : (!r) -> !v
  %ones = torch.aten.full_like %a, %1, %none, %none, %none, %false, %1 {dovetail.sizes = [#s]} : !v, !int, !torch.none, !torch.none, !torch.none, !torch.bool, !int -> !v
  %repeated = torch.aten.mul.Tensor %b, %ones {dovetail.sizes = [#s]} : !v, !v -> !v
  %copied = torch.aten.copy %a, %b, %false {dovetail.sizes = [#s]} : !v, !v, !torch.bool -> !v

  "dovetail.write"(%sum, %x) {mode = "no_grad"} : (!v, !r) -> ()
  %written = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
  %difference = torch.aten.sub.Tensor %written, %b, %1 {dovetail.sizes = [#s]} : !v, !v, !int -> !v
  "dovetail.write"(%written, %x) {mode = "no_grad"} : (!v, !r) -> ()
  %o = "dovetail.own"(%difference) {requires_grad = false} : (!v) -> !r
  %p = "dovetail.own"(%repeated) {requires_grad = false} : (!v) -> !r
  %z = "dovetail.own"(%copied) {requires_grad = false} : (!v) -> !r
  return %o, %p, %z : !r, !r, !r
}
