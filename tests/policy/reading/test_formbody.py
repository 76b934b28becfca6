"""A form is read in one way or not at all."""

from urllib.parse import quote

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, BODY_TOO_LARGE, Decision, Refused
from gateway.policy.reading.formbody import MOST_BYTES, Form, parse_field, read_form


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"id=7", "7"),
        (b"a=1&id=x+y%2Bz&b", "x y+z"),
        (b"&&id=&", ""),
        (b"id=%C3%A4=%26", "\u00e4=&"),
        (b"%69d=7", "7"),
        (b"identity=1&xid=2", None),
        (b"x[y]==1&id=7]", "7]"),
        (b"id=7]%3D1&x[]=2", "7]=1"),
        (b"", None),
    ],
)
def test_a_field_has_one_value(body: bytes, value: str | None) -> None:
    """Names and values are decoded once; a plus is a blank; pairs of nothing count as nothing."""
    form = read_form(body)

    assert isinstance(form, Form)
    assert form.field("id") == value


@pytest.mark.parametrize(
    "body",
    [
        b"id=1&id=2",
        b"id=1&ID=2",
        b"id=1&id[]=2",
        b"id[]=1",
        b"Id=1",
        b"id[0]=1&id=1",
        b"id=1&id%00=2",
        b"id=1&id%00x=2",
        b"id=1&id%00[x]=2",
        b"id=1&id+%00.x=2",
        b"id%00x=1",
        b"id=1&%E2%80%8Bid=2",
        b"id=1&id%C2%85=2",
        b"id=1&+id=2",
        *(f"id=1&id{quote(filler)}=2".encode() for filler in "\u034f\ufe0f\u115f\uffa0\u17b4\U000e0100"),
        b"id",
    ],
)
def test_a_name_in_two_spellings_is_ambiguous_where_it_is_read(body: bytes) -> None:
    """Readers differ in which of them they take; fields that no rule reads may repeat."""
    form = read_form(body)

    assert isinstance(form, Form)
    assert isinstance(refused := form.field("id"), Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert form.field("other") is None


@pytest.mark.parametrize("other", ["user.id", "user id", "USER_ID", "user_id[x]"])
def test_names_that_php_takes_for_one_are_one(other: str) -> None:
    """It reads dots and blanks as underscores."""
    form = read_form(f"user_id=1&{other.replace(' ', '+')}=2".encode())

    assert isinstance(form, Form)
    assert isinstance(form.field("user_id"), Refused)


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":8}',
        b' [{"id":8}]&id=7',
        b'{"a":"&id=7&b=","id":8}',
        b"id=1;id=2",
        b"id=\xe4",
        b"id=%E4",
        b"id=%ED%A0%80",
        b"id=%4",
        b"id=100%",
        b"id=1&_method=DELETE",
        b"user_id=1&user[id=2",
        b"user_id=1&user%5Bid=2",
        b"id=1]=2",
        b"id=1%5D=2",
        b"x=1&id=[%5d=2",
        b"id=1&x[y]=1]=2",
        b"id=1&%5FMethod%5B%5D=DELETE",
        b"_charset_=utf-7&id=1",
        b"a&" * 1000 + b"id=1",
    ],
)
def test_a_form_that_two_servers_read_differently_is_refused_whole(body: bytes) -> None:
    """What is JSON too, semicolons, open brackets, `]=` in a value, no UTF-8, commands, too many fields."""
    refused = read_form(body)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("query", "junk", "is_read"),
    [
        (None, 999, True),
        (None, 1000, False),
        ("a&" * 998 + "a", 0, True),
        ("a&" * 998 + "a", 1, False),
        ("", 999, True),
        ("&", 998, False),
    ],
    ids=["alone", "one-more", "beside", "one-more-beside", "empty-query", "empty-parameters"],
)
def test_fields_and_the_querys_parameters_count_together(query: str | None, junk: int, is_read: bool) -> None:
    """Tomcat puts both into one map of a thousand, those of the query first, and drops what comes then."""
    form = read_form(b"a=1&" * junk + b"id=7", query)

    assert isinstance(form, Form) is is_read


@pytest.mark.parametrize(
    ("length", "decision"), [(MOST_BYTES, None), (MOST_BYTES + 1, BODY_TOO_LARGE)], ids=["fits", "one-byte-more"]
)
def test_a_form_is_no_larger_than_servers_read(length: int, decision: Decision | None) -> None:
    """Tomcat acts on a larger one as if it had no fields."""
    form = read_form(b"id=7&x=" + b"y" * (length - len("id=7&x=")))

    assert (form.decision if isinstance(form, Refused) else None) is decision


@pytest.mark.parametrize("name", ["", "a[b]", " a", "a\n", "_method", "_Charset_"])
def test_a_policy_reads_fields_by_their_plain_names(name: str) -> None:
    """What servers would take apart or act on names no field."""
    assert not isinstance(parse_field(name), str)
