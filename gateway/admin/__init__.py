"""The operators' listener: health, metrics and the admin API. Thin: it translates, and decides nothing.

Owns who may call it (`auth.py`) and the shape of its answers; what an operator may do is the store's and the policies'.
It serves from the parent process, so that it answers when every worker is busy or gone.
"""
