"""The names of all attributes that the IR carries beside those that its ops declare.

Each says first on what it stands, then what it means there; docs/dialect.md shows them as a table.
"""

LEVEL = "dovetail.level"
"""The module: its level, which `verify-level` compares."""

ROLE = "dovetail.role"
"""Functions: what it is for; see `Role` in dialects/reading.py."""

TARGET = "dovetail.target"
"""The module: the device that it is compiled for, `"cpu"` if it does not say. Refs and allocations that name no device
lie there."""

DEVICE = "dovetail.device"
"""The module: where refs, allocations and constants lie that name no device, `"cuda:0"` if a GPU's does not say. Ops:
where their results lie, if that is not where their operands or their arguments say."""

CURRENT_DEVICE = "dovetail.current_device"
"""The module: the number of the GPU that must be the calling thread's current one, which the user's code meant."""

TF32 = "dovetail.tf32"
"""The module, for a GPU: convolutions of float32 round what they multiply to 10 bits, TF32, as PyTorch's switches said
when the graph was traced. Passes choose by it what is faster; how a call rounds is up to the switches when it runs."""

# Arguments

NAME = "dovetail.name"
"""Arguments of `@joint`, `@call` and `@guard`: the user's name for it, as Dynamo gives it."""

REQUIRES_GRAD = "dovetail.requires_grad"
"""Arguments of `@joint` and `@call`: autograd follows it."""

STATIC = "dovetail.static"
"""Arguments of `@joint` and `@call`: a parameter or buffer; it outlives the call, so saving it is free."""

ARGUMENTS = "dovetail.arguments"
"""`@joint`, `@call`: what the caller passes where some of it are wrapper subclasses (decision 13)."""

RESULTS = "dovetail.results"
"""`@joint`, `@call`: what the caller gets where some of it are wrapper subclasses (decision 13)."""

SYMBOL = "dovetail.symbol"
"""Arguments that are numbers, and ops that make one: the number of the symbol that it is, the same in all functions."""

RANGE = "dovetail.range"
"""Arguments that are symbols: the smallest and the largest value that the guards of a call allow."""

HINTS = "dovetail.hints"
"""The module: the values that the symbols, by number, had when the graph was traced; work is priced by them alone."""

SIZES = "dovetail.sizes"
"""Arguments and results that are tensors with open sizes: an affine map, from symbols by number to all sizes. Ops: an
array with one for each result, a unit where nothing is known."""

# The guard

MUTATED = "dovetail.mutated"
"""`@guard`: how many of its arguments, the first ones, the program writes."""

GROUP = "dovetail.group"
"""Arguments of `@guard`: those with equal numbers lie in one another's memory, at fixed distances."""

START = "dovetail.start"
"""Arguments of `@guard`, with a group: the distance, in bytes, from the group's first byte to its own."""

ROOT = "dovetail.root"
"""Arguments of `@guard`, with a group: those of the group with equal numbers are views of one tensor."""

OBJECT = "dovetail.object"
"""Arguments of `@guard`, with a group: those of the group with equal numbers are one object."""

OFFSET = "dovetail.offset"
"""Arguments of `@guard`: the storage offset, in elements, that the program relies on."""

TRACKED = "dovetail.tracked"
"""Arguments of `@guard`: it, or another view of the same tensor, is written in autograd's sight, so it must not retain
a gradient."""

APART = "dovetail.apart"
"""Arguments of `@guard`: those with other numbers are no views of one written tensor, with one version counter."""

# Gradients

ONCE = "dovetail.once"
"""`@joint`, `@apply`: why the gradient can't be differentiated again, in words, of which `state-replay` adds some."""

WRITTEN_LAST = "dovetail.written_last"
"""`@joint`, `@apply`: the source line that writes an argument after eager's autograd has saved the last value."""

WATCHED = "dovetail.watched"
"""Arguments of `@joint` and `@apply`, and `own`: the owned results for whose gradients eager needs
that memory unchanged."""

REREAD = "dovetail.reread"
"""Arguments of `@joint` and `@apply`, and `own`: the owned results for whose gradients eager recomputes a
checkpointed region from that memory, as it is then."""

REACHED = "dovetail.reached"
"""Arguments of `@joint` and `@apply`: the owned results whose gradients flow to it; all, if it is not there."""

FREES = "dovetail.frees"
"""Differentiable `own`: the groups of eager's saved values that a backward from it frees; 0, if it is not there."""

BASE = "dovetail.base"
"""Differentiable `own`: the sizes of what it shows itself as a view of; a custom `autograd.Function` made it. One that
is open is -1, and follows from the others."""

FORWARD = "dovetail.forward"
"""`@apply`: the function that it runs, the owned results before the saved values."""

BACKWARD = "dovetail.backward"
"""`@apply`: the function that takes the saved values, then tangents, and returns a gradient for each argument."""

SAVED = "dovetail.saved"
"""Results of `@forward`: `"checked"` where the user can reach its memory, so that its version is; else `"private"`."""

RESULT = "dovetail.result"
"""Results of `@forward`, after `state-border`: a checked saved value, which is that owned result."""

IN_RESULT = "dovetail.in_result"
"""Results of `@forward`, after `state-border`: a checked saved value, which lies in that owned result's memory. Of
`@call`, where some of what it takes or returns is in wrapper subclasses: it lies in that owned result's memory."""

IN_ARGUMENT = "dovetail.in_argument"
"""Results of `@forward`, after `state-border`: a checked saved value, which lies in that argument's memory."""

CHECKED_FOR = "dovetail.checked_for"
"""Results of `@forward`, after `state-border`, that are checked saved values or hold such a one in their memory: the
owned results for whose gradients it must be unchanged, since eager or the program needs it."""

USES = "dovetail.uses"
"""Arguments of `@backward` that are saved values, after `state-border`: the owned results whose gradients it is
combined with."""

FOR_REPLAY = "dovetail.for_replay"
"""Arguments of `@apply`, and results of `@forward` that are saved values, after `state-replay`: a replay of the
gradient, for whoever differentiates it, takes it as the call left it. All else it computes again."""

FOR_HISTORY = "dovetail.for_history"
"""Arguments of `@apply`, after `state-replay`: a replay of the gradient takes their history alone. A saved value is a
sum to which they are added; the replay takes that, by `dovetail.for_replay`, and gives it the history of such a sum."""

VALUE_OF = "dovetail.value_of"
"""Beside `dovetail.for_replay`, on saved values: the argument whose value it is. All that a replay reads of that
argument is the saved value; a private one is a copy, which gets the history that the argument had."""

DRAWS = "dovetail.draws"
"""`@apply`, after `state-replay`: the devices from whose generators a replay of the gradient draws, as the forward
did."""

TANGENT_OF = "dovetail.tangent_of"
"""Arguments of `@backward` and of `@layouts`: the number of the result of `@apply` that it is the gradient of."""

FOLLOWED = "dovetail.followed"
"""Arguments of `@backward` that are tangents: operands lie as it does, so it comes as autograd gives it, not as its
type says (decision 35)."""

DONATED = "dovetail.donated"
"""Arguments of `@backward`, after `plan-memory`: it may be overwritten; who needs it afterwards passes a copy."""

STAYS = "dovetail.stays"
"""Arguments of `@forward` and `@backward` for a GPU, after `state-recordable`: it lies where it lay in the last call. A
CUDA graph reads and writes it there. All others are copied to where the graph reads them."""

IN_BACKWARD = "dovetail.in_backward"
"""A library call in `@joint`: its effect belongs to the backward, though it may use no tangent."""

# Ops

REASON = "dovetail.reason"
"""`torch.operator`: it is a library call, and why."""

EFFECT = "dovetail.effect"
"""Library calls: what it does besides giving its results, which keeps it from being run again, or left out: `"draws"`
random numbers, `"writes"` memory that it is given, or `"other"`."""

FALLBACK = "dovetail.fallback"
"""Library calls: it is one for want of compiled code, not by choice."""

STRIDES = "dovetail.strides"
"""Torch ops that may see how their operands lie in memory: for each operand the strides, in elements, that eager gives
it (decision 24), or where these hang on how tangents lie, the number of the result of `@layouts` that lies so (decision
35). Others that are faster so, as convolutions channels last (decision 60). A list has an array of them; unit stands
for what is no value, or may lie as it likes. Arguments that are refs with open strides: an affine map, from symbols by
number to all strides."""

GRADIENT_STRIDES = "dovetail.gradient_strides"
"""`gradient`, and results of `@backward`: the strides, in elements, by which eager hands out this gradient that a
convolution gives, mostly of a filter: channels last as the images are, however the filter lies. Along dimensions of one
element a library may give others."""

SHOWS_ROWS = "dovetail.shows_rows"
"""Ops that permute: their operand lies in memory so that the result lies in rows. The host permutes it, at no cost; a
region that did would be given a copy."""

TURNED = "dovetail.turned"
"""Copies of what the user gives: they lie otherwise for a library's sake alone. A gradient that is differentiated takes
their operand in their place, so that what autograd derives from it lies as eager's."""

RECOMPUTE = "dovetail.recompute"
"""Torch ops of `@joint`: what the user's checkpointing says of its results, in the words of `CheckpointPolicy`."""

PINNED = "dovetail.pinned"
"""Torch ops, after `pin-compared-values`: its result is computed once, whoever uses it reads that memory."""

PLACEMENT = "dovetail.placement"
"""Torch ops and copies, between `place-ops` and `outline-regions`: where the op runs."""

PLACEMENT_REASON = "dovetail.placement_reason"
"""Torch ops, beside `dovetail.placement`: why it does not run in a region."""

IN_PLACE = "dovetail.in_place"
"""`write`, after `prove-in-place`: the proof by which the value lies in the memory already."""

NOT_IN_PLACE = "dovetail.not_in_place"
"""`write`, after `prove-in-place`: why the value is copied."""

ONLY_UPDATES = "dovetail.only_updates"
"""`@call`, after `state-updates`: all that it does is to update its arguments in place, by regions that take nothing
else."""

NOT_RECORDABLE = "dovetail.not_recordable"
"""Ops of `@forward` and `@backward` for a GPU, after `state-recordable`: why no CUDA graph can stand for it, and so for
its function. A backward is recorded only where its forward is."""

# Functions that others run

VARIANT = "dovetail.variant"
"""Regions that were tuned, that have rows by twos (`pair-rows`) or blocks (`cut-into-blocks`): how it is compiled."""

KEPT_APART = "dovetail.kept_apart"
"""Regions, after `keep-apart`: why results do not lie where operands die, which no plan shows to be read before."""

DRIVER = "dovetail.driver"
"""Regions, after `choose-drivers`: the driver of IREE's runtime that runs it where it has no launch plan."""

MEASURED = "dovetail.measured"
"""Regions that were tuned: the figures by which that was chosen."""

PLAN = "dovetail.plan"
"""Launch plans: the region that they run."""

CODE = "dovetail.code"
"""Launch plans: the SHA-256, in hex, of the executable that its entries are in."""

TILING = "dovetail.tiling"
"""A launch on a GPU: the form that its kernel is tiled in, or why IREE tiled it in its own way."""

THEN = "dovetail.then"
"""Calls of `dovetail.cond`: the function that runs where the predicate holds."""

ELSE = "dovetail.else"
"""Calls of `dovetail.cond`: the function that runs where it does not."""

CONDITION = "dovetail.condition"
"""Calls of `dovetail.while_loop`: the function that says whether the loop goes on."""

BODY = "dovetail.body"
"""Calls of `dovetail.while_loop`: the function that computes the next carried values."""

NAMES = frozenset(value for name, value in list(globals().items()) if name.isupper())
"""All of them."""
