"""W3C Trace Context: which values are a place in a trace, and what is passed on of them."""

import pytest

from gateway.core.trace_context import TraceContext, read_trace_context, without_trace

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CAME = f"00-{TRACE}-{SPAN}-01".encode()


def test_a_place_is_read_and_told_as_it_came() -> None:
    """Ids and the flags that have a meaning; `tracestate` goes with them."""
    context = read_trace_context([CAME], [b"vendor=a1,other@one=b2"])

    assert context == TraceContext(TRACE, SPAN, 1, "vendor=a1,other@one=b2")
    assert context.is_sampled
    assert context.fields == ((b"traceparent", CAME), (b"tracestate", b"vendor=a1,other@one=b2"))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([CAME, CAME], id="two, even of one value"),
        pytest.param([b""], id="empty"),
        pytest.param([CAME.upper()], id="upper-case digits"),
        pytest.param([CAME[:-1]], id="too short"),
        pytest.param([CAME + b"0"], id="too long"),
        pytest.param([CAME + b"-00"], id="more behind version 00"),
        pytest.param([CAME + b"\n"], id="a line's end"),
        pytest.param([b"ff" + CAME[2:]], id="the version that is none"),
        pytest.param([b"0x" + CAME[2:]], id="a version of other digits"),
        pytest.param([b"01" + CAME[2:] + b"x"], id="a later version, and no dash"),
        pytest.param([f"00-{'0' * 32}-{SPAN}-01".encode()], id="no trace"),
        pytest.param([f"00-{TRACE}-{'0' * 16}-01".encode()], id="no span"),
        pytest.param([CAME + b", " + CAME], id="two in one field"),
        pytest.param([b"00-" + b"\xb2" * 32 + b"-b7ad6b7169203331-01"], id="digits of another script"),
    ],
)
def test_what_is_no_place_begins_a_new_trace(values: list[bytes]) -> None:
    """Section 3.2.2: whoever cannot read it must not use it, nor the state beside it."""
    assert read_trace_context(values, [b"vendor=a1"]) is None


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        pytest.param(CAME[:-2] + b"00", 0, id="not sampled"),
        pytest.param(CAME[:-2] + b"03", 3, id="a random id"),
        pytest.param(CAME[:-2] + b"ff", 3, id="flags without a meaning"),
        pytest.param(b"01" + CAME[2:-2] + b"03", 1, id="a later version"),
        pytest.param(b"cc" + CAME[2:] + b"-what-the-future-will-be-like", 1, id="a later version, and more"),
    ],
)
def test_only_flags_with_a_meaning_are_passed_on(value: bytes, flags: int) -> None:
    """Section 3.2.2.5; of a later version the first one is certain, and it is told as version 00."""
    context = read_trace_context([value], [])

    assert context == TraceContext(TRACE, SPAN, flags)
    assert context.fields[0][1] == f"00-{TRACE}-{SPAN}-{flags:02x}".encode()


LONG = ",".join(f"v{at}={'x' * 200}" for at in range(4))


@pytest.mark.parametrize(
    ("values", "state"),
    [
        pytest.param([b"a=1", b"b=2"], "a=1,b=2", id="several fields are one list"),
        pytest.param([b" a=1 ,, b=2\t,"], "a=1,b=2", id="blanks and empty members"),
        pytest.param([b"a=1,a=2"], "", id="one name twice"),
        pytest.param([b"A=1"], "", id="an upper-case name"),
        pytest.param([b"a"], "", id="no value"),
        pytest.param([b"a=\xe9"], "", id="a value that is not ASCII"),
        pytest.param([b"a=1=2"], "", id="two equals signs"),
        pytest.param([b"0tenant@vendor=a b"], "0tenant@vendor=a b", id="a tenant, and a blank within"),
        pytest.param([",".join(f"v{at}=1" for at in range(33)).encode()], "", id="33 members"),
        pytest.param([LONG.encode()], ",".join(LONG.split(",")[:2]), id="longer than has to be passed on"),
    ],
)
def test_a_state_is_passed_on_whole_members_or_not_at_all(values: list[bytes], state: str) -> None:
    """Section 3.3: it is others' property, read by nobody here."""
    context = read_trace_context([CAME], values)

    assert context == TraceContext(TRACE, SPAN, 1, state)
    assert len(context.fields) == (2 if state else 1)


def test_a_request_has_one_place_only() -> None:
    """Whatever its fields' spelling, none of the caller's stays beside those of the gateway."""
    pairs = ((b"TraceParent", CAME), (b"Accept", b"*/*"), (b"tracestate", b"a=1"), (b"TRACESTATE", b"b=2"))

    assert without_trace(pairs) == ((b"Accept", b"*/*"),)
