"""The demo: Hugging Face GPT-2 and ResNet train through Dovetail, every step compared with eager.

Run it with ``python -m dovetail.tools.demo``. The same tasks and the same comparison serve the integration tests and
the benchmark.
"""

import os

# Models are built from configurations; a look-up on the hub would only be a mistake.
os.environ["HF_HUB_OFFLINE"] = "1"
