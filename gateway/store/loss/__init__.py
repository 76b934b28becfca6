"""How a store that lost acknowledged work is found out, told so, and set right.

What each process remembers (marks, the newest of what was acknowledged, the largest epochs), what each shard began
with, and how an operator ends a loss.
"""
