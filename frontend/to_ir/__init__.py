"""Turns a captured graph and its records into a module. No fact is found out here that capture did not state."""
