// RUN: dovetail-opt --list-passes | FileCheck %s
// RUN: dovetail-opt --help | FileCheck %s --check-prefix=HELP
//
// Catches a listing without documentation or options, and a help text that has lost its groups. That every pass is
// listed is in test_opt_command_line.py.

// CHECK: Passes:
// CHECK: --partition
// CHECK-NEXT: Splits the joint function into what the user calls, the forward and the backward.
// CHECK: Before:
// CHECK: After:
// CHECK: - algorithm=<str> (default: min-cut)
// CHECK: Pipelines:
// CHECK: --compile
// CHECK: - partition=<str> (default: min-cut)
// CHECK: Passes of MLIR's: canonicalize, cse, symbol-dce.

// HELP: usage: dovetail-opt [OPTION ...] [FILE]
// HELP: input and output:
// HELP: -o OUT
// HELP: --emit-bytecode
// HELP: --split-input-file
// HELP: passes:
// HELP: --pass-pipeline
// HELP: --stop-after
// HELP: --list-passes
// HELP: checks:
// HELP: --run-check
// HELP: --verify-each
// HELP: --verify-diagnostics
// HELP: reports, all on stderr:
// HELP: --mlir-print-ir-before
// HELP: --mlir-print-ir-after-all
// HELP: --mlir-timing
// HELP: --remarks
// HELP: --traceback
