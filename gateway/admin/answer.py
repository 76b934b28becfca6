"""The shapes of the admin API's answers: a page of a list, and a problem (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence

from aiohttp import web

from gateway.core import problem
from gateway.core.decision import Refused


def page(
    items: Sequence[Mapping[str, object]], cursor: str | None = None, incomplete: str | None = None
) -> web.Response:
    """One page of a list; `next` is the cursor of the one after it, null at the end. `incomplete`, where it is there,
    says what of the store did not answer.
    """
    told = {} if incomplete is None else {"incomplete": incomplete}
    return web.json_response({"items": items, "next": cursor} | told)


def refusal(refused: Refused, extension: Mapping[str, object] | None = None) -> web.Response:
    """The problem's status, action and title are the decision's; `extension` are further members of it."""
    status = refused.decision.status
    assert status is not None
    body = problem.members(refused) | dict(extension or {})
    response = web.Response(
        status=status, body=json.dumps(body).encode(), content_type=problem.CONTENT_TYPE.decode("ascii")
    )
    if status == 401:
        # RFC 9110, section 11.6.1: a 401 names the scheme.
        response.headers["WWW-Authenticate"] = "Bearer"
    return response
