"""Pass `verify-comparisons`: no comparison meets two computations of one value."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, Role
from dovetail.passes.base import Pass, fail
from dovetail.passes.exactness.value_flow import FlowStep, ValueFlow, flows
from dovetail.passes.exactness.ways import Way, decided_again, ways


class VerifyComparisonsPass(Pass, name="verify-comparisons"):
    """Checks that whatever decides by last bits does not meet two computations of one value. Changes nothing.

    Reads what functions compute, not `dovetail.pinned`. A value that both `@forward` and `@backward` compute is
    computed twice; one that several ops of a region use may be computed once for each by IREE, beside what it stores.
    Where both functions take one decision, they do so by the same bits.
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module)
        for flow in flows(module):
            for index, step in enumerate(flow.steps):
                if step.decided_by:
                    self._check_computed_once(flow, index)
            for index, source in decided_again(flow, found.of(Role.FORWARD), found.of(Role.BACKWARD)).items():
                what = f"'{_op(flow.steps[source]).name}' at {_op(flow.steps[source]).location}"
                text = f"in '@backward' decides once more what '@forward' did, by {what}, which it computes again"
                raise fail(_op(flow.steps[index]), text)
        return False

    def _check_computed_once(self, flow: ValueFlow, decision: int) -> None:
        along = _computed_along_the_way(flow, decision)
        first: dict[int, tuple[int, set[Way]]] = {}
        for index, by in ways(flow, decision, lambda each: each not in along).items():
            step = flow.steps[index]
            if not step.differs:
                continue
            other, others = first.get(flow.key(index), (index, by))
            first[flow.key(index)] = other, by | others
            if len(by | others) > 1 and (other != index or index in along):
                raise fail(_op(flow.steps[decision]), _meeting(flow, step, flow.steps[other]))


def _computed_along_the_way(flow: ValueFlow, decision: int) -> set[int]:
    """The steps that `decision` comes from and that another of them uses in the same region, not from memory."""

    def used(index: int) -> Sequence[int]:
        step = flow.steps[index]
        return step.decided_by if index == decision else flow.alike(step)

    users = reachable([decision], lambda index: (step for step in used(index) if flow.steps[step].varies))
    inside = ((flow.function(flow.steps[user]), step) for user in users for step in used(user))
    return {
        step for function, step in inside if function in flow.regions and flow.function(flow.steps[step]) == function
    }


def _meeting(flow: ValueFlow, one: FlowStep, other: FlowStep) -> str:
    what = f"two computations of '{_op(one).name}' at {_op(one).location}"
    if one is other:
        return f"meets {what}: '@{flow.function(one)}' has it in memory or computes it along the way, once for each use"
    return (
        f"meets {what}: '@{flow.function(other)}' and '@{flow.function(one)}' compute it, and the last bit may differ"
    )


def _op(step: FlowStep) -> ir.Operation:
    assert step.op is not None
    return step.op
