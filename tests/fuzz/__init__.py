"""Hostile conversations with a gateway, and an upstream that judges what it is sent: `python -m tests.fuzz --help`."""
