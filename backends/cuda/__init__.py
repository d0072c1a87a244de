"""What is special of regions for NVIDIA's GPUs: what they are compiled for, and by what assembler.

Nothing here needs a GPU, or its driver.
"""
