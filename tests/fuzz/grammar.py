"""Conversations: requests built from the pieces that proxies have been fooled with, several to a connection."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.leases import Leases

REPORTS = tuple(b"report/r%d" % number for number in range(48))
TASKS = tuple(b"task/t%d" % number for number in range(16))
_JOBS = 16
_LONGEST = 24
# Most mutations end the connection, and so does a body in chunks that more has come behind.
_ODD = 0.07
_IN_CHUNKS = 0.04
# Larger than what is read from a connection at once, and than what is digested without asking the fence first.
_LARGE = 70_000
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
_DOUBTFUL_JSON = (
    b'{"id":"%s","id":"t0"}',
    b'{"id":"t0","\\u0069d":"%s"}',
    b'{"id":"%s","ID":"t1"}',
    b'{"id":"%s","x":NaN}',
    b'{"id":"%s"}x',
    b'\xef\xbb\xbf{"id":"%s"}',
    b'{"id":"%s","x":{"a":1,"a":2}}',
    b'{"id":["%s"]}',
    b'{"id":null}',
    b'{"id":"%s\\ud800"}',
    b"id=%s",
    b'{"id":"%s","z":"&id=t1&"}',
)
_INTERESTING = b"\0\t\n\r \"#%&'()*,./0123:;=?\\\x7f\x80\xff"


@dataclass
class Draft:
    """A request before it is written down; mutations change its parts."""

    method: bytes
    target: bytes
    fields: list[bytes]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"
    is_chunked: bool = False
    size: bytes = b"%x"
    trailer: bytes = b""
    lies: int = 0
    spoils: list[Callable[[bytes], bytes]] = field(default_factory=list)

    def written(self, draw: random.Random) -> bytes:
        fields = list(self.fields)
        if self.is_chunked:
            fields.append(b"Transfer-Encoding: chunked")
        elif self.body or self.lies or self.method not in (b"GET", b"HEAD", b"OPTIONS"):
            fields.append(b"Content-Length: %d" % max(0, len(self.body) + self.lies))
        draw.shuffle(fields)
        line = b" ".join((self.method, self.target, self.version))
        whole = b"\r\n".join((line, *fields, b"", b"")) + (self._chunks(draw) if self.is_chunked else self.body)
        for spoil in self.spoils:
            whole = spoil(whole)
        return whole

    def _chunks(self, draw: random.Random) -> bytes:
        written, at = b"", 0
        while at < len(self.body):
            piece = self.body[at : at + draw.randint(1, max(1, len(self.body)))]
            size = self.size % len(piece) if b"%" in self.size else self.size
            written += size + b"\r\n" + piece + b"\r\n"
            at += len(piece)
        return written + b"0\r\n" + self.trailer + b"\r\n"


def conversation(seed: str, leases: Leases, epoch: int) -> tuple[bytes, list[int]]:
    """The bytes of one connection, and where they are cut on their way. `epoch` rises with the run.

    The same seed gives the same bytes, but for the tokens.
    """
    draw = random.Random(seed)
    data = b""
    for _ in range(draw.randint(1, _LONGEST)):
        draft = _draft(draw, leases, epoch)
        while draw.random() < _ODD:
            _mutate(draft, draw, leases)
        data += draft.written(draw)
    if draw.random() < 0.05:
        data = data[: draw.randrange(len(data))]
    cuts = sorted(draw.randrange(len(data)) for _ in range(draw.choice((0, 0, 0, 1, 3)))) if data else []
    return data, cuts


def _draft(draw: random.Random, leases: Leases, epoch: int) -> Draft:
    fields = [b"Host: gateway", b"X-N: %016x" % draw.getrandbits(64)]
    fields += draw.sample(_NOISE, draw.choice((0, 0, 1, 3)))
    kind = draw.random()
    if kind < 0.15:
        return Draft(draw.choice(_METHODS[:3]), b"/reports/r%d" % draw.randrange(48), fields)
    if kind < 0.25:
        number = max(0, epoch + draw.randint(-3, 1))
        fields += [b"Fencing-Token: %d" % number, b"Fencing-Holder: h%d" % number]
        return Draft(b"PUT", b"/jobs/j%d" % draw.randrange(_JOBS), fields, _body(draw))
    if kind < 0.35:
        task = draw.choice(TASKS)
        fields += [b"Fencing-Token: " + _token(draw, leases, task), b"Content-Type: application/json"]
        form = b'{"id":"%s"}' if draw.random() < 0.7 else draw.choice(_DOUBTFUL_JSON)
        body = form % task.removeprefix(b"task/") if b"%s" in form else form
        return Draft(b"POST", b"/tasks", fields, body, is_chunked=draw.random() < _IN_CHUNKS)
    report = draw.choice(REPORTS)
    fields.append(b"Fencing-Token: " + _token(draw, leases, report))
    if draw.random() < 0.1:
        key = b"k%d" % draw.randrange(200)
        fields.append(b"Idempotency-Key: " + draw.choice((key, b'"%b"' % key)))
    draft = Draft(draw.choice((b"PUT", b"POST", b"PATCH", b"PUT", b"DELETE")), b"/reports/" + report[7:], fields)
    draft.body = _body(draw)
    draft.is_chunked = draw.random() < _IN_CHUNKS
    return draft


def _token(draw: random.Random, leases: Leases, resource: bytes) -> bytes:
    chance = draw.random()
    live = leases.live[resource]
    if chance < 0.75:
        return live
    if chance < 0.9:
        return leases.stale(resource, draw)
    other = draw.choice(tuple(leases.live.values()))
    spoiled = (other, live[:-1], live + b"x", b"+" + live, b"0" + live, live + b"," + live, b"", live.split(b".")[0])
    return draw.choice(spoiled)


def _body(draw: random.Random) -> bytes:
    chance = draw.random()
    if chance < 0.3:
        return b""
    if chance < 0.6:
        return b'{"n":%d}' % draw.getrandbits(30)
    if chance < 0.7:
        # What an upstream that loses count would take for a request of its own.
        return b"PUT /reports/r%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" % draw.randrange(48)
    if chance < 0.705:
        return draw.randbytes(_LARGE)
    return draw.randbytes(draw.randint(1, 300))


def _mutate(draft: Draft, draw: random.Random, leases: Leases) -> None:
    match draw.randrange(14):
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


def _byte_spoil(draw: random.Random) -> Callable[[bytes], bytes]:
    """One byte put in, taken away or replaced, anywhere."""
    chance, value, kind = draw.random(), draw.choice(_INTERESTING), draw.randrange(3)

    def spoil(whole: bytes) -> bytes:
        at = int(chance * len(whole))
        put = b"" if kind == 0 else bytes((value,))
        return whole[:at] + put + whole[at + (kind != 1) :]

    return spoil
