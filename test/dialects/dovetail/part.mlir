// RUN: dovetail-opt %s | dovetail-opt --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches a part that is lost, or merged with another, though a kernel writes to it.

!m = !torch.tensor<[4,6],f32>
!p = !torch.tensor<[4,3],f32>
// CHECK-LABEL: func.func @f(
// CHECK: "dovetail.part"(%{{.*}}) {dim = 1 : i64, start = 0 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>
// CHECK: "dovetail.part"(%{{.*}}) {dim = 1 : i64, start = 3 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>
func.func @f(%m: !m) {
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 0 : i64} : (!m) -> !p
  %b = "dovetail.part"(%m) {dim = 1 : i64, start = 3 : i64} : (!m) -> !p
  torch.operator "torch.aten.neg.out"(%a, %b) {dovetail.reason = "a test"} : (!p, !p) -> ()
  return
}

!o = !torch.tensor<[4,?],f32>
// CHECK-LABEL: func.func @open(
// CHECK: "dovetail.part"(%{{.*}}, %{{.*}}) {dim = 1 : i64, start = 3 : i64} : (!torch.tensor<[4,?],f32>, !torch.int) -> !torch.tensor<[4,?],f32>
// CHECK: "dovetail.part"(%{{.*}}, %{{.*}}) {dim = 1 : i64, start = -9223372036854775808 : i64} : (!torch.tensor<[4,?],f32>, !torch.int) -> !torch.tensor<[4,3],f32>
func.func @open(%m: !o, %n: !torch.int) {
  %a = "dovetail.part"(%m, %n) {dim = 1 : i64, start = 3 : i64} : (!o, !torch.int) -> !o
  %b = "dovetail.part"(%m, %n) {dim = 1 : i64, start = -9223372036854775808 : i64} : (!o, !torch.int) -> !p
  torch.operator "torch.aten.neg.out"(%a, %b) {dovetail.reason = "a test"} : (!o, !p) -> ()
  return
}

// CHECK-LABEL: func.func @steps(
// CHECK: "dovetail.part"(%{{.*}}) {dim = 1 : i64, start = 1 : i64, step = 2 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>
func.func @steps(%m: !m) {
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 1 : i64, step = 2 : i64} : (!m) -> !p
  torch.operator "torch.aten.neg.out"(%a, %a) {dovetail.reason = "a test"} : (!p, !p) -> ()
  return
}
