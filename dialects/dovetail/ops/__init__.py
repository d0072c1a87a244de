"""One op a file; who wants an op's class imports it from `dovetail.dialects.dovetail`, which registers them all."""
