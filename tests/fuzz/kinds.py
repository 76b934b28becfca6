"""The kinds of requests, before anything is spoiled: one for each way in which a rule finds resource and token."""

import gzip
import random
from collections.abc import Callable

from tests.fuzz.claims import drawn_claim
from tests.fuzz.closed_kinds import BOARDS, CARDS, board, card
from tests.fuzz.draft import Draft
from tests.fuzz.leases import Leases
from tests.fuzz.making import IN_CHUNKS, Making

REPORTS = tuple(b"report/r%d" % number for number in range(48))
TASKS = tuple(b"task/t%d" % number for number in range(16))
FORMS = tuple(b"form/f%d" % number for number in range(8))
NOTES = tuple(b"note/n%d" % number for number in range(8))
KEYS = tuple(b"key/k%d" % number for number in range(8))
LEASED = (*REPORTS, *TASKS, *FORMS, *NOTES, *KEYS, *BOARDS, *CARDS)
_JOBS = 16
_CLAIMED = 8
# Larger than what is read from a connection at once, and than what is digested without asking the fence first.
_LARGE = 70_000
_JSON = b"Content-Type: application/json"
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
    b'{"id":"%s\\u0000"}',
    b'{"id":"%s","\\u0000id":"t1"}',
    b"id=%s",
    b'{"id":"%s","z":"&id=t1&"}',
)
# Names and values of a form or a query; `%s` is the one that is meant.
_FIELDS = (b"id=%s", b"a=1&id=%s&b=%%41+", b"i%%64=%s", b"&&id=%s&", b"id=%s&x[]=1&x[]=2")
_DOUBTFUL_FIELDS = (
    *(b"id=%s&id=f1", b"id=f1&id=%s", b"id=%s&ID=f1", b"id=%s&id[]=f1", b"id=%s&+id=f1", b"id=%s;id=f1", b"id=%s&id"),
    *(b"id=%s&%%00id=f1", b"id=%s&id%%00=f1", b"id=%s&id[=f1", b"id=%s%%00", b"id=+%s", b"id=%s&_method=DELETE"),
    *(b"id=%%ff%s", b"id=%s%%", b"id", b"", b"id[]=%s", b"id=%s&x=%%zz", b"id=%s&%%EF%%BB%%BFid=f1", b"ID=%s"),
)
_READS = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":%d,"method":"ping"}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":{"q":"x"}}}',
    b'{"jsonrpc":"2.0","id":%d,"result":{}}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]',
)
_CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"note":"%s"}}}'
_DOUBTFUL_CALLS = (
    b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"write","arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"write","arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/call","params":{"name":"write"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","Name":"write","arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search\\u0000","arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"note":"%s","Note":"n1"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","task":{},"arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"other","arguments":{"note":"%s"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["write"]}',
    b'{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":"%s"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    b'{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"%s"}}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},' + _CALL + b"]",
    b"[" + _CALL + b"]",
    b"[[" + _CALL + b"]]",
    b"[]",
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    _CALL + b"{}",
    b"",
)


def drawn(draw: random.Random, leases: Leases, epoch: int, noise: list[bytes]) -> Draft:
    """A request of any kind."""
    (kind,) = draw.choices(tuple(_KINDS), tuple(_KINDS.values()))
    return kind(Making(draw, leases, epoch, noise))


def _read(making: Making) -> Draft:
    draw = making.draw
    return Draft(draw.choice((b"GET", b"HEAD", b"OPTIONS")), b"/reports/r%d" % draw.randrange(48), making.fields)


def _job(making: Making) -> Draft:
    draw, number = making.draw, max(0, making.epoch + making.draw.randint(-3, 1))
    making.fields.extend((b"Fencing-Token: %d" % number, b"Fencing-Holder: h%d" % number))
    return Draft(b"PUT", b"/jobs/j%d" % draw.randrange(_JOBS), making.fields, _body(draw))


def _task(making: Making) -> Draft:
    draw, task = making.draw, making.draw.choice(TASKS)
    making.present(task)
    making.fields.append(_JSON)
    body = making.one_of((b'{"id":"%s"}',), _DOUBTFUL_JSON, task.removeprefix(b"task/"))
    if draw.random() < 0.15:
        body = _coded(body, making)
    return Draft(b"POST", b"/tasks", making.fields, body, is_chunked=draw.random() < IN_CHUNKS)


def _coded(body: bytes, making: Making) -> bytes:
    coded = gzip.compress(body, mtime=0)
    doubtful = (coded[:-1], coded + b"x", coded + gzip.compress(b'{"id":"t1"}', mtime=0), body)
    making.fields.append(b"Content-Encoding: " + making.draw.choice((b"gzip", b"GZIP", b"x-gzip", b"gzip, identity")))
    return coded if making.draw.random() < 0.7 else making.draw.choice(doubtful)


def _form(making: Making) -> Draft:
    draw, form = making.draw, making.draw.choice(FORMS)
    making.present(form)
    fields = making.one_of(_FIELDS, _DOUBTFUL_FIELDS, form.removeprefix(b"form/"))
    if draw.random() < 0.4:
        return Draft(b"PUT", b"/forms?" + fields, making.fields, _body(draw))
    making.fields.append(b"Content-Type: application/x-www-form-urlencoded")
    return Draft(b"POST", b"/forms", making.fields, fields, is_chunked=draw.random() < IN_CHUNKS)


def _call(making: Making) -> Draft:
    draw, note = making.draw, making.draw.choice(NOTES)
    making.fields.append(b"Mcp-Session-Id: s%d" % draw.randrange(3))
    chance = draw.random()
    if chance < 0.1:
        return Draft(draw.choice((b"GET", b"DELETE")), b"/mcp", making.fields)
    making.fields.append(_JSON)
    if chance < 0.4:
        form = draw.choice(_READS)
        return Draft(b"POST", b"/mcp", making.fields, form % draw.randrange(9) if b"%d" in form else form)
    making.present(note)
    if draw.random() < 0.2:
        making.fields.append(draw.choice((b"Mcp-Method: tools/call", b"Mcp-Name: write", b"Mcp-Method: ping")))
    body = making.one_of((_CALL,), _DOUBTFUL_CALLS, note.removeprefix(b"note/"))
    return Draft(b"POST", b"/mcp", making.fields, body, is_chunked=draw.random() < IN_CHUNKS)


def _bearer(making: Making) -> Draft:
    draw, key = making.draw, making.draw.choice(KEYS)
    scheme = draw.choice((b"Bearer ", b"bearer  ", b"Bearer ", b"Basic ", b"Bearer x."))
    making.fields.append(b"Authorization: " + scheme + making.token(key))
    return Draft(b"PUT", b"/keys/" + key.removeprefix(b"key/"), making.fields, _body(draw))


def _claim(making: Making) -> Draft:
    draw, number = making.draw, making.draw.randrange(_CLAIMED)
    claim = drawn_claim(draw, b"claim/c%d" % number, max(0, making.epoch + draw.randint(-3, 1)))
    making.fields.append(b"Fencing-Token: " + claim)
    return Draft(b"PUT", b"/claims/c%d" % number, making.fields, _body(draw))


def _report(making: Making) -> Draft:
    draw, report = making.draw, making.draw.choice(REPORTS)
    making.present(report)
    if draw.random() < 0.1:
        key = b"k%d" % draw.randrange(200)
        making.fields.append(b"Idempotency-Key: " + draw.choice((key, b'"%b"' % key)))
    method = draw.choice((b"PUT", b"POST", b"PATCH", b"PUT", b"DELETE"))
    draft = Draft(method, b"/reports/" + report.removeprefix(b"report/"), making.fields, _body(draw))
    draft.is_chunked = draw.random() < IN_CHUNKS
    return draft


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


# How often each is drawn.
_KINDS: dict[Callable[[Making], Draft], int] = {
    _read: 12,
    _job: 8,
    _task: 12,
    _form: 10,
    _call: 14,
    _bearer: 6,
    _claim: 6,
    board: 10,
    card: 12,
    _report: 36,
}
