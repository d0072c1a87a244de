"""`dovetail.set_grad_mode`: what the call leaves autograd's mode at."""

from typing import Any

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of


class SetGradModeOp(VerifiedOp, name="set_grad_mode"):
    """Turns the recording of gradients on or off for what runs after it, the caller's code included.

    `"dovetail.set_grad_mode"() {enabled = false} : () -> ()`
    """

    enabled: Any  # a bool; the bindings have no constraint for it
    is_enabled = value_of("enabled")

    def problem(self) -> str:
        return verify.no_bool(self, "enabled")
