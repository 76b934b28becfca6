"""A cookie that is called as what a rule looks at."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET
from gateway.core.request import Headers
from gateway.policy.reading.cookies import cookie_named


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ([], False),
        ([b""], False),
        ([b"sid=1; theme=id"], False),
        ([b"id=7"], True),
        ([b"sid=1;ID=8"], True),
        ([b"sid=1", b"id"], True),
        ([b"%69d=8"], True),
        ([b"id[]=8"], True),
        ([b"\xff=1; docId=8"], True),
    ],
    ids=repr,
)
def test_a_cookie_may_have_any_other_name(lines: list[bytes], refused: bool) -> None:
    """Its value does not matter: who sends both means one of them."""
    fault = cookie_named(Headers((b"Cookie", line) for line in lines), ("id", "doc_id"))

    assert (fault is not None) is refused
    assert fault is None or fault.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        *((line, True) for line in (b"\tid=1", b" \x0bid=1", b"id", b"id[x]=1", b"a=1;;id=1", b"+id=1", b"%20id=1")),
        *((line, True) for line in (b"id%00=1", b"$id=1", b'"id"=1', b"i%64[]=1", b"a=1;\tID=2")),
        *((line, False) for line in (b"a=1,id=1", b"a=\x0bid=1", b"id\xa0=1", b"a=id", b"identity=1")),
    ],
    ids=repr,
)
def test_it_is_taken_apart_as_php_does(line: bytes, refused: bool) -> None:
    """At semicolons alone, without blanks in front of a name, and after its escapes are undone."""
    assert (cookie_named(Headers(((b"Cookie", line),)), ("id",)) is not None) is refused
