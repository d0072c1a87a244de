"""Mutates modules and artifacts as strangers might, and judges what the commands make of them. docs/text-fuzzing.md"""
