"""Nested graphs as a part of the graph that calls them: what was said of the region is said of its ops."""

import functools

import torch
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from dovetail.frontend.dynamo.checkpoint_regions import region_of
from dovetail.frontend.dynamo.graph import lift_attributes
from dovetail.frontend.dynamo.inline_subgraphs import inline_subgraphs


def graph_of(fn, *arguments) -> torch.fx.GraphModule:
    graphs: list[torch.fx.GraphModule] = []

    def backend(gm, inputs):
        graphs.append(gm)
        return gm.forward

    torch._dynamo.reset()
    torch.compile(fn, backend=backend, fullgraph=True)(*arguments)
    return graphs[0]


def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE


POLICY = functools.partial(create_selective_checkpoint_contexts, policy)


def nested(x):
    inner = functools.partial(checkpoint, torch.cos, use_reentrant=False, context_fn=POLICY)
    first = checkpoint(lambda x: inner(x.sin()).tan(), x, use_reentrant=False)
    return checkpoint(torch.exp, first, use_reentrant=False) + 1


def test_regions_by_node():
    """Catches a node in the wrong region, an inner region that counts as one of its own, and a policy that is lost."""
    gm, _ = lift_attributes(graph_of(nested, torch.rand(3).requires_grad_()))
    inline_subgraphs(gm)
    regions = {node.name: region_of(node) for node in gm.graph.nodes if node.op in ("call_function", "call_method")}
    numbers = {name: region and region.number for name, region in regions.items()}
    assert list(numbers) == ["sin", "cos", "tan", "exp", "add"], gm.graph
    assert numbers["sin"] == numbers["cos"] == numbers["tan"] != numbers["exp"]
    assert numbers["exp"] is not None
    assert numbers["add"] is None
    assert [name for name, region in regions.items() if region and region.contexts] == ["cos"]


def test_graphs_that_the_eager_path_runs():
    """Catches a capture that rewrites nested graphs in place: the eager path would run them without checkpoints."""
    gm = graph_of(nested, torch.rand(3).requires_grad_())
    before = {name: str(each.graph) for name, each in gm.named_modules() if isinstance(each, torch.fx.GraphModule)}
    copied, _ = lift_attributes(gm)
    inline_subgraphs(copied)
    after = {name: str(each.graph) for name, each in gm.named_modules() if isinstance(each, torch.fx.GraphModule)}
    assert before == after
    assert len(before) == 4
