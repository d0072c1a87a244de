"""What the dialect's ops may touch, as MLIR sees it; the one file that uses the bindings' effect interface.

An op without any of these is never merged, moved or removed: the safe default, which every op that hands memory to
the user keeps.
"""

from torch_mlir import ir


class Reads(ir.MemoryEffectsOpInterface):
    """The op only reads memory: it can be dropped, and merged when no write lies between."""

    @staticmethod
    def get_effects(op, effects):
        effects.append(ir.MemoryEffect.Read)


class Writes(ir.MemoryEffectsOpInterface):
    """The op stores to memory: it is never dropped, and no read is merged across it."""

    @staticmethod
    def get_effects(op, effects):
        effects.append(ir.MemoryEffect.Write)
