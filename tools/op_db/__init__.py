"""PyTorch's own table of operators, compiled: each op's samples, forward and backward, against eager.

`torch.testing._internal.common_methods_invocations.op_db` is read here only; what is drawn at random is `tools.fuzz`'s.
"""

import os

# What is compared is what the compiler makes now.
os.environ.setdefault("DOVETAIL_CACHE_PROGRAMS", "0")
