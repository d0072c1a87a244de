"""Sizes, from what a type says to what a launch is given: bounds, arithmetic, and the facts that guards state.

- `OpenSize` (`dialects/torch_facts/sizes.py`): what a tensor's type says, a number or nothing.
- `KnownSize` (`dialects/sizes/symbols.py`): what the module says, a number or an
  expression of symbols. Passes ask for this one.
- `Number` (`dialects/dovetail/numbers.py`): what an op of ours takes, a number or a value of the program.
- `MaybeOpen` (`runtime/launches/plan_records.py`): what a plan is loaded as, a number or the register that it is in.

Nothing here computes elements, or says what an op does.
"""
