"""The order of things: one write from request to reply, a lease call, the waiting. Knows ports, names no driver.

Owns the order, waiting and its deadlines, and that every admitted write is settled (G5). It must hold no `if` about
what something means (that is the core's) and know no header name. The file to read first is `inline.py`.
"""
