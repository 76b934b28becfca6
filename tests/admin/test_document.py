"""The documents of calls that change something, as they come over the wire."""

import zlib

import pytest

from tests.admin.conftest import Admin
from tests.raw import RawClient

CALLS = ["/api/v1/resources/report/7/advance", "/api/v1/intents/3ffabc/resolve", "/api/v1/pauses"]


@pytest.mark.parametrize("path", CALLS)
async def test_a_document_is_bounded(path: str, admin: Admin) -> None:
    """Also one that is small only until it is unpacked."""
    large = b'{"note": "' + b"x" * (64 << 10) + b'"}'

    plain = await admin.call("POST", path, body=large)
    packed = await admin.call("POST", path, "Content-Encoding: deflate", body=zlib.compress(large * 200))

    for answer in (plain, packed):
        assert (answer.status, answer.problem["type"]) == (413, "urn:fencegate:body-too-large")


@pytest.mark.parametrize("path", CALLS)
async def test_a_body_that_cannot_be_decoded_is_the_callers_fault(path: str, admin: Admin) -> None:
    """It is no failure of the gateway."""
    answer = await admin.call("POST", path, "Content-Encoding: gzip", body=b"abcd")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


@pytest.mark.parametrize("body", [b"{", b'{"note": "x", "note": "y"}', b"\xff"], ids=["broken", "twice", "not UTF-8"])
async def test_of_a_malformed_document_nothing_is_done(body: bytes, admin: Admin) -> None:
    """No call of an operator is forwarded to anybody."""
    answer = await admin.call("POST", "/api/v1/pauses", body=body)

    assert answer.status == 400
    assert str(answer.problem["detail"]).startswith("Nothing was done: ")


async def test_an_unknown_member_is_named_with_those_that_are_known(admin: Admin) -> None:
    """A slip in a name is not passed over."""
    answer = await admin.call("POST", "/api/v1/pauses", body=b'{"resource": "report/7", "raeson": "x"}')

    assert "`raeson` is not known here. Known: " in str(answer.problem["detail"])


async def test_a_caller_that_leaves_amid_its_document_does_nothing(admin: Admin) -> None:
    """The listener goes on."""
    async with RawClient(admin.port) as client:
        head = b"POST /api/v1/pauses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        await client.send(head + b'Content-Length: 90\r\n\r\n{"resource": "report/7"')

    assert (await admin.call("GET", "/api/v1/pauses")).body == b'{"items": [], "next": null}'
