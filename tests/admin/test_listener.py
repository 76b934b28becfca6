"""One connection to the admin listener may carry the requests of several callers: a proxy before it shares them."""

from pathlib import Path

import pytest

from tests.admin.conftest import listening
from tests.raw import RawClient, request

TOKEN = "0123456789abcdef"
BEARER = f"Authorization: Bearer {TOKEN}"


@pytest.mark.parametrize("pipelined", [True, False], ids=["pipelined", "one after the other"])
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ((BEARER, "Content-Type: text/plain"), 400),
        ((BEARER, "Content-Type: application/json"), 200),
        (("Content-Type: application/json",), 401),
    ],
    ids=["refused", "answered", "without the token"],
)
async def test_a_trailer_reaches_no_other_request(
    store_url: str, tmp_path: Path, fields: tuple[str, ...], status: int, pipelined: bool
) -> None:
    """The parser keeps a trailer's last field for the connection's next request: here for one without a token."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        chunked = request("POST", "/api/v1/policies/reload", *fields, "Transfer-Encoding: chunked", host="localhost")
        following = request("GET", "/api/v1/policies", host="localhost")
        async with RawClient(admin.port) as client:
            await client.send(chunked + f"2\r\n{{}}\r\n0\r\n{BEARER}\r\n\r\n".encode() + following * pipelined)
            answer = await client.answer("POST")
            if not pipelined:
                client.writer.write(following)
            end = await client.line()

        assert (answer.status, answer.value("Connection")) == (status, "close")
        assert end == b""
