"""How fast the gateway is. Not part of the suite: each file prints what it measured."""
