"""Header fields keep their order and spelling, and are found in any case."""

import pytest

from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target

PAIRS = ((b"Accept", b"a"), (b"X-One", b"1"), (b"ACCEPT", b"b"))


def test_fields_stay_as_they_came() -> None:
    """Order, spelling and repetition are the sender's."""
    assert Headers(iter(PAIRS)).pairs == PAIRS


def test_fields_are_found_by_their_lower_case_name() -> None:
    """Every value in order, the first one, or none."""
    headers = Headers(PAIRS)

    assert headers.all(b"accept") == [b"a", b"b"]
    assert headers.first(b"accept") == b"a"
    assert (headers.all(b"absent"), headers.first(b"absent")) == ([], None)
    assert list(headers.names()) == [b"accept", b"x-one"]
    assert list(headers.repeated()) == [b"accept"]


def test_a_name_that_is_not_plain_is_told_as_its_lenient_readers_have_it() -> None:
    """Some servers read all its spellings as one field."""
    headers = Headers(((b"X_One", b"1"), (b"X-Two", b"2"), (b"x_two", b"3"), (b"X.Three", b"4")))

    assert headers.respelled() == {b"x-one", b"x-two", b"x-three"}
    assert headers.first(b"x-one") is None


def test_a_body_is_not_shown() -> None:
    """What a log shows of a request holds none of its body."""
    target = read_target("/a")
    assert isinstance(target, Target)

    assert "secret" not in repr(Request("PUT", target, Headers(()), b"secret"))


TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01".encode()


@pytest.mark.parametrize(
    ("parents", "named"),
    [
        pytest.param((PARENT,), TRACE, id="well-formed"),
        pytest.param((), "", id="none"),
        pytest.param((PARENT, PARENT), "", id="twice"),
        pytest.param((PARENT.upper(),), "", id="upper case"),
        pytest.param((PARENT.replace(TRACE.encode(), b"0" * 32),), "", id="no trace"),
        pytest.param((PARENT + b"x" * 4000,), "", id="too long"),
        pytest.param((b"00-\xff\r-1-1",), "", id="no text"),
    ],
)
def test_a_request_names_its_trace_well_or_not_at_all(parents: tuple[bytes, ...], named: str) -> None:
    """32 hexadecimal digits (W3C Trace Context, section 2.2.2), where nothing is traced here too."""
    target = read_target("/a")
    assert isinstance(target, Target)

    assert Request("PUT", target, Headers((b"Traceparent", value) for value in parents)).trace_id == named
