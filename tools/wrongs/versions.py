"""Version counters, by which autograd and others notice writes."""

import torch

from dovetail.tools.wrongs.case import Case, Facts


def double_data(x):
    x.data.mul_(2)


def moved_by_data(function) -> Facts:
    x = torch.ones(2)
    function(x)
    return {"_version": x._version}


def normalize(x, mean, variance):
    return torch.nn.functional.batch_norm(x, mean, variance, training=True)


def moved_by_batch_norm(function) -> Facts:
    mean, variance = torch.zeros(3), torch.ones(3)
    function(torch.arange(6.0).reshape(2, 3), mean, variance)
    return {"_version": [mean._version, variance._version]}


CASES = [
    Case("version_after_data", "`x.data.mul_(2)`: `x._version`", double_data, (moved_by_data,)),
    Case(
        "version_after_batch_norm",
        "batch norm in training: `_version` of its running mean and variance",
        normalize,
        (moved_by_batch_norm,),
    ),
]
