"""Conversations: requests built from the pieces that proxies have been fooled with, several to a connection."""

import random
from collections.abc import Callable

from tests.fuzz.draft import Draft
from tests.fuzz.kinds import drawn
from tests.fuzz.leases import Leases

_LONGEST = 24
# Most mutations end the connection, and so does a body in chunks that more has come behind, or an older version.
_ODD = 0.07
_OLD = 0.006
_NOISE = (b"X-A: 1", b"x-b:2", b"X-C:  spaced  ", b"X-Empty:", b"Cookie: a=1; b=2", b'If-Match: "7"', b"X-H: \xe9\xff")
_ODD_FIELDS = (
    *(b"Fencing_Token: 9", b"Fencing-Token : 1", b"Fencing-Anything: x", b"Fencegate-Key: k", b"Fencing-Sequence: 01"),
    *(b"X-HTTP-Method-Override: DELETE", b"X_Http_Method: PUT", b"Proxy-Authorization: Basic eDp5", b"TE: trailers"),
    *(b"X.HTTP-Method-Override: DELETE", b"Fencing.Token: 9", b"X~Fencing.Token: 99", b"Content.Length: 7"),
    *(b"Trailer: Fencing-Token", b"Keep-Alive: timeout=5", b"Upgrade: h2c", b"HTTP2-Settings: AAM", b"Expect: 200-ok"),
    *(b"Expect: 100-continue", b"Content-Length: 0", b"Content-Length: 7", b"Content-Length: +5", b"Content-Length:"),
    *(b"Content-Length: 5, 5", b"Content-Length: 0x5", b"Transfer-Encoding: chunked", b"Transfer-Encoding: xchunked"),
    *(b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding: identity"),
    *(
        b"Transfer_Encoding: chunked",
        b"Host: other",
        b"Host:",
        b"X: a\rb",
        b"X: a\nb",
        b"X: a\0b",
        b" folded: 1",
        b"\tx",
    ),
    *(b"X(y): 1", b": 1", b"no colon", b"X-Fencing-Token: 99", b"x_fencing_token: 99", b"Connection: close"),
    *(b"Connection: keep-alive", b"Connection: ", b"Connection: Fencing-Token", b"Connection: X-A, Content-Length"),
    *(b"Connection: close, X-Fencing-Token", b"Connection: Transfer-Encoding, X-N", b"Connection: upgrade"),
    *(b"Content-Encoding: gzip", b"Content-Type: text/plain", b"Content-Type: application/x-www-form-urlencoded"),
    *(b"Authorization: Bearer 42", b"Authorization: Basic eDp5", b"X-Long: " + b"y" * 9_000, b"Idempotency-Key: ,"),
    *(
        b"X-Forwarded-For: 192.0.2.1",
        b"X_Forwarded_Host: x",
        b"X-Real-IP: 192.0.2.1",
        b"Forwarded: for=x",
        b"Via: 1.0 a",
    ),
    *(
        b"Connection: X-N",
        b"Connection: x-n, close",
        b"Connection: Authorization, Content-Type",
        b"Accept-Encoding: gzip",
    ),
    *(b"Content_Type: text/plain", b"Content-Encoding: br", b"Mcp_Method: ping", b"X-Original-URL: /jobs/j1"),
)
_SPELLINGS = (
    *(b"/x/..%s", b"/%s", b"/.%s", b"%s/", b"%s;v=1", b"%s%%3Bv", b"%s%%00", b"%s%%0d%%0a", b"%s%%", b"%s%%zz"),
    *(b"%s%%2F..%%2Fr1", b"%s/%%2e%%2e/r1", b"%s#x", b"%s\\", b"%s%%5C", b"http://other%s", b"http://gateway%s", b"*"),
    *(b"%s?a=1&b=2&a=3", b"%s?x=%%E9%%FF;y=/../", b"%s?a?b=//", b"%s?", b"%s%%252F", b"%s\xc3\xa9", b"%s%%C3%%A9"),
    *(b"%s?x=\xff", b'%s?"', b"%s|", b"%s x", b"%s\t", b"-%s", b"/-/fence%s", b"%s/../../-/fence/leases", b"%s%%FF"),
)
_SIZES = (
    b"0x%x",
    b"+%x",
    b"%x ",
    b"-%x",
    b"%x;a=b",
    b'%x;a="\r\n',
    b"%x;a=\n",
    b"0%x",
    b"%x\n",
    b"",
    b"%xg",
    b"00000000000000000000%x",
)
_METHODS = (
    b"GET",
    b"HEAD",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"put",
    b"PUTX",
    b"PROPFIND",
    b"P@T",
    b"DELETE",
    b"PATCH",
)
_VERSIONS = (b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b"", b"HTTP/0.9", b"HTTP/1.1\r")
_INTERESTING = b"\0\t\n\r \"#%&'()*,./0123:;=?\\\x7f\x80\xff"


def conversation(seed: str, leases: Leases, epoch: int) -> tuple[bytes, list[int]]:
    """The bytes of one connection, and where they are cut on their way. `epoch` rises with the run.

    The same seed gives the same bytes, but for the tokens.
    """
    draw = random.Random(seed)
    data = b""
    for _ in range(draw.randint(1, _LONGEST)):
        noise = [
            b"Host: gateway",
            b"X-N: %016x" % draw.getrandbits(64),
            *draw.sample(_NOISE, draw.choice((0, 0, 1, 3))),
        ]
        draft = drawn(draw, leases, epoch, noise)
        if draw.random() < _OLD:
            draft.version = b"HTTP/1.0"
        while draw.random() < _ODD:
            _mutate(draft, draw, leases)
        data += draft.written(draw)
    if draw.random() < 0.05:
        data = data[: draw.randrange(len(data))]
    cuts = sorted(draw.randrange(len(data)) for _ in range(draw.choice((0, 0, 0, 1, 3)))) if data else []
    return data, cuts


def _mutate(draft: Draft, draw: random.Random, leases: Leases) -> None:
    match draw.randrange(15):
        case 0:
            form = draw.choice(_SPELLINGS)
            draft.target = form % draft.target if b"%s" in form else form
        case 1:
            at = draw.randrange(1, len(draft.target) + 1)
            draft.target = draft.target[:at] + b"%%%02x" % draw.choice(draft.target) + draft.target[at:]
        case 2 | 3:
            draft.fields.insert(draw.randrange(len(draft.fields)), draw.choice(_ODD_FIELDS))
        case 4:
            draft.fields.append(draw.choice(draft.fields))
        case 5:
            draft.fields.remove(draw.choice(draft.fields))
            draft.fields.append(b"X-N: %016x" % draw.getrandbits(64))
        case 6:
            draft.method = draw.choice(_METHODS)
        case 7:
            draft.version = draw.choice(_VERSIONS)
        case 8:
            draft.is_chunked, draft.size = True, draw.choice(_SIZES)
        case 9:
            draft.is_chunked, draft.trailer = (
                True,
                draw.choice((b"X-T: 1\r\n", b"Fencing-Token: 1\r\n", b"bad\r\n", b"\n")),
            )
        case 10:
            draft.lies = draw.choice((-1, 1, 5, -len(draft.body)))
        case 11:
            draft.spoils.append(_byte_spoil(draw))
        case 12:
            draft.spoils.append(lambda whole: draw.choice((b"\r\n", b"\n", b" ", b"\r\n\r\n")) + whole)
        case 13:
            token = draw.choice(tuple(leases.live.values()))
            draft.fields.append(draw.choice((b"Authorization: Bearer ", b"fencing-token: ")) + token)
        case 14:
            _repeat_token(draft, draw)


def _repeat_token(draft: Draft, draw: random.Random) -> None:
    """Where the API would see it."""
    presented = next((line[15:] for line in draft.fields if line.startswith(b"Fencing-Token: ")), b"1." + b"x" * 32)
    encoded = presented.replace(b".", b"%2e", 1)
    places = (b"X-Api-Key: " + presented, b"Cookie: t=" + presented, b"Authorization: Bearer x." + presented)
    at = draw.randrange(5)
    if at == 4:
        draft.target += (b"&t=" if b"?" in draft.target else b"?t=") + presented
    else:
        draft.fields.append((*places, b"Authorization: Bearer " + encoded)[at])


def _byte_spoil(draw: random.Random) -> Callable[[bytes], bytes]:
    """One byte put in, taken away or replaced, anywhere."""
    chance, value, kind = draw.random(), draw.choice(_INTERESTING), draw.randrange(3)

    def spoil(whole: bytes) -> bytes:
        at = int(chance * len(whole))
        put = b"" if kind == 0 else bytes((value,))
        return whole[:at] + put + whole[at + (kind != 1) :]

    return spoil
