"""One reading of each part of a request: its header fields, query and body, and of an MCP server's answer.

What two readers could understand differently is refused here and guessed nowhere. Pure: bytes in, values or a refusal
out. Nothing here knows a rule; what rules look at is told by `aspect.py` and `part.py` beside this package.
"""
