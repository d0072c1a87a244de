"""The element types that regions know, by the names of PyTorch's dtypes."""

DOUBLES = ("float64",)
HALF_PRECISION = ("float16", "bfloat16")
FLOATS = (*HALF_PRECISION, "float32", "float64")
NARROW_INTEGERS = ("int8", "uint8", "int16")
INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8")
EVERY = (*FLOATS, *INTEGERS)
