"""Custom autograd functions that programs call. Their gradients are wrong on purpose: a skipped one shows."""

SOURCES = {
    "Square": '''class Square(torch.autograd.Function):
    """Saves its input; the backward is three times the square's."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 6 * grad * x
''',
    "Flat": '''class Flat(torch.autograd.Function):
    """Returns a view; the backward is three times the view's."""

    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return 3 * grad.reshape(ctx.shape)
''',
    "AddOne": '''class AddOne(torch.autograd.Function):
    """Writes to its input; the backward is three times the addition's."""

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return 3 * grad
''',
    "Twice": '''class Cube(torch.autograd.Function):
    """Saves its result too; the backward is twice the cube's."""

    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * (6 * x * x + 0 * y.tanh())


class Twice(torch.autograd.Function):
    """Calls another custom function, forward and backward; the backward is five times the result."""

    @staticmethod
    def forward(ctx, x):
        y = Cube.apply(x.tanh())
        ctx.save_for_backward(y)
        return y * 2

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return 5 * grad * Cube.apply(y)
''',
}
