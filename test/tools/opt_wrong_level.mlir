// RUN: not dovetail-opt %s --pass-pipeline='lower-regions' 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not dovetail-opt %s --pass-pipeline='partition,partition' 2>&1 | FileCheck %s --check-prefix=TWICE
//
// Catches a pass on a module that it has nothing to do with: it would change nothing, say so to nobody, and leave a
// module that claims a level whose language it does not speak.

// LOWER: pass 'lower-regions{{.*}}' failed: {{.*}}'builtin.module' op is at level "joint", but the pass runs at "program"
// TWICE: pass 'partition{{.*}}' failed: {{.*}}'builtin.module' op is at level "split", but the pass runs at "joint"
!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    return %x : !r
  }
}
