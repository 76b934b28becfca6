"""What makes two requests the same: JSON by value, multipart by parts, all else by bytes."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.decision import AMBIGUOUS_TARGET, BODY_TOO_LARGE, UNSUPPORTED_CODING, Decision, Refused
from gateway.core.request import Headers
from gateway.policy.fingerprint import NO_FINGERPRINT, Fingerprint, parse_fingerprint
from gateway.policy.reading.jsonbody import JsonReader

LIMIT = 1 << 16
JSON = (b"Content-Type", b"application/json")
WHOLE = Fingerprint(whole=True)


def pointers(*texts: str) -> Fingerprint:
    compiled = parse_fingerprint(list(texts))
    assert isinstance(compiled, Fingerprint)
    return compiled


def take(
    form: Fingerprint,
    body: bytes,
    *pairs: tuple[bytes, bytes],
    size: int = 1 << 20,
    read: JsonReader | None = None,
    limit: int = LIMIT,
) -> bytes | Refused:
    """As the flow does: every piece is fed; the body is given where it is wanted and small enough to be held."""
    reading = form.begin(Headers(pairs), limit, read)
    for at in range(0, len(body), size):
        reading.feed(body[at : at + size])
    return reading.digest(body if reading.holds_json and len(body) <= limit else None)


def of_json(body: bytes | str, *pairs: tuple[bytes, bytes], size: int = 1 << 20) -> bytes | Refused:
    return take(WHOLE, body.encode() if isinstance(body, str) else body, JSON, *pairs, size=size)


SAME = {
    "order of members": ('{"a": 1, "b": {"c": 2, "d": 3}}', '{"b": {"d": 3, "c": 2}, "a": 1}'),
    "blanks": ('{"a": [1, 2]}', ' {\n\t"a":[1,2]\r\n}\n'),
    "escapes": ('{"\\u0061": "\\u00e4\\/\\n"}', '{"a": "ä/\\u000a"}'),
    "pairs of surrogates": ('"\\ud83d\\ude00"', '"\U0001f600"'),
}
OTHER = {
    "value": ('{"a": 1}', '{"a": 2}'),
    "spelling of a number": ('{"a": 1}', '{"a": 1.0}'),
    "spelling of an exponent": ("1e2", "1E2"),
    "beyond 2^53": ("9007199254740993", "9007199254740992"),
    "sign of zero": ("0", "-0"),
    "number and text": ('{"a": 1}', '{"a": "1"}'),
    "number and what it is taken for": ("1", '[NaN, "1"]'),
    "number and list": ("1", '["NaN", "1"]'),
    "order of a list": ("[1, 2]", "[2, 1]"),
    "null and nothing": ('{"a": null}', "{}"),
    "false and null": ("false", "null"),
    "true and one": ("true", "1"),
    "case of a name": ('{"a": 1}', '{"A": 1}'),
    "empty": ("", "null"),
    "composed characters": ('"\u00e4"', '"a\u0308"'),
    "where a list ends": ("[[1], 2]", "[[1, 2]]"),
}


@pytest.mark.parametrize("size", [1 << 20, 3], ids=["whole", "in pieces"])
@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_json_counts_by_value(one: str, other: str, size: int) -> None:
    """The order of members, blanks and escapes do not matter, however the body is cut."""
    assert of_json(one, size=size) == of_json(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER.keys())
def test_another_value_is_another_request(one: str, other: str) -> None:
    """Numbers count as they are spelled: nobody knows what a reader makes of 1.0."""
    assert of_json(one) != of_json(other)


@pytest.mark.parametrize(
    "body",
    ['{"a": 1, "a": 1}', "[NaN]", "{", "id=1", '"\\ud800"', "[" * 100_000, "[" * 201 + "]" * 201],
    ids=["name twice", "NaN", "broken", "no JSON", "surrogate", "very deep", "too deep"],
)
def test_what_two_readers_may_read_differently_counts_by_its_bytes(body: str) -> None:
    """A blank more makes it another request; with the same bytes it is the same."""
    assert of_json(body) == of_json(body, size=7)
    assert of_json(body) != of_json(body + " ")
    assert of_json(body) == take(WHOLE, body.encode(), (b"Content-Type", b"text/plain"))


def test_a_body_of_some_depth_counts_by_value() -> None:
    """Sixty-four levels are read by value always; the bound does not depend on what else is on the stack."""
    deep = "[" * 64 + "]" * 64
    crowded = "[" + ", ".join(['{"a": [1]}'] * 1000) + "]"

    assert of_json(deep) == of_json(deep.replace("[", "[ "))
    assert of_json(f"[{deep}]") != of_json(f"[ {deep}]")
    assert of_json(crowded) == of_json(crowded.replace(" ", ""))


def test_a_body_over_the_limit_counts_by_its_bytes() -> None:
    """It is not held to be parsed, nor inflated: a coded body that grows beyond the limit is not either."""
    large = json.dumps({"a": "x" * LIMIT}).encode()
    bomb = gzip.compress(large)

    assert take(WHOLE, large, JSON, size=4096) != take(WHOLE, large + b" ", JSON, size=4096)
    assert of_json(bomb, (b"Content-Encoding", b"gzip")) != of_json(
        gzip.compress(large + b" "), (b"Content-Encoding", b"gzip")
    )
    assert len(bomb) < LIMIT


def test_a_body_of_a_million_values_counts_by_its_bytes() -> None:
    """It would cost seconds to read; what is as long and holds fewer values is read."""
    crowded, long = b"[" + b"1," * 1_000_000 + b"1]", b'["' + b"x" * 2_000_000 + b'"]'

    def digest(body: bytes) -> bytes | Refused:
        return take(WHOLE, body, JSON, limit=1 << 22)

    assert digest(crowded) != digest(crowded + b" ")
    assert digest(long) == digest(long + b" ")


@pytest.mark.parametrize(
    ("form", "fields", "read", "body", "size"),
    [
        (WHOLE, (JSON,), None, b"{}", 2),
        (WHOLE, (JSON,), None, None, 0),
        (WHOLE, (JSON, (b"Content-Encoding", b"gzip")), None, b"coded", LIMIT),
        (WHOLE, ((b"Content-Encoding", b"gzip"),), None, b"coded", 5),
        (WHOLE, (JSON, (b"Content-Encoding", b"gzip")), JsonReader(b"{   }"), b"coded as much", 5),
        (NO_FINGERPRINT, (JSON,), JsonReader(b"{   }"), None, 5),
    ],
    ids=["JSON", "not held", "coded", "coded, counts by its bytes", "read before", "read for another reason"],
)
def test_how_much_a_digest_looks_at_is_known_before(
    form: Fingerprint, fields: tuple[tuple[bytes, bytes], ...], read: JsonReader | None, body: bytes | None, size: int
) -> None:
    """A few bytes that are still to be decoded may be many."""
    assert form.begin(Headers(fields), LIMIT, read).looks_at(body) == size


def test_a_coded_body_counts_by_what_it_says() -> None:
    """Compressors write another time stamp with each attempt."""
    one = gzip.compress(b'{"a": 1, "b": 2}', mtime=1)
    other = gzip.compress(b'{"b": 2, "a": 1}', mtime=2)
    coded = (b"Content-Encoding", b"gzip")

    assert of_json(one, coded) == of_json(other, coded) == of_json('{"a": 1, "b": 2}')
    assert of_json(one, (b"Content-Encoding", b"br")) != of_json(other, (b"Content-Encoding", b"br"))


@pytest.mark.parametrize(
    ("content_type", "by_value"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=utf-8", True),
        (b"application/merge-patch+json", True),
        (b"text/plain", False),
        (b"application/jsonl", False),
        (b"", False),
    ],
)
def test_the_content_type_says_what_is_json(content_type: bytes, by_value: bool) -> None:
    """Anything else may mean something by its blanks."""
    one, other = (take(WHOLE, body, (b"Content-Type", content_type)) for body in (b'{"a": 1}', b'{"a":1}'))

    assert (one == other) is by_value


def test_two_content_types_are_none() -> None:
    """Which of them the upstream goes by is not known."""
    assert take(WHOLE, b"[ ]", JSON, JSON) != take(WHOLE, b"[]", JSON, JSON)


def test_two_kinds_are_never_equal() -> None:
    """Whatever stands in the body: the kind is part of the digest."""
    multipart = (b"Content-Type", b"multipart/mixed; boundary=b")
    digests = [
        take(WHOLE, b"[]", JSON),
        take(WHOLE, b"[]"),
        take(WHOLE, b"--b--", multipart),
        take(pointers("/a"), b"[]"),
    ]

    assert len(set(digests)) == len(digests)
    assert all(isinstance(digest, bytes) and len(digest) == 16 for digest in digests)


@pytest.mark.parametrize("size", [1 << 20, 5], ids=["whole", "in pieces"])
def test_a_form_counts_by_its_parts(size: int) -> None:
    """Under another boundary it is the same; broken off it counts by its bytes, and so does a coded one."""
    form = b'--%b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--%b--\r\n'
    one, other = ((b"Content-Type", b"multipart/form-data; boundary=" + name) for name in (b"one", b"other"))
    coded = (b"Content-Encoding", b"gzip")

    def digest(body: bytes, *pairs: tuple[bytes, bytes]) -> bytes | Refused:
        return take(WHOLE, body, *pairs, size=size)

    assert digest(form % (b"one", b"one"), one) == digest(form % (b"other", b"other"), other)
    assert digest(form[:-4] % (b"one", b"one"), one) == take(WHOLE, form[:-4] % (b"one", b"one"))
    assert digest(form % (b"one", b"one"), one, coded) == take(WHOLE, form % (b"one", b"one"), coded)


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_bytes_count_however_they_are_cut(size: int) -> None:
    """A streamed body and one that came at once are the same request."""
    body = bytes(range(256)) * 3

    assert take(WHOLE, body, size=size) == take(WHOLE, body)
    assert take(WHOLE, body) != take(WHOLE, body + b"\0")
    assert take(WHOLE, b"") == take(WHOLE, b"", size=size)


def test_nothing_is_compared_where_the_rule_says_so() -> None:
    """The body need not be read for it."""
    reading = NO_FINGERPRINT.begin(Headers((JSON,)), LIMIT)

    assert not reading.wants_body
    assert reading.digest(None) == b""


POINTED = {
    "another member": ('{"to": "a", "text": "x"}', '{"text": "y", "to": "a"}', True),
    "the member itself": ('{"to": "a"}', '{"to": "b"}', False),
    "a structure": ('{"to": {"a": 1, "b": [2]}}', '{"to": {"b": [2], "a": 1}}', True),
    "missing in both": ('{"text": "x"}', '{"text": "y"}', True),
    "missing and null": ("{}", '{"to": null}', False),
    "missing and empty": ("{}", '{"to": ""}', False),
    "empty body": ("", "{}", True),
    "no object": ("[]", "{}", True),
    "one value under two names": ('{"to": "a"}', '{"cc": "a"}', False),
}


@pytest.mark.parametrize(("one", "other", "same"), POINTED.values(), ids=POINTED.keys())
def test_pointers_compare_what_they_lead_to(one: str, other: str, same: bool) -> None:
    """All else may differ: an agent may word its text anew."""
    form = pointers("/to", "/cc")

    assert (take(form, one.encode()) == take(form, other.encode(), JSON)) is same


@pytest.mark.parametrize(
    ("body", "pairs", "decision"),
    [
        (b"to=a", (), AMBIGUOUS_TARGET),
        (b'{"to": 1, "to": 2}', (), AMBIGUOUS_TARGET),
        (b'{"to": 1, "To": 2}', (), AMBIGUOUS_TARGET),
        (b'{"to": 1, "t-o": 2}', (), AMBIGUOUS_TARGET),
        (b'{"to": ' + b"[" * 300 + b"]" * 300 + b"}", (), AMBIGUOUS_TARGET),
        (b'{"to": "' + b"x" * LIMIT + b'"}', (), BODY_TOO_LARGE),
        (gzip.compress(b'{"to": "' + b"x" * LIMIT + b'"}'), ((b"Content-Encoding", b"gzip"),), BODY_TOO_LARGE),
        (b"{}", ((b"Content-Encoding", b"br"),), UNSUPPORTED_CODING),
    ],
    ids=["no JSON", "name twice", "name in two cases", "dash", "deep", "large", "large when decoded", "unknown coding"],
)
def test_pointers_want_json_that_all_read_alike(
    body: bytes, pairs: tuple[tuple[bytes, bytes], ...], decision: Decision
) -> None:
    """What cannot be looked into is refused, not compared otherwise."""
    answer = take(pointers("/to"), body, *pairs)

    assert isinstance(answer, Refused)
    assert answer.decision is decision


@pytest.mark.parametrize("form", [WHOLE, pointers("/a")], ids=["request", "pointers"])
def test_what_the_match_has_read_is_not_read_again(form: Fingerprint) -> None:
    """Its value counts as that of the body itself; pointers then want no body at all."""
    body = b'{"a": [1, 2]}'
    read = JsonReader(body)

    assert take(form, body, JSON, read=read) == take(form, body, JSON)
    assert form.begin(Headers((JSON,)), LIMIT, read).wants_body is form.whole
    assert form.begin(Headers((JSON,)), LIMIT, JsonReader(None)).wants_body


def test_the_value_that_others_read_too_stays_as_it_is() -> None:
    """A JSON-RPC call is digested without its id, which its resource may be made of."""
    read = JsonReader(b'{"jsonrpc": "2.0", "id": 7, "params": {"requestState": "x"}}')

    take(WHOLE, read.body, JSON, read=read)

    assert read.value() == JsonReader(read.body).value()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "id"]), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_equal_fingerprints_are_equal_values(one: object, other: object) -> None:
    """The spelling of JSON in the digest is injective."""
    spelled = [json.dumps(value, sort_keys=True) for value in (one, other)]

    assert (of_json(json.dumps(one)) == of_json(json.dumps(other, indent=1))) == (spelled[0] == spelled[1])
