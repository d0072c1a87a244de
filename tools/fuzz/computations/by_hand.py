"""Lines that write out what libraries call: norms, softmax, attention, rotary embeddings, losses, optimizers' steps."""

from dovetail.tools.fuzz.computations.contractions import matrices
from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.computations.reductions import over_dim
from dovetail.tools.fuzz.rules import Rule, where

_MASK = "torch.ones({0}.shape[-2], {0}.shape[-2], dtype=torch.bool).triu(1)"
_ANGLES = "torch.arange({0}.shape[-1], dtype={0}.dtype)"
_HALF = "{0}.shape[-1] // 2"

_NORMS = (
    "{0}.mean(DIM, keepdim=True); {0}.var(DIM, correction=0, keepdim=True); ({0} - {1}) / ({2} + 0.1).sqrt()",
    "{0} - {0}.mean(DIM, keepdim=True); {1}.square().mean(DIM, keepdim=True); {1} * ({2} + 1e-5).rsqrt()",
    "torch.var_mean({0}, DIM, keepdim=True)[0]; {0} * ({1} + 0.1).rsqrt()",
    "({0} - {0}.mean(DIM, keepdim=True)) / ({0}.std(DIM, keepdim=True) + 0.1)",
    "{0}.square().mean(-1, keepdim=True); {0} * ({1} + 1e-6).rsqrt()",
    "{0}.to(torch.float32); {1}.pow(2).mean(DIM, keepdim=True); ({1} * ({2} + 1e-6).rsqrt()).to({0}.dtype)",
    "{0} / {0}.norm(2, DIM, keepdim=True).clamp(min=1e-6)",
    "{0}.mean((0, -1), keepdim=True); ({0} - {1}) / ({0}.var((0, -1), keepdim=True) + 1e-5).sqrt()",
    "{0}.flatten(1).norm(dim=1); {1}.sum()",
    "torch.linalg.vector_norm({0}, 3, DIM, keepdim=KEEP)",
    "{0}.norm(2, (0, -1), keepdim=KEEP)",
)
_SOFTMAX = (
    "{0}.amax(DIM, keepdim=True); ({0} - {1}).exp(); {2} / {2}.sum(DIM, keepdim=True)",
    "{0}.amax(DIM, keepdim=True); ({0} - {1}).exp().sum(DIM, keepdim=True).log() + {1}; ({0} - {2}).mean()",
    "({0} - {0}.amax(DIM, keepdim=True)).exp().sum(DIM).log()",
    "{0}.masked_fill({0} < 0, -float('inf')).softmax(DIM).nan_to_num(0.0)",
    "{0}.logcumsumexp(DIM)",
)
_MASKED = (
    "({0} * ({0} > 0)).sum(DIM) / ({0} > 0).sum(DIM).clamp(min=1)",
    "torch.where({0} > 0, {0}, 0.0).sum(DIM, keepdim=True); {0} * ({1} > 1)",
    "torch.where({0}.isfinite(), {0}, 0.0).sum(DIM); {1}.amax()",
    "{0}.cumsum(-1) / torch.arange(1, {0}.shape[-1] + 1)",
    "torch.where({0} == {0}.amax(DIM, keepdim=True), 0.0, {0}).sum(DIM)",
)
_LOSSES = (
    "{0}.log_softmax(DIM); {1}.softmax(DIM); ({3} * ({3}.log() - {2})).sum(DIM)",
    "{0}.clamp(min=0) - {0} * {1} + (-{0}.abs()).exp().log1p(); {2}.mean()",
    "({0} - {1}).abs(); torch.where({2} < 1, 0.5 * {2} ** 2, {2} - 0.5).mean()",
    "({0} - {1}).square().mean(DIM); {2}.sum()",
    "({0} * {1}).sum(DIM); {2} / ({0}.norm(dim=DIM) * {1}.norm(dim=DIM)).clamp(min=1e-6)",
    "-{0}.log_softmax(-1)[..., 0]; ({2} * {1}[..., 0]).sum()",
    "{0}.sigmoid(); -({2}.log() * (1 - {2}) ** 2).mean()",
)
_STEPS = (
    "({0}.square().sum() + {1}.square().sum()).sqrt(); {0} * (1.0 / ({2} + 1e-6)).clamp(max=1.0)",
    "torch.stack([{0}.norm(), {1}.norm()]).norm(); {0} * torch.clamp(1.0 / ({2} + 1e-6), max=1.0)",
    "{0}.clone().mul_(0.9).add_({1}, alpha=0.1); {0} - 0.1 * {2}",
    "torch.zeros_like({0}).lerp_({1}, 0.1)",
    "torch.zeros_like({0}).addcmul_({1}, {1}, value=0.01); {0}.clone().addcdiv_({1}, {2}.sqrt() + 1e-3, value=-0.1)",
    "{0}.detach().clone().mul_(0.9).add_({1}.detach(), alpha=0.1).clamp_(-2, 2)",
    "{0}.detach().clone().mul_(0.999).addcmul_({1}.detach(), {1}.detach(), value=0.001); {1} / ({2}.sqrt() + 1e-8)",
    "{0} * (1 - 0.1 * 0.01) - 0.1 * {1}.sign()",
)
_ATTENTION = (
    f"{{0}} @ {{0}}.transpose(-1, -2) / 4; {{1}}.masked_fill({_MASK}, -float('inf')).softmax(-1); {{2}} @ {{0}}",
    f"{{0}} @ {{0}}.transpose(-1, -2) * 0.3; torch.where({_MASK}, -1e4, {{1}}).softmax(-1) @ {{0}}",
    "{0} @ {0}.transpose(-1, -2) - torch.arange({0}.shape[-2]) * 0.1; {1}.softmax(-1) @ {0}",
    "{0}.softmax(-1); {0}.softmax(-2); {1} @ ({2}.transpose(-1, -2) @ {0})",
)
_EINSUM = (
    "torch.einsum('...ij,...kj->...ik', {0}, {1})",
    "torch.einsum('...d,...d->...', {0}, {1})",
    "torch.einsum('ij,ik->jk', {0}, {1})",
    "torch.einsum('bi,bj->b', {0}, {1})",
    "torch.einsum('...ii->...i', {0} @ {0}.transpose(-1, -2))",
)

BY_HAND = (
    *(Rule(1, over_dim(template)) for template in (*_NORMS, *_SOFTMAX, *_MASKED)),
    *(Rule(1, over_dim(template), operands=2) for template in _LOSSES),
    *(Rule(0.8, where(is_real, template), operands=2) for template in _STEPS),
    *(Rule(1, matrices(template, 2)) for template in _ATTENTION),
    *(Rule(0.8, matrices(template, 1), operands=2) for template in _EINSUM),
    *(
        Rule(1.5, over_dim(f"{turned}; {{0}} * {_ANGLES}.cos() + {{1}} * {_ANGLES}.sin()"))
        for turned in (
            f"torch.cat([-{{0}}[..., {_HALF} :], {{0}}[..., : {_HALF}]], -1)",
            "torch.stack([-{0}[..., 1::2], {0}[..., ::2]], -1).flatten(-2)",
        )
    ),
)
