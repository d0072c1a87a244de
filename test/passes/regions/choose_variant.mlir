// RUN: dovetail-opt %s --pass-pipeline='choose-variant{regions=forward_region_0 variant=undistributed driver=local-task measured="undistributed on local-task 3.1 us"},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='choose-variant{regions=forward_region_0 measured="split 2.0 us"}' | FileCheck %s --check-prefix=SIZE
// RUN: not dovetail-opt %s --pass-pipeline='choose-variant{regions=forward_region_7}' 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not dovetail-opt %s --pass-pipeline='choose-variant{variant=fast}' 2>&1 | FileCheck %s --check-prefix=VARIANT
// RUN: not dovetail-opt %s --pass-pipeline='choose-variant{driver=cuda}' 2>&1 | FileCheck %s --check-prefix=DRIVER
//
// Catches a choice that is not in the text, which is all that runs; one that other regions get; and one that nothing can
// compile or run.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// MISSING: 'builtin.module' op has no region '@forward_region_7', it has @forward_region_0, @forward_region_1
// VARIANT: pass 'choose-variant': option 'variant' expects one of 'default', 'data-tiling', 'undistributed', 'aggressive-fusion', 'rows-by-twos', 'by-blocks', 'by-parts', got 'fast'
// DRIVER: pass 'choose-variant': option 'driver' expects one of 'plan', 'local-sync', 'local-task', got 'cuda'
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK: func.func private @forward_region_0(
  // CHECK-SAME: attributes {dovetail.driver = "local-task", dovetail.measured = "undistributed on local-task 3.1 us", dovetail.role = "region", dovetail.variant = "undistributed"}
  // SIZE: func.func private @forward_region_0(
  // SIZE-SAME: attributes {dovetail.measured = "split 2.0 us", dovetail.role = "region"}
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  // CHECK: func.func private @forward_region_1(
  // CHECK-SAME: attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @forward_region_1(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.neg %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}
