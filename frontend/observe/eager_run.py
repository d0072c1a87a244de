"""One eager run of a graph on tensors without memory, and where every tensor in it comes from.

What the user would observe of a call (who is whose view, who was written, what autograd saw of it) is read from this
run, never from what tracing makes of the graph.
"""

from collections.abc import Iterator, Sequence

import torch
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_leaves

from dovetail.dialects.by_key import by_key
from dovetail.dialects.statements.wrapped import Convention, Wrapped
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.autograd_graph import edges, reachable, version
from dovetail.frontend.observe.dispatch_log import DispatchLog
from dovetail.frontend.observe.recorder import Recorder
from dovetail.frontend.observe.run_facts import EagerRun, FirstSeen
from dovetail.frontend.observe.settings import refuse_settings
from dovetail.frontend.observe.stand_ins import stand_ins
from dovetail.frontend.observe.wrapped_arguments import PlainArguments, plain_tensors, rebuilt
from dovetail.frontend.observe.wrapped_results import count_versions, flatten_results


def eager_run(
    gm: torch.fx.GraphModule, inputs: PlainArguments, together: Sequence[tuple[int, ...]], env: ShapeEnv | None = None
) -> EagerRun:
    """Runs `gm` on stand-ins for `inputs`, computes nothing, draws no random numbers.

    Those that are `together`, by position, share memory as the inputs do. Sizes that are open in `env` stay so.
    """
    refuse_settings(gm)
    known = env or ShapeEnv()
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=known)
    arguments = stand_ins(mode, inputs.values, together)
    run = EagerRun(mode, arguments, [_state(argument) for argument in arguments])
    run.history, run.edges = reachable(arguments), [edges(argument) for argument in arguments]
    before = [version(argument) for argument in arguments]
    ambient = torch.is_grad_enabled()
    log = DispatchLog(arguments)
    # A run leaves no numbers behind that the trace would have to account for.
    unnoted = known.ignore_fresh_unbacked_symbols()
    # What traces a branch as it runs, as gradients of `cond` do, looks for the tensors' mode in the context first.
    with tracing(TracingContext(mode)), mode, log, torch.set_grad_enabled(ambient), unnoted:
        given = rebuilt(inputs.passed, arguments)
        results = tree_leaves(Recorder(gm, run, log, ambient).run(*given), is_leaf=lambda each: each is None)
        run.grad_mode = None if torch.is_grad_enabled() == ambient else not ambient
        passed = count_versions(inputs, arguments, given, run.memories, run.tracked)
        returned = flatten_results(results, given)
    run.fixes_offsets = log.addresses_storage
    run.undecided = log.undecided
    output = gm.graph.output_node().name
    # Parts of differentiable wrappers have their gradient from them, not from what they are views of.
    for index, alias, part in returned.aliases:
        run.origins[id(alias)] = FirstSeen(output, index, False)
        run.parents[id(alias)] = part, ()
        run.barriers.add(id(alias))
    run.results, run.convention = returned.values, Convention(passed, returned.entries)
    around = (*_around(passed, given, arguments), *_around(returned.entries, results, returned.values))
    run.around = by_key((each, wrapper) for part, wrapper in around for each in {id(part), id(run.path(part)[0])})
    run.versions = [version(argument) - old for argument, old in zip(arguments, before, strict=True)]
    return run


def _around(entries: Sequence, outside: Sequence, plain: Sequence) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Each part, as the program has it and as the wrapper does, with the wrapper."""
    for entry, wrapper in zip(entries, outside, strict=True):
        if isinstance(entry, Wrapped):
            parts = [*plain_tensors([wrapper]), *(plain[each] for each in entry.positions())]
            yield from ((part, wrapper) for part in parts)


def _state(value) -> tuple | None:
    if not isinstance(value, torch.Tensor):
        return None
    return storage(value), value.untyped_storage().nbytes(), value.storage_offset()
