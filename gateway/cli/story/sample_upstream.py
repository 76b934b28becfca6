"""The sample upstream as a process: reports, payments, and the inbox of those who are told of them."""

import socket
import sys

from aiohttp import web

from gateway.cli.story.inbox import add_inbox
from gateway.cli.story.payments_api import add_payments
from gateway.cli.story.reports_api import add_reports


def main() -> None:
    """Serve on the listening socket whose descriptor is the first argument."""
    listening = socket.socket(fileno=int(sys.argv[1]))
    app = web.Application()
    add_reports(app)
    add_payments(app)
    add_inbox(app)
    web.run_app(app, sock=listening, print=None, access_log=None)


if __name__ == "__main__":
    main()
