// RUN: dovetail-opt %s --pass-pipeline='eliminate-dead-writes' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='eliminate-dead-writes' --run-check -o %t
//
// Catches copies of a tensor to itself, writes that nobody sees, and what must stay: the version counter's moves, writes
// that autograd sees, that something reads, or that restore what another one changed.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}, !r {dovetail.name = "z"},
    !r {dovetail.name = "a", dovetail.group = 0 : i64, dovetail.start = 0 : i64, dovetail.root = 0 : i64, dovetail.object = 0 : i64},
    !r {dovetail.name = "b", dovetail.group = 0 : i64, dovetail.start = 8 : i64, dovetail.root = 0 : i64, dovetail.object = 1 : i64})
    attributes {dovetail.mutated = 5 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @joint(
  // CHECK-SAME: %[[X:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: {{.*}}, %[[Z:[a-z0-9]*]]: {{.*}}, %[[A:[a-z0-9]*]]: {{.*}}, %[[B:[a-z0-9]*]]: !dovetail
  func.func @joint(%x: !r, %y: !r, %z: !r, %a: !r, %b: !r) -> (!r) attributes {dovetail.role = "joint"} {
    func.call @guard(%x, %y, %z, %a, %b) : (!r, !r, !r, !r, !r) -> ()
    // CHECK: %[[OLD:.*]] = "dovetail.read"(%[[X]])
    // CHECK: %[[EXP:.*]] = torch.aten.exp %[[OLD]]
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    // CHECK: torch.aten.neg
    %2 = torch.aten.neg %1 : !v -> !v
    // COM: What x holds already; hidden, no counter moves.
    // CHECK-NEXT: "dovetail.touch"(%[[X]]) {versions = 2 : i64}
    "dovetail.write"(%0, %x) {mode = "no_grad", versions = 2 : i64} : (!v, !r) -> ()
    "dovetail.write"(%0, %x) {mode = "hidden"} : (!v, !r) -> ()
    // COM: Autograd sees a tracked write of the same.
    // CHECK-NEXT: "dovetail.write"(%[[OLD]], %[[X]]) {mode = "tracked"}
    "dovetail.write"(%0, %x) {mode = "tracked"} : (!v, !r) -> ()

    // COM: The last of three counts, a touch between them or not; of a hidden one nothing is left.
    // CHECK-NEXT: "dovetail.touch"(%[[Y]]) {versions = 1 : i64}
    // CHECK-NEXT: "dovetail.touch"(%[[Y]]) {versions = 4 : i64}
    // CHECK-NEXT: "dovetail.write"(%[[OLD]], %[[Y]]) {mode = "no_grad"}
    "dovetail.write"(%1, %y) {mode = "no_grad"} : (!v, !r) -> ()
    "dovetail.touch"(%y) {versions = 4 : i64} : (!r) -> ()
    "dovetail.write"(%0, %y) {mode = "hidden"} : (!v, !r) -> ()
    "dovetail.write"(%2, %y) {mode = "hidden"} : (!v, !r) -> ()
    "dovetail.write"(%0, %y) {mode = "no_grad"} : (!v, !r) -> ()
    // COM: A read between two writes sees the first.
    // CHECK: "dovetail.write"(%[[EXP]], %[[Z]])
    // CHECK-NEXT: %[[SEEN:.*]] = "dovetail.read"(%[[Z]])
    // CHECK-NEXT: "dovetail.write"(%[[OLD]], %[[Z]])
    "dovetail.write"(%1, %z) {mode = "no_grad"} : (!v, !r) -> ()
    %3 = "dovetail.read"(%z) : (!r) -> !v
    "dovetail.write"(%0, %z) {mode = "no_grad"} : (!v, !r) -> ()

    // COM: b lies in the memory of a: its old value is not there any more when it is written back.
    // CHECK: %[[BACK:.*]] = "dovetail.read"(%[[B]])
    // CHECK-NEXT: "dovetail.write"(%{{.*}}, %[[A]])
    // CHECK-NEXT: "dovetail.write"(%[[BACK]], %[[B]])
    // CHECK-NEXT: "dovetail.write"(%{{.*}}, %[[A]])
    %4 = "dovetail.read"(%b) : (!r) -> !v
    "dovetail.write"(%2, %a) {mode = "no_grad"} : (!v, !r) -> ()
    "dovetail.write"(%4, %b) {mode = "no_grad"} : (!v, !r) -> ()
    "dovetail.write"(%1, %a) {mode = "no_grad"} : (!v, !r) -> ()
    // CHECK: "dovetail.own"(%[[SEEN]])
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
