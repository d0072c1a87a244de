// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' --run-check | FileCheck %s
//
// Catches a guard that the split loses, or that runs after the program it is there to prevent.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1}
  // CHECK: func.func @call(%[[X:.*]]: !dovetail.ref<{{.*}}>, %[[Y:.*]]: !dovetail.ref<{{.*}}>)
  // CHECK-NEXT: call @guard(%[[X]], %[[Y]])
  // CHECK-NEXT: call @forward(%[[X]], %[[Y]])
  // CHECK-NEXT: "dovetail.write"
  // CHECK-LABEL: func.func @forward
  // CHECK-NOT: @guard
  func.func @joint(%x: !r, %y: !r) {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = "dovetail.read"(%y) : (!r) -> !v
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!v, !r) -> ()
    return
  }
}
