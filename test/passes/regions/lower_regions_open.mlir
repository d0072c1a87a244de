// RUN: dovetail-opt %s --lower-regions | FileCheck %s
//
// Catches memory of another size than the result's, and a destination of which the region says less than of the value.

!m = !torch.vtensor<[?,48],f32>
!r = !dovetail.ref<!torch.vtensor<[?,48],f32>, strided<[48, 1]>>
#n = affine_map<()[s0] -> (s0, 48)>
#twice = affine_map<()[s0] -> (s0 * 2, 48)>
module attributes {dovetail.level = "program"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:.*]]: !torch.int
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #n}) -> (!m, !m) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#n]} : (!r) -> !m
    // CHECK: %[[D:.*]] = "dovetail.alloc"(%[[N]]) {dovetail.sizes = [{{.*}}]} : (!torch.int) -> !torch.tensor<[?,48],f32>
    // CHECK: %[[TWO:.*]] = torch.constant.int 2
    // CHECK: %[[TWICE:.*]] = torch.aten.mul.int %[[N]], %[[TWO]]
    // CHECK: %[[E:.*]] = "dovetail.alloc"(%[[TWICE]]) {dovetail.sizes = [{{.*}}]} : (!torch.int) -> !torch.tensor<[?,48],f32>
    // CHECK: call @region(%{{.*}}, %[[D]], %[[E]])
    // CHECK: torch.copy.to_vtensor %[[D]] {dovetail.sizes = [#[[ONE:.*]]]}
    // CHECK: torch.copy.to_vtensor %[[E]] {dovetail.sizes = [#[[BOTH:.*]]]}
    %1:2 = call @region(%0) {dovetail.sizes = [#n, #twice]} : (!m) -> (!m, !m)
    return %1#0, %1#1 : !m, !m
  }
  // CHECK: func.func private @region(%{{.*}}: !torch.vtensor<[?,48],f32> {dovetail.sizes = #[[ONE]]},
  // CHECK-SAME: %{{.*}}: !torch.tensor<[?,48],f32> {dovetail.sizes = #[[ONE]]},
  // CHECK-SAME: %{{.*}}: !torch.tensor<[?,48],f32> {dovetail.sizes = #[[BOTH]]})
  func.func private @region(%x: !m {dovetail.sizes = #n}) -> (!m {dovetail.sizes = #n}, !m {dovetail.sizes = #twice}) attributes {dovetail.role = "region"} {
    %0 = torch.aten.tanh %x : !m -> !m
    %list = torch.prim.ListConstruct %x, %0 : (!m, !m) -> !torch.list<vtensor>
    %dim = torch.constant.int 0
    %1 = torch.aten.cat %list, %dim : !torch.list<vtensor>, !torch.int -> !m
    return %0, %1 : !m, !m
  }
}
