"""Lines that eager refuses, by types, numbers, shapes, indices, data or Python's own rules; and writes before them."""

from dovetail.tools.fuzz.rules import Rule, always

_F = "torch.nn.functional"
_MASK = "({0} > 0)"
_WHOLE = "({0} > 0).int()"

BY_TYPE = (
    f"1 - {_MASK}",
    f"{{0}} - {_MASK}",
    f"{_MASK} - {_MASK}",
    f"-{_MASK}",
    f"{_MASK}.abs()",
    f"{_MASK}.ceil()",
    f"{_MASK}.sign().floor()",
    f"{_MASK}.clone().sub_({_MASK})",
    f"{_F}.gelu({_WHOLE})",
    f"{_F}.silu({_WHOLE})",
    f"{_F}.elu({_WHOLE})",
    f"{_F}.softplus({_WHOLE})",
    f"{_F}.leaky_relu({_MASK}, 0.1)",
    f"{_WHOLE}.frac()",
    f"{_WHOLE}.lerp({_WHOLE}, 0.5)",
    f"{_WHOLE}.clone().add_(0.5)",
    f"{_WHOLE}.clone().mul_({{0}}.float())",
    f"{_WHOLE}.clone().div_(2)",
    f"{_WHOLE}.clone().sqrt_()",
    f"{_WHOLE}.mean()",
    f"{_WHOLE}.var()",
    f"{_WHOLE}.norm()",
    "{0}.float() & 3",
    "~{0}.float()",
    "{0}.double() >> 1",
    f"{_MASK} << {{0}}.half()",
    "torch.bitwise_xor({0}.float(), 1)",
    "torch.gcd({0}.float(), {0}.float())",
    "{0}.reshape(-1, 1).float() @ {0}.reshape(1, -1).double()",
    f"{{0}}.reshape(-1, 1).float() @ {_WHOLE}.reshape(1, -1)",
    "torch.where({0}, {0}, {0})",
    "{0}.masked_fill({0}, 0.5)",
    "{0}.reshape(-1)[{0}.reshape(-1).float()]",
    "{0}.reshape(-1).float().index_add(0, torch.zeros(1, dtype=torch.int64), torch.ones(1, dtype=torch.float64))",
    f"torch.complex({_WHOLE}, {_WHOLE})",
)
BY_NUMBER = (
    f"{_WHOLE}.fill_(2**40)",
    f"{_WHOLE}.clone().masked_fill_({_MASK}, 2**40)",
    "{0}.to(torch.int8).masked_fill({0} > 0, 300)",
    f"{{0}}.half().masked_fill({_MASK}, 1e9)",
    "torch.ones_like({0}, dtype=torch.uint8).fill_(-1000)",
    f"{_WHOLE} ** -1",
    f"{_F}.dropout({{0}}.float(), 1.5)",
    "torch.div({0}, 2, rounding_mode='up')",
)
BY_SHAPE = (
    "torch.ones(2) + torch.ones(3) * {0}.sum()",
    "{0} + torch.ones(*(each + 2 for each in {0}.shape), 5)",
    "{0}.reshape(-1, {0}.numel() + 1)",
    "{0}.view(*{0}.shape, 7)",
    "{0}.sum(9)",
    "{0}.transpose(0, 7)",
    "{0}.softmax(-8)",
    "{0}.flatten()[{0}.numel()]",
    "{0}.expand(-1, *{0}.shape, 3, 2)",
    "torch.cat([{0}.reshape(-1, 1), torch.ones(2, 2)])",
    "torch.stack([{0}.flatten(), torch.ones({0}.numel() + 1)])",
    "{0}.reshape(-1, 1).float() @ torch.ones(3, 2)",
    f"{_F}.layer_norm({{0}}.float(), (1234,))",
    "{0}.clone().add_(torch.ones(3, *{0}.shape))",
    "{0}.permute(0, 0)",
    "{0}.squeeze().unsqueeze(9)",
    "{0}.split(-1)",
)
BY_DATA = (
    "torch.linalg.cholesky(-torch.eye(3) - {0}.float().abs().sum().nan_to_num(0, 0, 0) * 0)",
    "torch.linalg.inv(torch.zeros(2, 2) * {0}.numel())",
    "{0}.flatten().gather(0, torch.tensor([10**6]))",
    "{0}.flatten().float().scatter(0, torch.tensor([10**6]), 1.0)",
    "torch.multinomial(-torch.ones(3), 1) + {0}.numel()",
    f"{_WHOLE}.flatten() // torch.zeros((), dtype=torch.int32)",
    f"{_WHOLE} % 0",
    "torch.zeros(2, 2).item() + {0}",
    "(lambda x: x.index_add_(0, torch.arange(x.numel()), x))({0}.flatten().clone())",
    "(lambda x: x.scatter_(0, torch.arange(x.numel()), x))({0}.flatten().clone())",
)
BY_PYTHON = (
    "{0} + [1.0][3]",
    "{0} * (1 // 0)",
    "{0} * {{}}['scale']",
    "{0} + None",
    "{0} + 'text'",
    "{0}.no_such_method()",
    "{0} * int('one')",
    "float({0}.shape) + {0}",
)
CAUSES = {"types": BY_TYPE, "numbers": BY_NUMBER, "shapes": BY_SHAPE, "data": BY_DATA, "Python": BY_PYTHON}
_WEIGHTS = {"types": 12, "numbers": 5, "shapes": 3, "data": 3, "Python": 2}

REFUSED = tuple(
    Rule(_WEIGHTS[cause] / len(templates), always(template))
    for cause, templates in CAUSES.items()
    for template in templates
)

WRITES = tuple(
    Rule(1, always(template))
    for template in (
        "{0}.detach().add_(1)",
        "{0}.detach().mul_(2)",
        "{0}.data.zero_()",
        "{0}.detach()[..., :1].add_(1)",
    )
)
