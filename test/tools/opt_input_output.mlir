// RUN: dovetail-opt %s | FileCheck %s
// RUN: dovetail-opt - < %s | FileCheck %s
// RUN: dovetail-opt < %s | FileCheck %s
// RUN: dovetail-opt %s -o %t > %t.stdout && diff %t.stdout /dev/null
// RUN: FileCheck %s < %t
// RUN: rm -f %t && not dovetail-opt %s --pass-pipeline=partition -o %t && not cat %t
//
// Catches a way in or out that is not honoured, and a failed run that leaves output behind, which a build would take for
// a good one.

// CHECK: module {
// CHECK-NEXT: func.func @f(%[[X:.*]]: !torch.vtensor<[4],f32>)
// CHECK-NEXT: torch.aten.exp %[[X]]
func.func @f(%x: !torch.vtensor<[4],f32>) {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return
}
