// RUN: dovetail-opt %s --emit-bytecode | dovetail-compile - -o %t.dovetail
// RUN: dovetail-run %t.dovetail --input=4xf32=0 --output=@%t.npy > %t.out 2> %t.err
// RUN: dovetail-run %t.dovetail --input=@%t.npy | FileCheck %s
// RUN: FileCheck %s --check-prefix=CHANGED < %t.out
// RUN: FileCheck %s --check-prefix=STATS < %t.err
//
// Catches commands that work alone and not together: what one writes, the next one reads. The details are in
// test_compile.py and test_run.py.

// CHECK: result 0: 4xf32=[2.7182817,2.7182817,2.7182817,2.7182817]
// CHECK-NEXT: input 0 (L['x']), changed: 4xf32=[2.7182817,2.7182817,2.7182817,2.7182817]
// CHANGED-NOT: result
// CHANGED: input 0 (L['x']), changed: 4xf32=[1.,1.,1.,1.]
// STATS: graphs: 1
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "L['x']"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @joint(%x: !r {dovetail.name = "L['x']"}) -> !r attributes {dovetail.role = "joint"} {
    call @guard(%x) : (!r) -> ()
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    "dovetail.write"(%1, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
