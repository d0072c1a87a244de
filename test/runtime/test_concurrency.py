"""One compiled function, many threads and processes."""

import os
import threading

import torch


def fn(x):
    return (x.sin() * x).sum()


def gradient_is_right(call, size: int) -> bool:
    x = torch.linspace(-1, 1, size).requires_grad_()
    call(x).backward()
    return torch.allclose(x.grad, (x.cos() * x + x.sin()).detach())


def test_threads():
    """Catches state that two calls share: destinations, arguments, saved values."""
    compiled = torch.compile(fn, backend="dovetail")
    outcomes = []

    def work():
        outcomes.extend(gradient_is_right(compiled, 4) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 200


def test_forked_process():
    """Catches a child that waits for threads which only its parent has, in a compiled function or in a new one."""
    compiled = torch.compile(fn, backend="dovetail")
    assert gradient_is_right(compiled, 4)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if gradient_is_right(compiled, 4) and gradient_is_right(compiled, 5) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
