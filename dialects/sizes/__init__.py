"""Sizes, from what a type says to what a launch is given: bounds, arithmetic, and the facts that guards state.

- `OpenSize` (`dialects/torch_facts/sizes.py`): what a tensor's type says, a number or nothing.
- `KnownSize` (`dialects/sizes/symbols.py`): what the module says, a number or an
  expression of symbols. Passes ask for this one.
- `Number` (`dialects/dovetail/numbers.py`): what an op of ours takes, a number or a value of the program.
- `MaybeOpen` (`runtime/launches/plan_records.py`): what a plan is loaded as, a number or the register that it is in.

They are one chain, of which each link is made from the one before. A type can't hold an expression of symbols, and says
nothing where a size is open; a launch computes with values, which an expression becomes; and a loaded plan needs no
MLIR, so it numbers them.

Nothing here computes elements, or says what an op does.
"""
