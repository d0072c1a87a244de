"""The table of wrongs: small programs that mutate, alias and differentiate, under eager, inductor, Dovetail."""
