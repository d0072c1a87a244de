"""What the dialect's ops may touch, as MLIR sees it; the one file that uses the bindings' effect interface.

An op without any of these is never merged, moved or removed: the safe default, which every op that hands memory to
the user keeps.
"""

from torch_mlir import ir


class Reads:
    """The op only reads memory: it can be dropped, and merged when no write lies between."""

    class Model(ir.MemoryEffectsOpInterface):
        @staticmethod
        def get_effects(op, effects):
            effects.append(ir.MemoryEffect.Read)

    @staticmethod
    def attach(op_name: str) -> None:
        Reads.Model.attach(op_name)


class Writes:
    """The op stores to memory: it is never dropped, and no read is merged across it."""

    class Model(ir.MemoryEffectsOpInterface):
        @staticmethod
        def get_effects(op, effects):
            effects.append(ir.MemoryEffect.Write)

    @staticmethod
    def attach(op_name: str) -> None:
        Writes.Model.attach(op_name)
