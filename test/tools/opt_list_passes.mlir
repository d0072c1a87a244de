// RUN: dovetail-opt --list-passes | FileCheck %s
// RUN: dovetail-opt --help | FileCheck %s --check-prefix=HELP
//
// Catches a pass, an option or a pipeline that exists and that the user can't find.

// CHECK: Passes:
// CHECK-NEXT: drop-redundant-copies {{.+}}
// CHECK-NEXT: inline-regions {{.+}}
// CHECK-NEXT: regions=<str> (default: empty)
// CHECK-NEXT: reason=<str> (default: "IREE did not compile the region")
// CHECK-NEXT: lower-regions {{.+}}
// CHECK-NEXT: merge-equal-values {{.+}}
// CHECK-NEXT: outline-regions {{.+}}
// CHECK-NEXT: partition {{.+}}
// CHECK-NEXT: algorithm=<str> (default: min-cut)
// CHECK-NEXT: place-ops {{.+}}
// CHECK-NEXT: plan-epilogue {{.+}}
// CHECK-NEXT: prove-in-place {{.+}}
// CHECK-NEXT: verify-level {{.+}}
// CHECK-NEXT: level=<str> (default: joint)
// CHECK-NEXT: Pipelines:
// CHECK-NEXT: compile {{.+}}
// CHECK-NEXT: MLIR's own passes

// HELP: usage: dovetail-opt
// HELP: -o OUT
// HELP: --pass-pipeline
// HELP: --list-passes
// HELP: --run-check
// HELP: --split-input-file
// HELP: --verify-diagnostics
// HELP: --traceback
