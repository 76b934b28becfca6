"""The control headers: each at most once, each well-formed, whatever else a request holds."""

import pytest

from gateway.core.caller import (
    ANONYMOUS,
    DEFAULT_TENANT,
    Caller,
    Control,
    is_control_header,
    overrides_request,
    parse_holder,
    parse_idempotency_key,
    read_control,
)
from gateway.core.decision import AMBIGUOUS_TARGET, HEADER_MALFORMED, TOKEN_MALFORMED, Decision, Refused
from gateway.core.request import Headers

NOTHING = Control(None, None, None, None, None)
_LEASE = "42.abcdefghijklmnopqrst-_"


def control(*pairs: tuple[bytes, bytes]) -> Control | Refused:
    return read_control(Headers(pairs))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((), NOTHING),
        (((b"Content-Type", b"text/plain"),), NOTHING),
        (((b"Fencing-Token", b"42"),), Control("42", None, None, None, None)),
        (((b"FENCING-TOKEN", b"42.\xe9"),), Control("42.\xe9", None, None, None, None)),
        (((b"fencing-holder", "agent é".encode()),), Control(None, "agent é", None, None, None)),
        (((b"Fencing-Sequence", b"18446744073709551615"),), Control(None, None, (1 << 64) - 1, None, None)),
        (((b"Fencing-If-Revision", b"0"),), Control(None, None, None, 0, None)),
        (((b"Authorization", b"Bearer 42"),), Control(None, None, None, None, "Bearer 42")),
        (((b"Fencing-Token", b""),), Control("", None, None, None, None)),
        (((b"Fencing_Token", b"42"),), NOTHING),
        (((b"Fencing-Other", b"1"), (b"Fencing-Other", b"2")), NOTHING),
    ],
    ids=[
        "nothing",
        "other fields",
        "token",
        "any case, any bytes: the token is not parsed here",
        "holder in UTF-8",
        "sequence",
        "revision",
        "authorization",
        "empty token",
        "an underscore is another name",
        "an unknown Fencing- field is not read",
    ],
)
def test_control_headers_are_read(pairs: tuple[tuple[bytes, bytes], ...], expected: Control) -> None:
    """Only the fields that agents may present are looked at."""
    assert control(*pairs) == expected


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        (b"Fencing-Token", TOKEN_MALFORMED),
        (b"Fencing-Holder", HEADER_MALFORMED),
        (b"Fencing-Sequence", HEADER_MALFORMED),
        (b"Fencing-If-Revision", HEADER_MALFORMED),
        (b"Idempotency-Key", HEADER_MALFORMED),
        (b"Fencegate-Key", HEADER_MALFORMED),
    ],
)
@pytest.mark.parametrize("values", [(b"1", b"2"), (b"2", b"1"), (b"1", b"1"), (b"", b"1")])
def test_a_doubled_control_header_is_refused(name: bytes, decision: Decision, values: tuple[bytes, bytes]) -> None:
    """Never the first value checked and another forwarded, in whatever order and spelling they come."""
    refused = control((name, values[0]), (b"Accept", b"*/*"), (name.lower(), values[1]))

    assert isinstance(refused, Refused) and refused.decision is decision
    assert refused.detail == f"{name.decode()} was sent 2 times; send it once."


@pytest.mark.parametrize("value", [b"", b"\xff", b"a\tb", b"a\x00", b"\x7f", "a\u200b".encode(), b"a" * 256])
def test_a_holder_is_visible_and_short(value: bytes) -> None:
    """The holder is the other half of a bare epoch: if it is malformed, the token is."""
    refused = control((b"Fencing-Holder", value))

    assert isinstance(refused, Refused) and refused.decision is TOKEN_MALFORMED


@pytest.mark.parametrize("name", [b"Fencing-Sequence", b"Fencing-If-Revision"])
@pytest.mark.parametrize("value", [b"", b"+1", b"01", b"1,2", b"1.0", b" 1", b"18446744073709551616", b"\xb2"])
def test_a_counter_is_digits_only(name: bytes, value: bytes) -> None:
    """Sequence and revision have the epoch's grammar; a comma list is not a number."""
    refused = control((name, value))

    assert isinstance(refused, Refused) and refused.decision is HEADER_MALFORMED
    assert name.decode() in refused.detail


def test_two_authorizations_are_none() -> None:
    """Which of two counts cannot be told: neither is taken for a token."""
    assert control((b"Authorization", b"Bearer 1"), (b"authorization", b"Bearer 2")) == NOTHING


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [
        (b"fencing-token", True),
        (b"fencing-anything", True),
        (b"fencing_token", True),
        (b"fencegate-key", True),
        (b"fencegate_key", True),
        (b"fencing.token", True),
        (b"fencegate~key", True),
        (b"fencegate-keys", False),
        (b"fencing", False),
        (b"x-fencing-token", False),
        (b"idempotency-key", False),
        (b"authorization", False),
    ],
)
def test_what_belongs_to_the_gateway_is_told_by_its_name(name: bytes, is_ours: bool) -> None:
    """Fields that begin with `Fencing-`, and `Fencegate-Key`; an underscore or a dot counts as a dash."""
    assert is_control_header(name) is is_ours


@pytest.mark.parametrize(
    "name",
    [
        *("X-HTTP-Method-Override", "x_http_method", "X.HTTP-Method-Override", "X~Rewrite-Url"),
        *("X-HTTP-Override", "X-Original-Method", "X-Original-URL", "X-Rewrite-URL"),
        *("X`Method.Override", "X\xe4HTTP-Method", "SCRIPT_NAME", "Script-Name", "X-Script-Name", "PATH_INFO"),
        *("Path-Info", "X-Path-Info", "X-HTTP-Path-Override", "X-Original-Path", "X-Rewrite-URI"),
        *("X-Tunneled-Method", "X_Tunneled_Method", "X-Method-Override"),
        *("X-RestLi-Method", "X-Rest-Method", "X-HTTP-Verb", "X-Service-Method", "x_service.method", "Next-Action"),
        *("X-OCTOBER-REQUEST-HANDLER", "X_Winter.Request_Handler", "X-Ajax-Handler", "Rsc-Action-Id", "X-QRL"),
        *("HTTP-Method-Override", "X-Any_Method.Overrides"),
    ],
)
def test_an_override_is_refused_in_every_spelling(name: str) -> None:
    """Under its own name, so that its sender finds it."""
    refused = overrides_request(Headers(((b"Accept", b"*/*"), (name.encode("latin-1"), b"DELETE"))))

    assert refused is not None and refused.decision is AMBIGUOUS_TARGET
    assert refused.detail.startswith(f"Not forwarded: {name.lower().title()} would make another request")


@pytest.mark.parametrize("name", ["X-HTTP-Methods", "X.Api.Version", "X_Request_Id", "Method-Override", "X-Handler"])
def test_a_name_that_nobody_takes_for_an_override_passes(name: str) -> None:
    """A dot or an underscore alone is no fault."""
    assert overrides_request(Headers(((name.encode(), b"1"),))) is None


@pytest.mark.parametrize(
    ("text", "holder"),
    [("a", "a"), ("a b", "a b"), ("x" * 255, "x" * 255), ("", None), ("x" * 256, None), ("a\nb", None)],
)
def test_a_holder_name_has_1_to_255_printable_characters(text: str, holder: str | None) -> None:
    """What is shown in problems and logs holds no control character."""
    assert parse_holder(text) == holder


def test_without_principals_everybody_is_the_same() -> None:
    """The caller is `anonymous`, of the tenant `default`."""
    assert Caller() == Caller(ANONYMOUS, DEFAULT_TENANT) == Caller("anonymous", "default")


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (b"abc", "abc"),
        (b'"abc"', "abc"),
        (b'"a\\"b\\\\"', 'a"b\\'),
        (b"x" * 255, "x" * 255),
        (b"ABC", "ABC"),
        (b"a:b", "a:b"),
        (b"", None),
        (b'""', None),
        (b"x" * 256, None),
        (b'"' + b"x" * 256 + b'"', None),
        (b"abc ", None),
        (b"a b", None),
        ("é".encode(), None),
        (b"\xe9", None),
        (b"a\x00", None),
        (b"a\r\n", None),
        (b'"abc', None),
    ],
    ids=[
        *("bare", "quoted", "escaped", "longest", "case matters", "a colon", "empty", "empty in quotes", "too long"),
        *("too long in quotes", "trailing blank", "blank", "UTF-8", "Latin-1", "NUL", "line end", "no second quote"),
    ],
)
def test_an_idempotency_key_has_1_to_255_visible_characters(value: bytes, key: str | None) -> None:
    """Quoted or bare, it is the same key."""
    assert parse_idempotency_key(value) == key
