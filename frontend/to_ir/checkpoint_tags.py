"""What `torch.utils.checkpoint` says of an FX node: tracing leaves its policy, and the number of its region, behind."""

import operator

import torch

from dovetail.dialects.reachable import reachable
from dovetail.dialects.torch_facts.ops import Kind, kind_of_name


def recompute_policy(node: torch.fx.Node) -> str | None:
    """The policy for `node`'s values in the words of `dialects.statements.recompute`, None where none is.

    What a later region takes from an earlier one is saved, as eager saves the arguments of each region: else the
    backward of the last would recompute all before it.
    """
    policy = node.meta.get("recompute")
    if policy is None:
        return None
    region = node.meta.get("ac_graph_id")
    if region is not None and any(user.meta.get("ac_graph_id", region) != region for user in _users(node)):
        return "must_save"
    return policy.name.lower()


def _users(node: torch.fx.Node) -> set[torch.fx.Node]:
    """Who uses `node`'s memory: its users, and those of its results and views."""
    return reachable(node.users, lambda user: user.users if user.target is operator.getitem or _is_view(user) else ())


def _is_view(node: torch.fx.Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and kind_of_name(str(target)) is Kind.VIEW
