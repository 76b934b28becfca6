"""The only place that sends: connections to upstreams, and what the wire showed.

It sends each request once. It never retries, follows no redirect, keeps no cookie, and raises nothing about the
network: what happened is a value (`core.outcome`). It carries G7: before every piece that leaves, the last one
included, the write's deadline is checked in the same step as the system call.

Why not a ready client: aiohttp's repeats PUT and DELETE on a broken connection, and like every client that writes
through an event loop's transport it leaves unsent bytes in a buffer that is flushed later, past any check. Here a
socket is written to directly (`wire.py`); parsing is left to llhttp (`exchange.py`).
"""
