// RUN: not dovetail-opt %t.missing > %t 2>&1
// RUN: not dovetail-opt %S >> %t 2>&1
// RUN: not dovetail-opt %s -o %t.missing/out.mlir >> %t 2>&1
// RUN: %python -c "open(r'%t.bytes', 'wb').write(bytes([35, 255]))"
// RUN: not dovetail-opt %t.bytes >> %t 2>&1
// RUN: echo "func.func @f(" > %t.malformed
// RUN: not dovetail-opt %t.malformed >> %t 2>&1
// RUN: not dovetail-opt - < %t.malformed >> %t 2>&1
// RUN: not dovetail-opt %s --no-such-option >> %t 2>&1
// RUN: not dovetail-opt %s --run-check >> %t 2>&1
// RUN: FileCheck %s < %t
// RUN: not dovetail-opt %t.missing --traceback 2>&1 | FileCheck %s --check-prefix=ASKED
//
// Catches a file that can't be read or written, or an option that doesn't exist, ending in a traceback, in success, or
// in a message that does not name the file, or the line and column.

// CHECK-NOT: Traceback
// CHECK: dovetail-opt: {{.*}}.missing: No such file or directory
// CHECK-NEXT: dovetail-opt: {{.*}}tools: Is a directory
// CHECK-NEXT: dovetail-opt: {{.*}}.missing/out.mlir: No such file or directory
// CHECK-NEXT: dovetail-opt: {{.*}}.bytes: expected UTF-8 text, invalid start byte at byte 1
// CHECK-NEXT: dovetail-opt: Unable to parse module assembly:
// CHECK-NEXT: error: "{{.*}}.malformed":1:14: expected {{.*}}
// CHECK-NEXT: dovetail-opt: Unable to parse module assembly:
// CHECK-NEXT: error: "-":1:14: expected {{.*}}
// CHECK: usage: dovetail-opt
// CHECK: dovetail-opt: error: unknown option '--no-such-option'; see --help, and --list-passes for the passes
// CHECK-NEXT: dovetail-opt: can't run the module as it is: expected a function of 'dovetail.role' "joint" or "call"
// CHECK-NOT: dovetail-opt:
// CHECK-NOT: Traceback
// ASKED: Traceback
// ASKED: FileNotFoundError
func.func @f() {
  return
}
