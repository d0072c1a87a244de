"""Checks the plans by which regions run: what is launched, on which memory, in which order.

Plans are made of what the compiler says in `dialects/plans.py`; nothing here changes one.
"""
