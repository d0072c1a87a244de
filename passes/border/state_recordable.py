"""Pass `state-recordable`: says what a CUDA graph of a half may take for granted, and which ops none can stand for."""

from torch_mlir import ir

from dovetail.dialects.attributes import NOT_RECORDABLE, STAYS
from dovetail.dialects.building.cloning import state_facts
from dovetail.dialects.reading import Module, drop_attributes
from dovetail.dialects.statements.devices import CPU, Devices
from dovetail.dialects.statements.target import device_type
from dovetail.passes.base import Pass
from dovetail.passes.border.recordable import refusal, staying


class StateRecordablePass(Pass, name="state-recordable", runs_at="regions"):
    """Says of a program for a GPU what `mode="reduce-overhead"` needs to replay its halves as CUDA graphs.

    An argument stays where it is (`dovetail.stays`) that is a parameter, a buffer or updated in place, and so does what
    the forward made for the backward. No graph can stand for an op that the host decides by, waits for or runs
    (`dovetail.not_recordable` says why). Which regions launch nothing, only loading tells.

    Before:  `@call(!r, !r {dovetail.static})`, `@forward(!r, !r)`, `torch.operator "torch.aten.nonzero"(%x)`
    After:   `@forward(!r, !r {dovetail.stays})`, `torch.operator "torch.aten.nonzero"(%x) {dovetail.not_recordable =
             "the host waits for the values of aten.nonzero.default"}`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) == CPU:
            return False
        found, devices = Module(module), Devices(module)
        with module.context:
            for name, stays in staying(found).items():
                half = found.functions[name]
                taken = range(len(half.type.inputs))
                state_facts(half, "arg_attrs", {i: {STAYS: ir.UnitAttr.get() if i in stays else None} for i in taken})
                for op in found.ops(half):
                    drop_attributes(op, NOT_RECORDABLE)
                    if reason := refusal(op, devices):
                        op.attributes[NOT_RECORDABLE] = ir.StringAttr.get(reason)
        return True
