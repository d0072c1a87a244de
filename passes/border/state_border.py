"""Pass `state-border`: says of each saved value whose memory it is, and which gradients need it unchanged."""

from torch_mlir import ir

from dovetail.dialects.attributes import BACKWARD, FORWARD, IN_RESULT
from dovetail.dialects.building.cloning import state_facts
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import Module, referred
from dovetail.passes.base import Pass
from dovetail.passes.border.check_border import check_border
from dovetail.passes.border.memory_of_results import memory_of_results
from dovetail.passes.border.memory_of_saved import MemoryOfSaved


class StateBorderPass(Pass, name="state-border", runs_at="split"):
    """Says of each saved value what the runtime then only reads: whose memory it is, and who needs it unchanged.

    A checked value is an owned result, or lies in the memory of one or of an argument. A backward from some results
    raises if memory has changed that one of these needs: eager's backward does (`dovetail.watched`), or the program's
    (`dovetail.uses`). An owned result in whose memory a checked value lies is checked like it. What the user only got a
    copy of is private after all. Where the caller passes or gets wrapper subclasses, whose versions are their own,
    results of `@call` say in which owned result's memory they lie.

    Before:  `@forward(...) -> (!r, !v {dovetail.saved = "checked"})`, `@backward(!v, !r {dovetail.tangent_of = 0})`
    After:   `@forward(...) -> (!r, !v {dovetail.checked_for = array<i64: 0>, dovetail.result = 0, dovetail.saved =
             "checked"})`, `@backward(!v {dovetail.uses = array<i64: 0>}, !r {dovetail.tangent_of = 0})`
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module)
        for border in found.borders.values():
            check_border(border, found)
            memory = MemoryOfSaved(border, found)
            facts, owned = memory.facts(), memory.owned
            with module.context:
                on_results = {number: each.on_result for number, each in facts.items()}
                saved = {number - owned: each.on_argument for number, each in facts.items() if number >= owned}
                state_facts(found.functions[referred(border, FORWARD)], "res_attrs", on_results)
                state_facts(found.functions[referred(border, BACKWARD)], "arg_attrs", saved)
        with module.context:
            results = {number: {IN_RESULT: i64(made)} for number, made in memory_of_results(found).items()}
            if results:
                state_facts(found.call, "res_attrs", results)
