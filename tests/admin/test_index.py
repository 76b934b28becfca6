"""The index: what there is, for a person with a browser."""

from gateway.admin.calls import CALLS
from gateway.admin.index import render
from tests.admin.conftest import Admin


async def test_the_index_lists_every_call(admin: Admin) -> None:
    """As a page that loads and runs nothing."""
    answer = await admin.call("GET", "/api/v1")

    page = answer.body.decode()
    assert answer.value("Content-Security-Policy") == "default-src 'none'; frame-ancestors 'none'"
    assert page == render(CALLS)
    for call in CALLS:
        assert f"<code>{call.method} {call.path}" in page


def test_queries_are_listed_without_the_cursor() -> None:
    """Every list has one."""
    page = render(CALLS)

    assert "<code>GET /api/v1/audit?resource=&amp;intent=&amp;since=&amp;until=&amp;limit=</code>" in page
    assert "cursor" not in page
