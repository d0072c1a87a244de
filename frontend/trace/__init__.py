"""Makes the function without aliases that PyTorch's capture traces, and checks whose memory it ended in.

What eager shows is known before.
"""
