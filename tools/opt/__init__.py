"""`dovetail-opt`: runs passes on a module, as the compiler does. docs/commands.md describes it."""
