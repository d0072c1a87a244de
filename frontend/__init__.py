"""From Dynamo's graph to a module: alias signature, joint capture, import.

Most of what depends on a PyTorch version ends here: nothing after it imports the frontend.
"""
