// RUN: dovetail-opt %s --pass-pipeline='verify-level,pin-compared-values,sink-gathers,partition,verify-level{level=split},verify-comparisons,lay-out-results,plan-epilogue,state-border' -o %t
// RUN: FileCheck %s --check-prefix=SPLIT < %t
// RUN: dovetail-opt %t --pass-pipeline='place-ops,batch-library-calls,repeat-in-regions,outline-regions,call-small-regions,split-reductions,keep-scalars,keep-nan-tests,verify-level{level=program}' -o %t.program
// RUN: FileCheck %s --check-prefix=PROGRAM < %t.program
// RUN: dovetail-opt %t.program --pass-pipeline='lower-regions,prove-in-place,limit-regions,write-joined,pair-rows,cut-into-blocks,choose-drivers,plan-memory,verify-memory,state-updates,state-replay,verify-level{level=regions}' -o %t.regions
// RUN: FileCheck %s --check-prefix=REGIONS < %t.regions
// RUN: dovetail-opt %t.regions --pass-pipeline='choose-variant{regions=forward_region_0 variant=data-tiling driver=local-sync measured="1 us"}' | FileCheck %s --check-prefix=VARIANT
// RUN: dovetail-opt %t.regions --pass-pipeline='inline-regions{regions=forward_region_0},verify-memory,state-replay,verify-level{level=regions}' | FileCheck %s --check-prefix=INLINED
// RUN: dovetail-opt %t.regions --pass-pipeline='split-region{region=forward_region_2},choose-drivers,plan-memory,verify-memory,state-replay,verify-level{level=regions}' | FileCheck %s --check-prefix=PARTS
// RUN: dovetail-opt %t.regions --pass-pipeline='split-region{region=forward_region_2}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline=compile --run-check --seed=5 -o %t
//
// Catches a pass that drops a size's value or what is known of it, or takes it for a number: rows of any number are
// shifted by a running mean, which is updated, multiplied, rounded and summed.

!v = !torch.vtensor<[?,64],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>
!w = !torch.vtensor<[64,64],f32>
!rw = !dovetail.ref<!w, strided<[64, 1]>>
!m = !torch.vtensor<[64],f32>
!rm = !dovetail.ref<!m, strided<[1]>>
!one = !torch.vtensor<[?,1],f32>
!int = !torch.int
!list = !torch.list<int>
#s = affine_map<()[s0] -> (s0, 64)>
#t = affine_map<()[s0] -> (64, s0)>
#c = affine_map<()[s0] -> (s0, 1)>

// SPLIT-LABEL: func.func @call(
// SPLIT-SAME: %[[N:[^:]*]]: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}
// SPLIT: call @apply(%{{.*}}, %[[N]],
// SPLIT-LABEL: func.func @forward(
// SPLIT-SAME: %[[N:[^:]*]]: !torch.int {dovetail.range
// SPLIT: return {{.*}}, %[[N]] :
// SPLIT-LABEL: func.func @backward(
// SPLIT-SAME: %[[N:[^:]*]]: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64
// SPLIT: torch.aten.div.Scalar %{{.*}}, %[[N]]

// PROGRAM-LABEL: func.func @forward(
// PROGRAM: torch.operator "torch.aten.div.Scalar"({{.*}}) {dovetail.fallback, dovetail.reason = "a size is known only when it runs"}
// PROGRAM: call @forward_region_1({{.*}}) {dovetail.sizes = [unit, #[[S:.*]]]}
// PROGRAM: torch.operator "torch.aten.mm"({{.*}}) {dovetail.reason = "library kernel: contraction", dovetail.sizes = [#[[S]]]}
// PROGRAM-LABEL: func.func private @forward_region_0(
// PROGRAM-SAME: !torch.vtensor<[?,64],f32> {dovetail.sizes = #[[S]]}
// COM: In double precision: IREE adds up one number after the other.
// PROGRAM: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[64],f64>

// REGIONS-LABEL: func.func @call(
// REGIONS: "dovetail.write"({{.*}}dovetail.not_in_place
// REGIONS-LABEL: func.func @forward(
// REGIONS-SAME: %[[N:[^:]*]]: !torch.int {dovetail.range
// REGIONS: %[[D:.*]] = "dovetail.alloc"(%[[N]]) {dovetail.sizes = [{{.*}}]} : (!torch.int) -> !torch.tensor<[?,64],f32>
// REGIONS: call @forward_region_1({{.*}}, %[[D]])
// REGIONS-LABEL: func.func @backward(
// REGIONS: "dovetail.free"(%{{.*}}) : (!torch.vtensor<[?,1],f32>)
// REGIONS-LABEL: func.func private @forward_region_1(
// REGIONS-SAME: !torch.tensor<[?,64],f32> {dovetail.sizes = #{{.*}}}) attributes {dovetail.driver = "local-sync"

// VARIANT: func.func private @forward_region_0({{.*}}dovetail.measured = "1 us"{{.*}}dovetail.variant = "data-tiling"

// PARTS-LABEL: func.func @forward(
// PARTS-SAME: %[[N:[^:]*]]: !torch.int {dovetail.range
// PARTS: call @forward_region_1(
// PARTS: %[[M:.*]] = "dovetail.alloc"(%[[N]]) {dovetail.sizes = [{{.*}}]} : (!torch.int) -> !torch.tensor<[?,1],f32>
// PARTS: call @forward_region_2_0(%{{.*}}, %[[M]], %{{.*}})
// PARTS: func.func private @forward_region_2_0(
// COM: Whoever launches the part asks its arguments for their sizes.
// PARTS-SAME: !torch.tensor<[?,64],f32> {dovetail.sizes = #{{[a-z0-9]*}}}) attributes

// INLINED-LABEL: func.func @forward(
// INLINED: torch.operator "torch.aten.sum.dim_IntList"(%{{.*}}dovetail.reason = "IREE did not compile the region"
// INLINED: call @forward_region_1(

module attributes {dovetail.hints = array<i64: 512>, dovetail.level = "joint"} {
  func.func @joint(%mean: !rm, %n: !int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.requires_grad, dovetail.sizes = #s}, %weight: !rw {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %none = torch.constant.none
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %tenth = torch.constant.float 1.000000e-01
    %rows = torch.prim.ListConstruct %0 : (!int) -> !list
    %columns = torch.prim.ListConstruct %1 : (!int) -> !list
    %turned = torch.prim.ListConstruct %1, %0 : (!int, !int) -> !list
    %before = "dovetail.read"(%mean) : (!rm) -> !m
    %a = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %w = "dovetail.read"(%weight) : (!rw) -> !w
    %sum = torch.aten.sum.dim_IntList %a, %rows, %false, %none : !v, !list, !torch.bool, !torch.none -> !m
    %average = torch.aten.div.Scalar %sum, %n : !m, !int -> !m
    %after = torch.aten.add.Tensor %before, %average, %tenth : !m, !m, !torch.float -> !m
    %shifted = torch.aten.sub.Tensor %a, %after, %1 {dovetail.sizes = [#s]} : !v, !m, !int -> !v
    %product = torch.aten.mm %shifted, %w {dovetail.sizes = [#s]} : !v, !w -> !v
    %y = torch.aten.tanh %product {dovetail.sizes = [#s]} : !v -> !v
    %largest = torch.aten.amax %y, %columns, %true {dovetail.sizes = [#c]} : !v, !list, !torch.bool -> !one
    %e = torch.aten.exp %y {dovetail.sizes = [#s]} : !v -> !v
    %z = torch.aten.div.Tensor %e, %largest {dovetail.sizes = [#s]} : !v, !one -> !v
    "dovetail.write"(%after, %mean) {mode = "no_grad"} : (!m, !rm) -> ()
    %o = "dovetail.own"(%z) {requires_grad = true} : (!v) -> !r
    %tangent = "dovetail.tangent"(%o) {dovetail.sizes = [#s]} : (!r) -> !r
    %d = "dovetail.read"(%tangent) {dovetail.sizes = [#s]} : (!r) -> !v
    %dy = torch.aten.mul.Tensor %d, %z {dovetail.sizes = [#s]} : !v, !v -> !v
    %dp = torch.aten.div.Scalar %dy, %n {dovetail.sizes = [#s]} : !v, !int -> !v
    %st = torch.aten.permute %shifted, %turned {dovetail.sizes = [#t]} : !v, !list -> !torch.vtensor<[64,?],f32>
    %dw = torch.aten.mm %st, %dp : !torch.vtensor<[64,?],f32>, !v -> !w
    %wt = torch.aten.permute %w, %turned : !w, !list -> !w
    %dx = torch.aten.mm %dp, %wt {dovetail.sizes = [#s]} : !v, !w -> !v
    "dovetail.gradient"(%dx, %x) : (!v, !r) -> ()
    "dovetail.gradient"(%dw, %weight) : (!w, !rw) -> ()
    return %o : !r
  }
}
