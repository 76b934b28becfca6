"""The second reading of what closed policies list: an oracle that takes what it should not finds nothing."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from tests.fuzz.allowed import allow, stripped
from tests.fuzz.closed import board_of, card_of
from tests.fuzz.closed_kinds import board, card
from tests.fuzz.draft import Draft
from tests.fuzz.kinds import LEASED
from tests.fuzz.leases import Leases
from tests.fuzz.making import Making
from tests.fuzz.reader import Message, read

JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"
PARTS = b"multipart/form-data; boundary=q7"
PART = b'--q7\r\nContent-Disposition: form-data; name="%b"\r\n\r\nx\r\n'


def sent(line: bytes, kind: bytes, body: bytes, *fields: tuple[bytes, bytes]) -> Message:
    method, target = line.split(b" ")
    return Message(method, target, ((b"Content-Type", kind), (b"X-N", b"1"), *fields), body)


def of_board(message: Message) -> bytes | None:
    return board_of(message, message.target.partition(b"?")[0], stripped(message, []).fields)


@pytest.mark.parametrize(
    ("line", "body", "named"),
    [
        (b"PUT /boards/b1", b'{"text":1,"rows":[{"id":1}]}', b"b1"),
        (b"PUT /boards/b1?page=1", b"", b"b1"),
        (b"PUT /boards/b1?page=1;sudo=1", b"", None),
        (b"PUT /boards/b1?Page=1", b"", None),
        (b"PUT /boards/b1", b'{"text":1,"owner":8}', None),
        (b"PUT /boards/b1", b'{"rows":[[{"id":1}]]}', None),
        (b"PUT /boards/b1", b'{"rows":[{"ID":1}]}', None),
        (b"PUT /boards/b1", b"[]", None),
        (b"PUT /boards/b1", b'{"kind":"soft"}', b"b1"),
        (b"PUT /boards/b1", b'{"kind":1.0}', b"b1"),
        *(
            (b"PUT /boards/b1", b'{"kind":%b}' % kind, None)
            for kind in (b'"Soft"', b"true", b'["soft"]', b"null", b"2")
        ),
        (b"POST /boards/b1", b"{}", None),
        (b"POST /boards/find", b'{"text":1}', b""),
        (b"POST /boards/find?page=1", b'{"text":1}', None),
        (b"POST /boards/find", b'{"id":1}', None),
        (b"POST /boards", b'{"dry":true,"id":"b1"}', b""),
        (b"POST /boards", b'{"dry":true,"text":1}', None),
        (b"POST /boards", b'{"dry":1,"id":"b1"}', None),
        (b"POST /boards", b'{"dry":false,"id":"b1","text":1}', b"b1"),
        (b"POST /boards", b'{"dry":true,"DRY":false}', None),
    ],
)
def test_a_board_is_named_by_what_is_listed(line: bytes, body: bytes, named: bytes | None) -> None:
    """Of members, at all depths, and of parameters."""
    assert of_board(sent(line, JSON, body)) == named


@pytest.mark.parametrize(
    ("kind", "fields", "is_taken"),
    [
        (JSON, (), True),
        (b"text/plain", (), False),
        (JSON, ((b"Content-Encoding", b"gzip"),), False),
        (JSON, ((b"Content_Type", JSON),), False),
        (JSON, ((b"X-B", b"1"),), False),
        (JSON, ((b"X_A", b"1"),), False),
        (JSON, ((b"If-Match", b'"7"'),), False),
        (JSON, ((b"Cookie", b"a=1"), (b"Accept", b"a/b"), (b"Via", b"1.1 a"), (b"X-Forwarded-For", b"::1")), True),
    ],
)
def test_its_header_says_what_is_listed(kind: bytes, fields: tuple[tuple[bytes, bytes], ...], is_taken: bool) -> None:
    """Or what does not reach the API."""
    assert (of_board(sent(b"PUT /boards/b1", kind, b'{"text":1}', *fields)) is not None) is is_taken
    assert (b"Via", b"1.1 a") not in stripped(sent(b"PUT /boards/b1", kind, b"", *fields), []).fields


@pytest.mark.parametrize(
    ("line", "kind", "body", "named"),
    [
        (b"POST /cards/d1?page=1", FORM, b"title=x&tags[]=1&tags%5B%5D=2", b"d1"),
        (b"POST /cards/d1", FORM, b"", b"d1"),
        (b"POST /cards/d1", FORM, b"title=x;owner=8", None),
        (b"POST /cards/d1", FORM, b"title=x&=8", None),
        (b"POST /cards/d1", FORM, b"+title=x", None),
        (b"POST /cards/d1", FORM, b"title=x&_method=DELETE", None),
        (b"POST /cards/d1", JSON, b"{}", None),
        (b"POST /cards/d1", PARTS, PART % b"title" + PART % b"tags[]" + b"--q7--", b"d1"),
        (b"POST /cards/d1", PARTS, PART % b"title" + PART % b"owner" + b"--q7--", None),
        (b"POST /cards/d1", PARTS, PART % b'title"; name="owner' + b"--q7--", None),
        (b"POST /cards/d1", PARTS, PART % b'title"\r\nContent-ID: "owner' + b"--q7--", None),
        (b"POST /cards/d1", PARTS, PART % b'title"; filename="a.txt' + b"--q7--\r\n", b"d1"),
        (b"POST /cards/d1", PARTS, (PART % b"title").replace(b"x", b"\n--q7\nx") + b"--q7--", None),
        (b"POST /cards/d1", PARTS, PART % b"title", None),
        (b"POST /cards/d1", PARTS, b"--q7--\r\n", b"d1"),
        (b"POST /cards/d1", PARTS, b"--q7-", None),
        (b"POST /cards/d1", FORM, b"tone=s%6fft", b"d1"),
        (b"POST /cards/d1", FORM, b"tone=Soft", None),
        (b"POST /cards/d1", FORM, b"tone=soft&tone=soft", None),
        (b"POST /cards/d1", PARTS, PART % b"tone" + b"--q7--", None),
        (b"POST /cards/preview", FORM, b"tone=soft", None),
        (b"POST /cards/preview", FORM, b"title=x", b""),
        (b"POST /cards/preview", PARTS, PART % b"owner" + b"--q7--", None),
        (b"POST /cards", FORM, b"mode=dry&id=d1", b""),
        (b"POST /cards", FORM, b"mode=dry&id=d1&title=x", None),
        (b"POST /cards", FORM, b"mode=Dry&id=d1", None),
        (b"POST /cards", FORM, b"mode=run&id=d1&title=x", b"d1"),
        (b"POST /cards", FORM, b"id=d1&id=d2", None),
        (b"PATCH /cards/d1", PARTS, b"{}", b"d1"),
        (b"PATCH /cards/d1", JSON, b"{}", None),
        (b"PATCH /cards/d1", FORM + b"; a=+json", b"{}", None),
        (b"PATCH /cards/d1", JSON, b"", b"d1"),
    ],
)
def test_a_card_is_named_by_what_is_listed(line: bytes, kind: bytes, body: bytes, named: bytes | None) -> None:
    """Of fields and parts, whatever reader looks for another; where nobody reads the body, of its kinds alone."""
    message = sent(line, kind, body)

    assert card_of(message, message.target.partition(b"?")[0]) == named


@pytest.mark.parametrize("field", [(b"Cookie", b"a=1; mode=run"), (b"Cookie", b"ID=d2"), (b"Mode", b"run")])
def test_nothing_else_is_called_as_a_looked_at_field(field: tuple[bytes, bytes]) -> None:
    """A cookie, and a header in the place of a field that is not there."""
    assert card_of(sent(b"POST /cards", FORM, b"id=d1", field), b"/cards") is None


@pytest.mark.parametrize("kind", [board, card])
def test_what_is_drawn_is_read_written_and_refused(kind: Callable[[Making], Draft]) -> None:
    """Often enough that a run shows each of them."""
    leases = Leases()
    for number, resource in enumerate(LEASED):
        leases.granted(resource, b"42.%032d" % number)
    came: Counter[str] = Counter()
    for seed in range(400):
        draft = kind(Making(random.Random(seed), leases, 1, [b"Host: a", b"X-N: 1"]))
        for message in read(draft.written(random.Random(seed))).messages:
            seen = allow(message, leases)
            is_written = seen is not None and any(name == b"X-Fencing-Token" for name, _ in seen.fields)
            came["refused" if seen is None else "written" if is_written else "read"] += 1

    assert min(came[one] for one in ("refused", "written", "read")) > 20
