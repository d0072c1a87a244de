"""Leaves out the names of functions for logs that nobody reads: to find them takes a seventh of a warm start."""

import logging

from torch._dynamo import output_graph, symbolic_convert


def name_functions_for_logs_only() -> None:
    """Has Dynamo look for the function that a traced line stands in where its log says so.

    It asks for each call that it traces, and only then whether the log is on.
    """
    asked = getattr(symbolic_convert, "get_funcname", None)  # not of each version
    if asked is None or asked.__module__ == __name__:
        return
    logs = (output_graph.trace_call_log, symbolic_convert.trace_call_log, symbolic_convert.trace_source_log)

    def name(filename: str, lineno: int) -> str | None:
        return asked(filename, lineno) if any(log.isEnabledFor(logging.DEBUG) for log in logs) else None

    symbolic_convert.get_funcname = name
