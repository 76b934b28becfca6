"""A history checker: agents write through several gateways while a nemesis breaks things, and what the agents and the
API wrote down meanwhile is held against the promises G1 to G7.

`check.py` and the rules beside it are pure; `plan.py` draws from a seed; the rest runs processes. It is never told
anything by a gateway but what agents and operators are told.
"""
