// RUN: not dovetail-opt %s --pass-pipeline=drop-redundant-copy > %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline=no-such-pass >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='partition{algo=default}' >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='partition{algorithm=fast}' >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='func.func(partition)' >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='partition{algorithm=default' >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='plan-epilogue' >> %t 2>&1
// RUN: not dovetail-opt %s --pass-pipeline='compile' >> %t 2>&1
// RUN: FileCheck %s < %t
//
// Catches a mistake in a pipeline that ends in a traceback, or in success, or in a message without its name and what
// would be valid. test_parse.py has every such message; here is what the command makes of them.

// CHECK-NOT: Traceback
// CHECK: dovetail-opt: unknown pass 'drop-redundant-copy'; did you mean 'drop-redundant-copies'?
// CHECK-NEXT: dovetail-opt: unknown pass 'no-such-pass'; see --list-passes
// CHECK-NEXT: dovetail-opt: pass 'partition' has no option 'algo', valid are 'algorithm'
// CHECK-NEXT: dovetail-opt: pass 'partition': option 'algorithm' expects 'min-cut' or 'default', got 'fast'
// CHECK-NEXT: dovetail-opt: pass 'partition' runs on the outermost 'builtin.module', it can't be nested in 'func.func'
// CHECK-NEXT: dovetail-opt: missing closing bracket in pipeline 'partition{algorithm=default'
// COM: Good passes, but not for this module.
// CHECK-NEXT: dovetail-opt: pass 'plan-epilogue' failed: expected a function of 'dovetail.role' "forward", the module has @f
// CHECK-NEXT: reproduce with: dovetail-opt {{.*}}.mlir --pass-pipeline=plan-epilogue
// CHECK-NEXT: dovetail-opt: pass 'verify-level' failed: loc("{{.*}}opt_pipeline_errors.mlir":{{[0-9]+}}:{{[0-9]+}}): 'builtin.module' op expects 'dovetail.level' to be "joint", got none
// CHECK-NEXT: reproduce with: dovetail-opt {{.*}}.mlir --pass-pipeline=verify-level
// CHECK-NOT: dovetail-opt:
// CHECK-NOT: Traceback
func.func @f() {
  return
}
