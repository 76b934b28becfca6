"""Requests that are kept: whole, byte for byte, and without what proved who sent them."""

from dataclasses import replace

import pytest

from gateway.core.kept_request import KeptRequest, keep_request, unpack_request
from gateway.core.request import Headers, Request
from gateway.core.rule import Origin, Upstream
from gateway.core.target import Target, read_target
from gateway.core.trace import Trace
from gateway.core.trace_context import TraceContext

UPSTREAM = Upstream("api", Origin("http", "localhost", 80), credentials=((b"X-Tenant-Pass", b"ours"),))


def asked(*pairs: tuple[bytes, bytes], target: str = "/reports/7?a=%20b") -> Request:
    read = read_target(target)
    assert isinstance(read, Target)
    return Request("PUT", read, Headers(pairs))


@pytest.mark.parametrize(
    "name",
    [
        b"Fencing-Token",
        b"Fencing_Token",
        b"Fencing-Holder",
        b"Fencegate-Key",
        b"Authorization",
        b"Proxy-Authorization",
        b"Cookie",
        b"X-Api-Key",
        b"X_Api_Key",
        b"ApiKey",
        b"Private-Token",
        b"X-Amz-Security-Token",
        b"X-Hub-Signature",
        b"X-AccessToken",
        b"X-AuthToken",
        b"X-ApiToken",
        b"X-AccessKey",
        b"X-AccessKeyId",
        b"X-PrivateKey",
        b"X-SessionId",
        b"X-Session-Id",
        b"X_Session_Id",
        b"PHPSESSID",
        b"X-CSRFToken",
        b"X-Xsrf",
        b"X-Bearer",
        b"X-OTP",
        b"Sid",
        b"X-Sig",
        b"X-OAuth",
        b"X-ClientSecret",
        b"X-UserPassword",
        b"X-PasswordHash",
        b"DPoP",
        b"X-Tenant-Pass",
        b"Connection",
        b"Transfer-Encoding",
        b"Content-Length",
        b"Expect",
        b"X-Mine-Alone",
    ],
    ids=bytes.decode,
)
def test_what_proves_or_belongs_to_a_connection_is_not_kept(name: bytes) -> None:
    """Nor what the upstream is sent by the gateway itself, and what `Connection` names."""
    request = asked((b"Connection", b"x-mine-alone"), (name, b"s3cret"), (b"X-Author", b"me"))

    assert keep_request(request, b"", UPSTREAM).headers == ((b"X-Author", b"me"),)


@pytest.mark.parametrize(
    "name",
    [
        b"Idempotency-Key",
        b"X-IdempotencyKey",
        b"X-Author",
        b"X-Authority",
        b"X-Keyword",
        b"X-Monkey",
        b"X-Max-Tokens",
        b"X-Passage",
        b"X-Compass",
        b"X-Inside",
        b"X-Signal",
        b"X-Design",
        b"X-Sessions",
        b"Mcp-Session-Id",
        b"Host",
        b"Content-Encoding",
        b"If-Match",
    ],
    ids=bytes.decode,
)
def test_what_says_something_about_the_write_is_kept(name: bytes) -> None:
    """A key that names an action opens nothing."""
    assert keep_request(asked((name, b"v")), b"", UPSTREAM).headers == ((name, b"v"),)


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(KeptRequest("PUT", "/a?b=c", (), b""), id="without fields and body"),
        pytest.param(KeptRequest("PUT", "/a", (), None), id="its head alone"),
        pytest.param(KeptRequest("POST", "/a", ((b"A", b""), (b"a", b"x: y")), b"\x00\r\n\r\n\xff"), id="any bytes"),
    ],
)
def test_a_request_comes_back_as_it_was_kept(kept: KeptRequest) -> None:
    """Fields that are there twice, empty ones, bodies with line ends; no body is not an empty one."""
    assert unpack_request(kept.pack()) == kept


def test_a_target_is_kept_as_it_was_spelled() -> None:
    """With its query and its escapes."""
    assert keep_request(asked(target="/x/%C3%A9?q=%2F"), b"", UPSTREAM).target == "/x/%C3%A9?q=%2F"


def test_a_traced_request_is_kept_with_its_own_place() -> None:
    """Its delivery links to where it was taken; untraced, what its caller said is kept."""
    place = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1)
    theirs = asked((b"TraceParent", b"theirs"), (b"Accept", b"*/*"))
    traced = replace(theirs, trace=Trace(None, place, place, lambda: 0))

    assert keep_request(traced, b"", UPSTREAM).headers == ((b"Accept", b"*/*"), *place.fields)
    assert keep_request(theirs, b"", UPSTREAM).headers == theirs.headers.pairs


def test_a_request_of_another_version_is_not_guessed_at() -> None:
    """It is for the gateway that kept it to read."""
    packed = KeptRequest("PUT", "/a", (), b"").pack()

    with pytest.raises(ValueError, match="another version"):
        unpack_request(b"2" + packed[1:])


def test_a_body_is_no_part_of_what_is_printed() -> None:
    """It may hold anything, and ends in no log."""
    assert "s3cret" not in repr(replace(KeptRequest("PUT", "/a", (), None), body=b"s3cret"))
