"""The table of calls: all that the listener serves, and nothing else."""

import re
from typing import cast

from aiohttp import web

from gateway.admin.calls import CALLS
from gateway.admin.listener import build_admin
from gateway.admin.running import Running


def test_every_route_is_described() -> None:
    """And every description is of a route. HEAD comes with GET."""
    # Nothing is asked of the gateway before the first request.
    app = build_admin(cast(Running, None), token=None, on_loopback=True)

    routes = {(route.method, path_of(route), route.handler) for route in app.router.routes() if route.method != "HEAD"}

    assert routes == {(call.method, call.path, call.handler) for call in CALLS}


def path_of(route: web.AbstractRoute) -> str:
    assert route.resource is not None
    return route.resource.canonical


def test_calls_have_names_of_their_own() -> None:
    """Generated clients name their functions after them."""
    assert len({call.name for call in CALLS}) == len(CALLS)


def test_what_a_path_names_is_described() -> None:
    """And nothing in a path that it does not have."""
    for call in CALLS:
        described = [parameter.name for parameter in call.parameters if parameter.where == "path"]
        assert described == re.findall(r"\{(\w+)\}", call.path), call.path


def test_what_changes_something_reads_a_document() -> None:
    """A form cannot send one: no page of another site changes anything. DELETE is asked about by browsers."""
    assert [call.path for call in CALLS if call.method == "POST" and call.body is None] == []
    assert [call.path for call in CALLS if call.method == "GET" and call.body is not None] == []
