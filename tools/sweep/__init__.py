"""The op sweep: every op that may be compiled, on every element type and on hard values, against ATen."""
