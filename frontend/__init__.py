"""From Dynamo's graph to a module: alias signature, joint capture, import.

What depends on a PyTorch version ends here: nothing after it imports the frontend.
"""
