// For opt_verify_diagnostics.mlir: each module differs from its annotations in one way.

func.func @nothing_expected() {
  return %x : i32
}

// -----

// expected-error {{use of undeclared SSA value name}}
func.func @elsewhere() {
  return %x : i32
}

// -----

func.func @other_words() {
  // expected-error @below {{something else}}
  return %x : i32
}

// -----

// expected-error {{anything}}
// expected-note @unknown {{no place}}
func.func private @good()
