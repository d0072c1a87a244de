"""Whether Dynamo may run a frame as it is, part by part, in place of the graph that it has made of it."""

import torch._dynamo.symbolic_convert as tracing


def may_break() -> bool:
    """Whether Dynamo waits for the present compilation, and nobody has asked for one graph.

    So it is not for the variants of a graph that later calls need, nor with `fullgraph=True`.
    """
    tracer = getattr(tracing.tls, "current_tx", None)
    return tracer is not None and not tracer.one_graph and not tracer.error_on_graph_break
