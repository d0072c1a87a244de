// RUN: dovetail-opt %s --verify-diagnostics --emit-bytecode > %t && not test -s %t
// RUN: rm -f %t && dovetail-opt %s --verify-diagnostics --emit-bytecode -o %t && not test -e %t
//
// Catches a traceback, or an empty module, where the module that was to become bytecode failed as expected.

func.func @undeclared() {
  return %x : i32 // expected-error {{use of undeclared SSA value name}}
}
