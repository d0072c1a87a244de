"""Flags of IREE's compiler that every target's code is made with."""

COMPILER_PACKAGE = "iree-base-compiler"

COMMON = (
    "--iree-input-type=torch",
    # Otherwise float64 regions would silently compute in float32.
    "--iree-input-demote-f64-to-f32=false",
    # Computed by a program of their own when a module is loaded, which no plan could say.
    "--iree-opt-const-expr-hoisting=false",
    # A concatenation on an inner dimension else costs a transposition of every operand.
    "--iree-opt-outer-dim-concat=false",
    # One process per region fills the cores; threads inside each only add switches.
    "--mlir-disable-threading",
)
