"""The proxy listener: aiohttp's server at the edge, translated into the flow's own types, and the agents' own calls.

Thin: it holds no state beyond a connection, chooses no status code and calls no script.
"""
