"""Requests to policies that are closed, which list the kinds of bodies and all that a request may say in them."""

from tests.fuzz.draft import Draft
from tests.fuzz.making import IN_CHUNKS, Making

BOARDS = tuple(b"board/b%d" % number for number in range(4))
CARDS = tuple(b"card/d%d" % number for number in range(4))
_JSON = b"Content-Type: application/json"
_FORM = b"Content-Type: application/x-www-form-urlencoded"
_PARTS = b"Content-Type: multipart/form-data; boundary="
_OTHER_TYPES = (
    *(
        b"Content-Type: text/plain",
        b"Content-Type: application/merge-patch+json",
        b"Content-Type: text/json",
        b"X-A: 1",
    ),
    *(_JSON + b"; a=1", b"Content-Type: Application/Json", _JSON + b", text/plain", b"Content_Type: application/json"),
    *(_FORM + b"; a=+json", _PARTS, _PARTS + b"q7; boundary=x", _PARTS + b'"q 7"', _FORM, _JSON, _PARTS + b"q7"),
)
# What is listed beside what clients send by themselves, and what is neither.
_LISTED = (b"X-N", b"X-A", b"Host", b"If-Match", b"Accept", b"Cookie")
_OTHER_FIELDS = (
    *(
        b"X-B: 1",
        b"X_A: 1",
        b"Prefer: return=minimal",
        b"X-Http-Method: PUT",
        b"Via: 1.1 a",
        b"Cache-Control: no-cache",
    ),
    *(b"X-A1: 2", b"Range: bytes=0-1", b"Cookie_: a=1", b"Mode: run", b"Cookie: mode=run", b"Cookie: ID=d1"),
)
_QUERIES = (b"", b"", b"?", b"?page=1", b"?page=1&page=2&", b"?%70age=1")
_DOUBTFUL_QUERIES = (
    *(b"?sudo=1", b"?page=1&sudo", b"?Page=1", b"?page[]=1", b"?page=1;sudo=1", b"?+page=1", b"?page%%00=1"),
    *(b"?page=1&=8", b"?text=1", b"?title=1", b"?page=%%zz", b"?_method=DELETE", b"%%3Fsudo=1", b"&sudo=1"),
)
_BOARD = (b'{"text":"x"}', b'{"text":{"a":[1]},"rows":[{"id":1},{}]}', b'{"rows":{"id":"7"}}', b"{}", b"")
_DOUBTFUL_BOARD = (
    *(b'{"text":"x","owner":8}', b'{"text":"x","Text":"y"}', b'{"text":"x","text":"y"}', b'{"rows":[{"id":1,"x":2}]}'),
    *(b'{"rows":[[{"id":1}]]}', b'{"rows":[1]}', b'{"rows":"x"}', b'{"rows":null}', b'{"rows":[{"id":1},{"ID":2}]}'),
    *(
        b'[{"text":"x"}]',
        b'"text"',
        b"text=x",
        b'{"text":"x"}{"owner":8}',
        b'\xef\xbb\xbf{"text":"x"}',
        b'{"t\\u0065xt":"x"}',
    ),
    *(
        b'{"text":"x","text\\u0000":1}',
        b'{"":1}',
        b'{"text":"x"/*,"owner":8*/}',
        b"null",
        b'{"text":NaN}',
        b'{"rows.id":1}',
    ),
)
_KIND = (b'{"kind":"soft"}', b'{"kind":1,"text":"x"}', b'{"kind":1.0}', b'{"k\\u0069nd":"s\\u006fft"}')
_DOUBTFUL_KIND = (
    *(b'{"kind":%b}' % kind for kind in (b'"Soft"', b'"1"', b"true", b'["soft"]', b"null", b'"soft "', b"2", b"{}")),
    *(
        b'{"kind":"soft","Kind":"hard"}',
        b'{"kind":"hard","kind":"soft"}',
        b'{"kind":"soft\\u0000"}',
        b'{"Kind":"soft"}',
    ),
)
_DRY = (b'{"dry":true,"id":"%s"}', b'{"dry":true}')
_ADDED = (b'{"id":"%s"}', b'{"id":"%s","dry":false,"text":1}', b'{"id":"%s","text":"x"}')
_DOUBTFUL_DRY = (
    *(
        b'{"dry":true,"id":"%s","text":1}',
        b'{"dry":"true","id":"%s"}',
        b'{"dry":1,"id":"%s"}',
        b'{"dry":[true],"id":"%s"}',
    ),
    *(b'{"dry":true,"dry":false,"id":"%s"}', b'{"Dry":true,"id":"%s"}', b'[{"dry":true,"id":"%s"}]', b'{"dry":null}'),
    *(b'{"dry":true,"DRY":false}', b'{"dry ":true,"id":"%s"}', b"dry=true&id=%s", b'{"id":"%s","owner":8}', b""),
)
_CARD = (b"title=x", b"title=x&tags%%5B%%5D=1&tags[]=2", b"%%74itle=x&&", b"title", b"", b"&")
_DOUBTFUL_CARD = (
    *(b"title=x&owner=8", b"title=x&Title=y", b"title[]=x", b"title=x;owner=8", b"title=x&_method=DELETE", b"tags=1"),
    *(b"title=x&owner", b"title%%00=x", b"+title=x", b"title=x&%%zz=1", b'{"title":"x"}', b"title=x]=y", b"tags[0]=1"),
    *(b"title=x&=8", b"title=x&%%E2%%80%%8Btitle=y", b"title=\xe4", b"title=%%E4", b"ti tle=x", b"title=x\r\n&owner=8"),
)
_TONED = (b"tone=soft", b"title=x&tone=s%%6fft", b"t%%6fne=soft")
_DOUBTFUL_TONED = (
    *(b"tone=Soft", b"tone=", b"tone", b"tone=soft&tone=soft", b"tone=soft&tone=hard", b"Tone=soft", b"tone[]=soft"),
    *(b"tone=soft+", b"tone=soft%%00", b"tone=soft;tone=hard", b"tone=hard", b"tone=soft&x=1", b"tone=soft,hard"),
)
_TRIED = (b"mode=dry", b"mode=dry&id=%s", b"id=%s&mode=dry")
_SENT = (b"id=%s", b"id=%s&title=x", b"mode=run&id=%s")
_DOUBTFUL_MODES = (
    *(
        b"mode=dry&id=%s&title=x",
        b"mode=dry&mode=run&id=%s",
        b"mode=dry&Mode=run&id=%s",
        b"mode=Dry&id=%s",
        b"mode=dry+",
    ),
    *(b"mode[]=dry&id=%s", b"mode=dry;id=%s", b"id=%s&id=d1", b"id=%s&ID=d1", b"mode=dry&id=%s&owner=8", b"mode&id=%s"),
)
_NAMED = b'Content-Disposition: form-data; name="%b"'
_HEADS = (_NAMED % b"title", _NAMED % b"tags[]", _NAMED % b"title" + b'; filename="a.txt"\r\nContent-Type: text/plain')
_DOUBTFUL_HEADS = (
    *(
        _NAMED % name
        for name in (b"owner", b"tone", b"Title", b"title ", b"", b"=?utf-8?q?owner?=", b"t%69tle", b"title[]")
    ),
    *(_NAMED % b"title" + more for more in (b'; name="owner"', b"; name*=utf-8''owner", b'; filename="x; name=owner"')),
    *(
        _NAMED % b"title" + b"\r\n" + more
        for more in (_NAMED % b"owner", b"Content-ID: <owner>", b"X-Part: 1", b" x: y")
    ),
    *(b'X-A: Content-Disposition: x; name="owner"\r\n' + _NAMED % b"title", b"Content-Disposition: form-data", b"A: b"),
    *(
        b'Content-Disposition: form-data; filename="owner"; name="title"',
        b"Content-Disposition: form-data; name='owner'",
    ),
    *(_NAMED % b"title" + b"\r\nContent-Type: " + kind for kind in (b"multipart/mixed; boundary=c", b"message/rfc822")),
)
_CONTENTS = (b"x", b"", b"\r\n", b"a=1&b=2")
_DOUBTFUL_CONTENTS = tuple(
    mark + b"q7" + end + _NAMED % b"owner" + b"\r\n\r\n8"
    for mark, end in (
        (b"\n--", b"\n"),
        (b"--", b"\r\n"),
        (b"\r\n-\n-", b"\r\n"),
        (b"\r\n", b"\r\n"),
        (b"\r\n--Q", b"\r\n"),
    )
)


def board(making: Making) -> Draft:
    """JSON alone, and its members, its parameters and its header fields are listed."""
    draw, name = making.draw, making.draw.choice(BOARDS)
    making.fields[:] = [line for line in making.fields if line.startswith(_LISTED) or draw.random() < 0.1]
    if draw.random() < 0.05:
        making.fields.append(draw.choice(_OTHER_FIELDS))
    making.fields.append(_JSON if draw.random() < 0.92 else draw.choice(_OTHER_TYPES))
    chance, id = draw.random(), name.removeprefix(b"board/")
    if chance < 0.2:
        return _posted(making, b"/boards/find", making.one_of(_BOARD, _DOUBTFUL_BOARD, id))
    if chance < 0.35:
        return _posted(making, b"/boards", making.one_of(_DRY, _DOUBTFUL_DRY, id))
    making.present(name)
    if chance < 0.6:
        return _posted(making, b"/boards", making.one_of(_ADDED, _DOUBTFUL_DRY, id))
    target = b"/boards/" + id + making.one_of(_QUERIES, _DOUBTFUL_QUERIES, id)
    said = (_BOARD, _DOUBTFUL_BOARD) if draw.random() < 0.6 else (_KIND, _DOUBTFUL_KIND)
    return Draft(b"PUT", target, making.fields, making.one_of(*said, id))


def card(making: Making) -> Draft:
    """Forms alone, of both kinds, and their fields and parts are listed."""
    draw, name = making.draw, making.draw.choice(CARDS)
    if draw.random() < 0.05:
        making.fields.append(draw.choice(_OTHER_FIELDS))
    chance, id = draw.random(), name.removeprefix(b"card/")
    if chance > 0.2:
        making.present(name)
    if chance < 0.1 or 0.2 < chance < 0.35:
        making.fields.append(_FORM)
        return _posted(making, b"/cards", making.one_of(_TRIED if chance < 0.1 else _SENT, _DOUBTFUL_MODES, id))
    if chance < 0.45:
        making.fields.append(draw.choice((_FORM, _PARTS + b"q7", _PARTS + b'"q 7"', *_OTHER_TYPES)))
        return Draft(b"PATCH", b"/cards/" + id, making.fields, draw.choice((b"", b"title=x", b"{}", b"--q7")))
    is_plain = draw.random() < 0.5
    said = (_CARD, _DOUBTFUL_CARD) if draw.random() < 0.6 else (_TONED, _DOUBTFUL_TONED)
    body = making.one_of(*said, id) if is_plain else _parts(making)
    kind = _FORM if is_plain else _PARTS + draw.choice((b"q7", b"q7", b'"q7"', b"q7; charset=utf-8"))
    making.fields.append(kind if draw.random() < 0.94 else draw.choice(_OTHER_TYPES))
    target = b"/cards/preview" if chance < 0.2 else b"/cards/" + id
    return _posted(making, target + making.one_of(_QUERIES, _DOUBTFUL_QUERIES, id), body)


def _parts(making: Making) -> bytes:
    """Odd in one place at most: in a part's head, in its content, or around them."""
    draw, body, odd = making.draw, b"", making.draw.choice(("", "", "", "head", "content", "around"))
    for _ in range(draw.randint(1, 2)):
        head = draw.choice(_DOUBTFUL_HEADS if odd == "head" else _HEADS)
        content = draw.choice(_DOUBTFUL_CONTENTS if odd == "content" else _CONTENTS)
        body += b"--q7\r\n%b\r\n\r\n%b\r\n" % (head, content)
    ends = (b"--q7--\r\n", b"--q7--")
    if odd != "around":
        return body + draw.choice(ends)
    around = (
        body,
        body + b"--q7--\r\nx",
        b"x\r\n" + body + b"--q7--",
        body.replace(b"\r\n", b"\n") + b"--q7--",
        b"--q7--",
    )
    return draw.choice(around)


def _posted(making: Making, target: bytes, body: bytes) -> Draft:
    return Draft(b"POST", target, making.fields, body, is_chunked=making.draw.random() < IN_CHUNKS)
