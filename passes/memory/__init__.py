"""Plans where memory begins, ends and is used again, and checks the plan. No op is computed otherwise than before."""
