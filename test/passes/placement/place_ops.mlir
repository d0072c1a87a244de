// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops' --run-check -o %t
//
// Catches an op that is placed where it runs badly or not at all, a fallback without its reason, and a placement of what
// is not to be placed: constants, dovetail ops, effects, and the user's own @call.

!i = !torch.vtensor<[2],si64>
!ri = !dovetail.ref<!i, strided<[1]>>
!m = !torch.vtensor<[2,2],f32>
!e = !torch.vtensor<[0,2],f32>
!d = !torch.vtensor<[2,2],f64>
!c = !torch.vtensor<[2,2],complex<f32>>
!rm = !dovetail.ref<!m, strided<[2, 1]>>
module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @call(
  // CHECK-NOT: dovetail.placement
  func.func @call(%x: !rm, %i: !ri) -> !rm attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %i) : (!rm, !ri) -> !rm
    return %0 : !rm
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%x: !rm, %i: !ri) -> !rm attributes {dovetail.role = "forward"} {
    // CHECK: torch.constant.int 0{{$}}
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %seven = torch.constant.int 7
    %six = torch.constant.int 6
    %false = torch.constant.bool false
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    // CHECK: "dovetail.read"(%{{.*}}) : (
    %0 = "dovetail.read"(%x) : (!rm) -> !m
    %1 = "dovetail.read"(%i) : (!ri) -> !i
    // CHECK: torch.aten.transpose.int {{.*}} {dovetail.placement = "view"} :
    %2 = torch.aten.transpose.int %0, %zero, %one : !m, !torch.int, !torch.int -> !m
    // CHECK: torch.aten.mm {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "library kernel: contraction"} :
    %3 = torch.aten.mm %0, %2 : !m, !m -> !m
    // CHECK: torch.aten.index_select {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "library kernel: gather or scatter"} :
    %4 = torch.aten.index_select %3, %zero, %1 : !m, !torch.int, !i -> !m
    // CHECK: torch.aten.exp {{.*}} {dovetail.placement = "region"} :
    %5 = torch.aten.exp %4 : !m -> !m
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "region"} :
    %list = torch.prim.ListConstruct %5 : (!m) -> !torch.list<vtensor>
    %6 = torch.aten.cat %list, %zero : !torch.list<vtensor>, !torch.int -> !m
    // CHECK: torch.aten._to_copy {{.*}} {dovetail.placement = "region"} :
    %7 = torch.aten._to_copy %6, %seven, %none, %none, %none, %false, %none
        : !m, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !d
    // COM: An op that IREE can't be given at this element type: test_iree_support.py has them all.
    // CHECK: torch.aten.sin {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "{{.+}}"} :
    %8 = torch.aten.sin %7 : !d -> !d
    %9 = torch.aten._to_copy %8, %six, %none, %none, %none, %false, %none
        : !d, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !m
    // COM: A region's results are written; it would hand out memory that nothing has written.
    // CHECK: torch.aten.empty.memory_format {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "library kernel: memory that nothing has written"} :
    %two = torch.constant.int 2
    %sizes = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
    %cpu = torch.constant.device "cpu"
    %unwritten = torch.aten.empty.memory_format %sizes, %six, %none, %cpu, %false, %none
        : !torch.list<int>, !torch.int, !torch.none, !torch.Device, !torch.bool, !torch.none -> !m
    // COM: Rows chosen by truth values: how many there are, only their values say.
    // CHECK: torch.aten.neg {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "a size is known only when it runs"} :
    %mask = torch.aten.gt.Scalar %1, %zero : !i, !torch.int -> !torch.vtensor<[2],i1>
    %at = torch.prim.ListConstruct %mask : (!torch.vtensor<[2],i1>) -> !torch.list<optional<vtensor>>
    %rows = torch.aten.index.Tensor %9, %at : !m, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,2],f32>
    %negated = torch.aten.neg %rows : !torch.vtensor<[?,2],f32> -> !torch.vtensor<[?,2],f32>
    // COM: Without elements: an operand, a result, a part of a list, a copy. IREE's compiler crashes on some.
    // CHECK: torch.aten.slice.Tensor {{.*}} {dovetail.placement = "view"} :
    %end = torch.constant.int 0
    %nothing = torch.aten.slice.Tensor %9, %zero, %zero, %end, %one
        : !m, !torch.int, !torch.int, !torch.int, !torch.int -> !e
    // CHECK: torch.aten.neg {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "a tensor without elements leaves nothing to compile"} :
    %10 = torch.aten.neg %nothing : !e -> !e
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "a tensor without elements leaves nothing to compile"} :
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %11 = torch.aten.amax %10, %last, %false : !e, !torch.list<int>, !torch.bool -> !torch.vtensor<[0],f32>
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "a tensor without elements leaves nothing to compile"} :
    %parts = torch.prim.ListConstruct %10, %9 : (!e, !m) -> !torch.list<vtensor>
    %12 = torch.aten.cat %parts, %zero : !torch.list<vtensor>, !torch.int -> !m
    // CHECK: "dovetail.copy"(%{{.*}}) {dovetail.placement = "library", dovetail.placement_reason = "a tensor without elements leaves nothing to compile"} :
    %13 = "dovetail.copy"(%nothing) : (!e) -> !e
    // COM: An ATen op that the torch dialect and our table do not know.
    // CHECK: torch.operator "torch.aten.special_i0e"
    // CHECK-SAME: {dovetail.placement = "fallback", dovetail.placement_reason = "no row in dialects/torch_facts/rows"} :
    %rare = torch.operator "torch.aten.special_i0e"(%9) : (!m) -> !m
    // CHECK: torch.operator "torch.aten.bernoulli.p"
    // CHECK-SAME: {dovetail.effect = "draws", dovetail.reason = "has an effect"} :
    %14 = torch.operator "torch.aten.bernoulli.p"(%rare, %half, %none) {dovetail.effect = "draws", dovetail.reason = "has an effect"}
        : (!m, !torch.float, !torch.none) -> !m
    // CHECK: "dovetail.own"(%{{.*}}) {requires_grad = false} :
    %o = "dovetail.own"(%14) {requires_grad = false} : (!m) -> !rm
    return %o : !rm
  }
}
