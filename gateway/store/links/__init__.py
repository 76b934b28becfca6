"""Connections to the store's servers: one, the one that sentinels name, or the primaries of a cluster.

Many callers' commands share a connection, are answered in order, and are repeated after a reconnect. Nothing here knows
what a command means.
"""
