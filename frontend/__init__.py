"""From Dynamo's graph to a module: alias signature, joint capture, import."""
