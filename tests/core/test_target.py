"""One reading of a target, or none."""

import pytest

from gateway.core.target import Ambiguous, Target, read_target


def read(raw: str) -> Target:
    target = read_target(raw)
    assert isinstance(target, Target), target
    return target


@pytest.mark.parametrize(
    ("raw", "segments", "query"),
    [
        ("/", ("",), None),
        ("/a", ("a",), None),
        ("/a/", ("a", ""), None),
        ("/a/b?", ("a", "b"), ""),
        ("/a?b=1?c=2", ("a",), "b=1?c=2"),
        ("/a%3Ab", ("a:b",), None),
        ("/%41", ("A",), None),
        ("/%C3%A9", ("é",), None),
        ("/a%20b", ("a b",), None),
        ("/a%2Fb", ("a/b",), None),
        ("/a%2fb/c", ("a/b", "c"), None),
        ("/a%252Fb", ("a%2Fb",), None),
        ("/a%25", ("a%",), None),
        ("/...", ("...",), None),
        ("/.a/b.", (".a", "b."), None),
        ("/a:b@c!$&'()*+,=~[x]-_", ("a:b@c!$&'()*+,=~[x]-_",), None),
        ("/x?b=2&a=1&sig=%E9%FF&s=1;2&q=a%20b+c%2B", ("x",), "b=2&a=1&sig=%E9%FF&s=1;2&q=a%20b+c%2B"),
        ('/x?"<>^`{|}\\', ("x",), '"<>^`{|}\\'),
    ],
)
def test_a_target_is_read_once_and_kept_as_it_came(raw: str, segments: tuple[str, ...], query: str | None) -> None:
    """Segments are decoded once; what is forwarded is the text that came."""
    target = read(raw)

    assert (target.raw, target.segments, target.query) == (raw, segments, query)
    assert target.path == raw.partition("?")[0]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "slash"),
        ("*", "slash"),
        ("a/b", "slash"),
        ("http://other/a", "slash"),
        ("other:443", "slash"),
        ("//host/y", "empty segment"),
        ("/a//b", "empty segment"),
        ("/a//", "empty segment"),
        ("/./a", "dot segment"),
        ("/a/..", "dot segment"),
        ("/a/%2e%2E/b", "encoded dot segment"),
        ("/a/.%2e", "encoded dot segment"),
        ("/a%2F..%2Fb", "encoded dot segment"),
        ("/a%2F.", "encoded dot segment"),
        ("/a;v=1", "parameter"),
        ("/a%3Bv=1", "encoded parameter"),
        ("/a\\b", "percent-encoded"),
        ("/a%5Cb", "encoded backslash"),
        ("/a#b", "percent-encoded"),
        ("/a b", "percent-encoded"),
        ("/é", "percent-encoded"),
        ("/a\x00", "percent-encoded"),
        ("/a\n", "percent-encoded"),
        ("/a?b#c", "percent-encoded"),
        ("/a?b c", "percent-encoded"),
        ("/a?é", "percent-encoded"),
        ("/a?b\n", "percent-encoded"),
        ("/a%", "begins no escape"),
        ("/a%4", "begins no escape"),
        ("/a%4g", "begins no escape"),
        ("/a%%41", "begins no escape"),
        ("/a%00", "control character"),
        ("/a%0D%0A", "control character"),
        ("/a%7F", "control character"),
        ("/%E9", "not UTF-8"),
        ("/%C3", "not UTF-8"),
        ("/%C0%AF", "not UTF-8"),
        ("/%ED%A0%80", "not UTF-8"),
    ],
)
def test_what_can_be_read_in_two_ways_is_ambiguous(raw: str, why: str) -> None:
    """A target that another reader could take for another resource is refused, and the reason names the cause."""
    found = read_target(raw)

    assert isinstance(found, Ambiguous)
    assert why in found.why


@pytest.mark.parametrize(
    ("raw", "has_one"), [("/a/b", False), ("/a%2Fb", True), ("/a%2fb", True), ("/a%252Fb", False), ("/a?b=%2F", False)]
)
def test_an_encoded_slash_is_told(raw: str, has_one: bool) -> None:
    """Whether it may be there is the mount's to say."""
    assert read(raw).has_encoded_slash is has_one


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ("/x", []),
        ("/x?", []),
        ("/x?id=1", ["1"]),
        ("/x?id=1&other=2&id=3", ["1", "3"]),
        ("/x?id", [""]),
        ("/x?id=", [""]),
        ("/x?i%64=a%20b+c%2B=d", ["a b c+=d"]),
        ("/x?ID=1", []),
        ("/x?a;id=1", []),
        ("/x?id=%FF", ["\udcff"]),
        ("/x?id=%C3%A9%zz", ["é%zz"]),
    ],
    ids=[
        "no query",
        "empty query",
        "one",
        "every one",
        "no sign",
        "empty",
        "decoded as a form",
        "case matters",
        "a semicolon parts nothing",
        "not UTF-8: a lone surrogate",
        "a broken escape stays",
    ],
)
def test_query_values_are_decoded_as_form_fields(raw: str, values: list[str]) -> None:
    """All values of a name, so that whoever wants one can refuse two."""
    assert read(raw).query_values("id") == values
