"""Programs in new processes end, whatever they do."""

import pytest
from new_process import run_python


def test_a_program_that_hangs_is_ended_and_shown() -> None:
    """Catches a suite that waits for ever for one program, and nobody learns for which."""
    with pytest.raises(TimeoutError, match=r"did not end in 1 s(?s:.*)so far"):
        run_python("import time; print('so far', flush=True); time.sleep(60)", seconds=1)
