// RUN: dovetail-opt %s --pass-pipeline='plan-memory,keep-apart{regions=forward_region_0 reason="a reason"},plan-memory,verify-memory' | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='keep-apart{regions=forward_region_7}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
//
// Catches a result that goes on sharing memory with an operand whose region reads it in several loops; and a region
// that is not there. Sizes are open.

!v = !torch.vtensor<[?,32],f32>
!w = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[?,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!s = !dovetail.ref<!w, strided<[32, 1]>>
// UNKNOWN: has no region '@forward_region_7', it has @forward_region_0
module attributes {dovetail.level = "regions"} {
  func.func @call(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %w: !s) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x, %w) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!torch.int, !r, !s) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:[a-z0-9]+]]: !torch.int
  // CHECK: %[[A:.*]] = "dovetail.alloc"(%[[N]]) {dovetail.sizes = [{{.*}}]} : (!torch.int) -> !torch.tensor<[?,32],f32>
  // CHECK-NEXT: call @forward_region_0(%{{.*}}, %[[A]])
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %w: !s) -> (!r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!s) -> !w
    %2 = torch.operator "torch.aten.mm"(%0, %1) {dovetail.reason = "library kernel: contraction", dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!v, !w) -> !v
    %a = "dovetail.alloc"(%n) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!torch.int) -> !m
    call @forward_region_0(%2, %a) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %a {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : !v
    %o = "dovetail.own"(%3) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>], requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK: @forward_region_0
  // CHECK-SAME: dovetail.kept_apart = "a reason"
  func.func private @forward_region_0(%x: !v {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %a: !m {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}
