"""Everything between capture and the backends: the pass base, the registry, the pipelines, one pass a file."""
