"""Runs cases in processes of their own: a backend may crash, and must find no graph in a cache but the case's."""

import multiprocessing
import os
import signal
import tempfile
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from dovetail.tools.wrongs.case import Case, Observation, fact_name
from dovetail.tools.wrongs.outcome import Observed, Outcome, judged, merged, shown

BACKENDS = ("inductor", "dovetail")
TIMEOUT = 300.0
"""Seconds that one process may take."""

# Processes are forked from one that has imported torch, and has run nothing.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["torch._dynamo"])


def measure(case: Case, folder: Path, device: str = "cpu") -> dict[str, Outcome]:
    """The row of a case: what eager does, and the outcome of each backend, which no backend has where eager fails.

    Args:
        case: the case.
        folder: for caches; inductor keeps there what it knows of the machine and its C++ compiler.
        device: where the case makes its tensors.
    """
    expected = observed(case, "eager", folder, device)
    if expected.failure:
        unknown = Outcome(False, "nothing to compare with")
        return {"eager": Outcome(False, expected.failure), **dict.fromkeys(BACKENDS, unknown)}
    outcomes = {backend: judged(expected, observed(case, backend, folder, device)) for backend in BACKENDS}
    return {"eager": Outcome(True, shown(expected.facts)), **outcomes}


def observed(case: Case, backend: str, folder: Path, device: str = "cpu") -> Observed:
    """What all orders of a case saw; its processes share a cache of graphs where it has several."""
    parts: list[Observed] = []
    for order in case.orders():
        with tempfile.TemporaryDirectory(dir=folder) as own:
            keeps_graphs = len(order) > 1
            environment = {
                "DOVETAIL_CACHE_DIR": own,
                "TORCHINDUCTOR_CACHE_DIR": own if keeps_graphs else str(folder),
                "TORCHINDUCTOR_FX_GRAPH_CACHE": str(int(keeps_graphs)),
                "TORCHINDUCTOR_AUTOGRAD_CACHE": str(int(keeps_graphs)),
                "TORCHINDUCTOR_COMPILE_THREADS": "1",  # one small kernel is not worth a pool of processes
            }
            for observation in order:
                part = in_a_process(case, observation, backend, environment, device)
                facts = {fact_name(order, observation, name): fact for name, fact in part.facts.items()}
                parts.append(Observed(facts, part.failure, part.eagerly))
    return merged(parts)


def in_a_process(
    case: Case, observation: Observation, backend: str, environment: dict[str, str], device: str
) -> Observed:
    """What one observation saw in a new process, or how that process ended."""
    receiver, sender = _processes.Pipe(duplex=False)
    arguments = (case.function, observation, backend, environment, device, sender)
    process = _processes.Process(target=_observe, args=arguments)
    process.start()
    sender.close()
    try:
        if not receiver.poll(TIMEOUT):
            process.kill()
            return Observed(failure=f"does not end within {TIMEOUT:.0f} s")
        return receiver.recv()
    except EOFError:  # the process ended and sent nothing
        process.join()
        return Observed(failure=f"crashes the process: {_cause(process.exitcode or 0)}")
    finally:
        process.join()


def _cause(exit_code: int) -> str:
    return signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"


def _observe(
    function: Callable,
    observation: Observation,
    backend: str,
    environment: dict[str, str],
    device: str,
    sender: Connection,
) -> None:
    os.environ.update(environment)
    warnings.simplefilter("ignore")
    # Imported here: it is the process, and not the one that it is forked from, that loads a compiler.
    import torch

    from dovetail.tools.wrongs.observe import observe

    if device != "cpu":
        torch.set_default_device(device)
    sender.send(observe(function, observation, backend))
