// RUN: dovetail-opt %s > %t.text
// RUN: dovetail-opt %s --emit-bytecode -o %t.mlirbc
// RUN: dovetail-opt %t.mlirbc > %t.through_file && diff %t.text %t.through_file
// RUN: dovetail-opt --emit-bytecode < %t.mlirbc | dovetail-opt > %t.through_pipe && diff %t.text %t.through_pipe
// RUN: FileCheck %s < %t.text
//
// Catches an op, a type or an attribute of ours that bytecode loses: the dialect is defined at run time, so MLIR's writer
// can know nothing of it. And bytecode that is taken for text that is no UTF-8.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1], offset: 0>>
// CHECK: module attributes {dovetail.level = "joint"}
// CHECK: func.func @joint(%{{.*}}: !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>> {dovetail.name = "L['x']"}
// CHECK: torch.vtensor.literal(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>)
// CHECK: "dovetail.write"({{.*}}) {mode = "no_grad", versions = 2 : i64}
// CHECK: "dovetail.view"({{.*}}) {args = [0, 1, 3, 1], callee = "aten.slice.Tensor", index = -1 : i64}
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r {dovetail.name = "L['x']"}) -> !dovetail.ref<!torch.vtensor<[2],f32>, strided<[1]>> attributes {dovetail.role = "joint"} {
    %0 = torch.vtensor.literal(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : !v
    "dovetail.write"(%0, %x) {mode = "no_grad", versions = 2 : i64} : (!v, !r) -> ()
    %1 = "dovetail.view"(%x) {args = [0, 1, 3, 1], callee = "aten.slice.Tensor", index = -1 : i64} : (!r) -> !dovetail.ref<!torch.vtensor<[2],f32>, strided<[1]>>
    return %1 : !dovetail.ref<!torch.vtensor<[2],f32>, strided<[1]>>
  }
}
