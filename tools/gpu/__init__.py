"""The tests and the benchmark that need a GPU, in one go, and the report of them."""
