"""How long a caller would rather wait for the real answer, and what of its preferences a fenced write cannot have."""

import pytest

from gateway.core.prefer import ASKING, preferred_wait_s, without_asking, without_later
from gateway.core.request import Headers


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        ((), None),
        ((b"wait=5",), 5),
        ((b"Wait = 5",), 5),
        ((b'wait="5"',), 5),
        ((b"respond-async, wait=10",), 10),
        ((b"respond-async", b"wait=10"), 10),
        ((b"wait=3, wait=9",), 3),
        ((b"wait=10; because=of",), 10),
        ((b"wait=55",), 55),
        ((b"wait=56",), 55),
        ((b"wait=999999999",), 55),
        ((b"wait=0",), 0),
    ],
)
def test_the_first_wait_counts_and_has_a_limit(values: tuple[bytes, ...], seconds: int | None) -> None:
    """RFC 7240, sections 2 and 4.3."""
    assert preferred_wait_s(Headers((b"Prefer", value) for value in values)) == seconds


@pytest.mark.parametrize("value", [b"", b"wait", b"wait=", b"wait=-1", b"wait=1.5", b"wait=x", b"await=5", b"wait=5s"])
def test_a_preference_that_cannot_be_read_is_none(value: bytes) -> None:
    """A server may ignore any preference: it never refuses one."""
    assert preferred_wait_s(Headers(((b"Prefer", value),))) is None


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        (b"prefer", b"respond-async, wait=10", b"wait=10"),
        *((name, b"1", None) for name in (b"grpc-timeout", b"connect-timeout-ms", b"nuxeo-async")),
        (b"x-graphql-event-stream-token", b"t", None),
        (b"range", b"bytes=99999-", None),
        (b"if-range", b'"1"', None),
        (b"x-arango-async", b"store", None),
        (b"x-arango-async", b"true", None),
        (b"x-amz-invocation-type", b"Event", None),
        (b"x-amz-invocation-type", b" EVENT ", None),
        (b"x-amz-invocation-type", b"DryRun", b"DryRun"),
        (b"x-arango-async", b"STORE", None),
        # Lambda takes one of three words, and nothing else for one of them.
        *((b"x-amz-invocation-type", value, value) for value in (b'"Event"', b"Event;", b"Event, RequestResponse")),
        (b"x-amz-invocation-type", b"RequestResponse", b"RequestResponse"),
    ],
)
def test_nor_in_the_words_of_one_server(name: bytes, value: bytes, left: bytes | None) -> None:
    """ArangoDB's job, Lambda's event; a trial run stays one."""
    assert name in ASKING
    assert without_asking(name, value) == left


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (b"respond-async", None),
        (b"Respond-Async; x=y", None),
        (b"respond-async, wait=10", b"wait=10"),
        (b"return=minimal,respond-async , handling=strict", b"return=minimal, handling=strict"),
        (b", respond-async,", None),
        (b'a="b, respond-async"', None),
        (b'a="b\\", respond-async, c="', None),
        (b'return="minimal" ,wait=5', b'return="minimal" ,wait=5'),
        (b"", b""),
        *((value, None) for value in (b'"respond-async"', b"respond-async=true", b"respond-async; x=1")),
        (b"wait=5,respond-async", b"wait=5"),
        (b"return=minimal, RESPOND-ASYNC", b"return=minimal"),
        (b'foo="a, b", respond-async', None),
        (b'foo=", respond-async, x="', None),
    ],
)
def test_an_answer_before_the_work_is_not_asked_for(value: bytes, left: bytes | None) -> None:
    """RFC 7240, section 4.1. What does not ask for it stays as it came; in quotes nobody can tell where it ends."""
    assert without_later(value) == left
