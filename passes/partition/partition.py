"""Pass `partition`: one joint function to `@call`, `@forward` and `@backward`."""

from torch_mlir import ir

from dovetail.dialects.attributes import LEVEL
from dovetail.dialects.dovetail import GradientOp
from dovetail.dialects.reading import Module
from dovetail.errors import OptionError
from dovetail.passes.base import Pass
from dovetail.passes.partition.build_call import build_apply, build_call
from dovetail.passes.partition.build_halves import build_backward, build_forward
from dovetail.passes.partition.choose_saved import choose_saved
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.saved_memory import SavedMemory

ALGORITHMS = ("min-cut", "default")


class PartitionPass(Pass, name="partition", runs_at="joint"):
    """Splits the joint function into what the user calls, the forward and the backward.

    `@call` keeps everything that touches the user's memory; `@forward` computes what it hands out (`own`ed memory,
    then the saved values), `@backward` takes the saved values and the tangents. `algorithm=min-cut` recomputes cheap
    ops in the backward to save fewer bytes, but on a CPU no elementary function for library calls of both halves;
    what a second derivative keeps alive anyway costs nothing;
    `default` saves everything that the backward uses. With a `memory-budget`
    below 1, `min-cut` recomputes more, for the least work: 0 saves the fewest bytes that there can be, 0.5 at most half
    of what lies between. All obey `dovetail.recompute`, which is gone afterwards: what the user wants recomputed is
    saved only where an effect (random numbers) computed it. Without a `dovetail.gradient` there is no backward and
    `@call` calls `@forward`.

    Before:  `@joint(%x, %w) { ...; %o = own; write; %t = tangent %o; ...; gradient %g, %w; return %o }`
    After:   `@call(%x, %w) { %o = call @apply(%x, %w); write; return %o }`, `@apply` being declared with
             `{dovetail.forward = @forward, dovetail.backward = @backward}`, and those two.
    """

    algorithm: str = "min-cut"
    memory_budget: float = 1.0

    def __post_init__(self):
        if self.algorithm not in ALGORITHMS:
            valid = " or ".join(f"'{name}'" for name in ALGORITHMS)
            raise OptionError(f"pass 'partition': option 'algorithm' expects {valid}, got '{self.algorithm}'")
        if not 0 <= self.memory_budget <= 1:
            raise OptionError(
                f"pass 'partition': option 'memory-budget' expects a number from 0 to 1, got {self.memory_budget}"
            )
        if self.memory_budget < 1 and self.algorithm != "min-cut":
            raise OptionError("pass 'partition': option 'memory-budget' needs algorithm 'min-cut', got 'default'")

    def run(self, module: ir.Module) -> None:
        joint = Module(module).joint
        with joint.location, ir.InsertionPoint(module.body):
            graph = JointGraph(joint)
            halves, memory = Halves(graph), SavedMemory(graph)
            trained = bool(graph.of(GradientOp))
            saved = choose_saved(graph, halves, memory, self.algorithm, self.memory_budget) if trained else []
            owned = build_forward(graph, halves, memory, saved)
            if trained:
                build_backward(graph, halves, saved)
                build_apply(graph, memory, owned)
            build_call(graph, halves, memory, owned)
        joint.erase()
        module.operation.attributes[LEVEL] = ir.StringAttr.get("split")
