"""The running gateway: a parent process and its workers, what each is built of, and in which order it ends.

The parent (`supervisor.py`) checks the policies, runs the embedded store, holds the proxy's port, answers operators and
keeps the workers alive (`workers.py`). A worker (`worker.py`) listens on the port itself and carries the traffic; it
shares nothing with its siblings but the store. Nothing here decides anything about a request, and nothing below imports
it.
"""
