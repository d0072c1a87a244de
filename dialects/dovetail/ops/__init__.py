"""One op a file, but for arithmetic of floats; op classes are imported from `dovetail.dialects.dovetail`."""
