"""These tests need GPUs, or what stands in for them: `pytest --device cuda`, `pytest --device emulated-cuda`."""

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    return True if config.getoption("--device") == "cpu" else None
