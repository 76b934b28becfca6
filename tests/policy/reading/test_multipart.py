"""A multipart body counts by its parts, however it is cut into pieces and whatever its boundary is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.reading.multipart import Multipart, multipart_of

PARTS = (
    (b'Content-Disposition: form-data; name="to"', b"ada@example.com"),
    (b'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: text/plain', bytes(range(256)) * 3),
    (b'Content-Disposition: form-data; name="empty"', b""),
)


def body(
    boundary: bytes, parts: tuple[tuple[bytes, bytes], ...] = PARTS, before: bytes = b"", after: bytes = b""
) -> bytes:
    pieces = [b"--" + boundary + b"\r\n" + head + b"\r\n\r\n" + content + b"\r\n" for head, content in parts]
    return before + b"".join(pieces) + b"--" + boundary + b"--" + after


def digest(whole: bytes, boundary: bytes = b"b", size: int = 1 << 20, subtype: bytes = b"form-data") -> bytes | None:
    reading = multipart_of(b"multipart/" + subtype + b'; boundary="' + boundary + b'"')
    assert reading is not None
    for at in range(0, len(whole), size):
        reading.feed(whole[at : at + size])
    return reading.digest()


def test_the_boundary_does_not_count() -> None:
    """Clients draw a new one for each attempt."""
    assert digest(body(b"b")) == digest(body(b"----Boundary7MA4YWx"), b"----Boundary7MA4YWx") is not None


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 1000])
def test_it_does_not_matter_how_the_body_is_cut(size: int) -> None:
    """A delimiter may come in any number of pieces."""
    assert digest(body(b"long-boundary"), b"long-boundary", size) == digest(body(b"b"))


@pytest.mark.parametrize(
    ("before", "after"), [(b"preamble\r\n", b""), (b"\r\n", b"\r\n"), (b"--x\r\n", b"\r\nepilogue --b\r\n--b--")]
)
def test_preamble_and_epilogue_do_not_count(before: bytes, after: bytes) -> None:
    """RFC 2046: readers pass them over."""
    assert digest(body(b"b", before=before, after=after)) == digest(body(b"b")) is not None


OTHERS = {
    "another content": ((PARTS[0][0], b"eve@example.com"), *PARTS[1:]),
    "another header": ((b'Content-Disposition: form-data; name="cc"', PARTS[0][1]), *PARTS[1:]),
    "another order": PARTS[::-1],
    "one part less": PARTS[:2],
    "one part twice": (*PARTS, PARTS[0]),
    "no part": (),
    "header and content at another place": ((PARTS[0][0] + b"\r\n\r\nada", b"@example.com"), *PARTS[1:]),
    "one part for two": ((PARTS[0][0], PARTS[0][1] + PARTS[1][1]), *PARTS[2:]),
    "a line more": ((PARTS[0][0], PARTS[0][1] + b"\r\n"), *PARTS[1:]),
}


@pytest.mark.parametrize("parts", OTHERS.values(), ids=OTHERS.keys())
def test_another_part_makes_another_request(parts: tuple[tuple[bytes, bytes], ...]) -> None:
    """Headers, contents, their number and their order count."""
    assert digest(body(b"b", parts)) not in (digest(body(b"b")), None)


def test_the_subtype_counts() -> None:
    """The parts of a mixed body are alternatives in another one."""
    assert digest(body(b"b"), subtype=b"mixed") != digest(body(b"b"))
    assert digest(body(b"b"), subtype=b"Form-Data") == digest(body(b"b"))


@pytest.mark.parametrize(
    "whole",
    [
        b"",
        b"--b",
        b"--b\r\n",
        body(b"b")[:-2],
        body(b"b")[:-1],
        body(b"b", after=b"\r"),
        body(b"b", after=b"x"),
        body(b"b", after=b"--"),
        body(b"c"),
        body(b"b").replace(b"\r\n", b"\n"),
        body(b"b").replace(b"--b\r\n", b"--b \r\n"),
        body(b"bb"),
        b" " + body(b"b", ()),
    ],
    ids=[
        "empty",
        "delimiter alone",
        "one line",
        "not closed",
        "half closed",
        "half a line end",
        "text behind the end",
        "dashes behind the end",
        "another boundary",
        "bare line feeds",
        "padding",
        "longer boundary",
        "delimiter inside a line",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_not_plainly_multipart_has_no_parts(whole: bytes, size: int) -> None:
    """Broken off, or read in more than one way: it counts by its bytes."""
    assert digest(whole, size=size) is None


@pytest.mark.parametrize(
    "content_type",
    [
        b"text/plain; boundary=b",
        b"multipart/",
        b"multipart/form-data",
        b"multipart/form-data; charset=utf-8",
        b"multipart/form-data; boundary=",
        b'multipart/form-data; boundary=""',
        b'multipart/form-data; boundary="b',
        b"multipart/form-data; boundary=b; boundary=c",
        b"multipart/form-data; boundary=b c",
        b"multipart/form-data boundary=b",
        b'multipart/form-data; boundary="b "',
        b"multipart/form-data; boundary=" + b"b" * 71,
        b"multipart/form-data; boundary=b\r",
        b"multipart/form-data;",
    ],
)
def test_a_type_without_one_plain_boundary_is_none(content_type: bytes) -> None:
    """What is not said, or said twice, is not guessed."""
    assert multipart_of(content_type) is None


@pytest.mark.parametrize(
    "content_type",
    [
        b"multipart/form-data; boundary=b",
        b'Multipart/Form-Data;Boundary="b"',
        b'multipart/form-data; charset="utf-8"; boundary=b ',
        b'multipart/related; type="text/xml"; boundary="=_b:c?/,(d) e"',
        b"multipart/form-data; boundary=----=_Part_1.2",
    ],
)
def test_the_boundary_is_read_as_clients_write_it(content_type: bytes) -> None:
    """Quoted or not, before or behind other parameters."""
    assert isinstance(multipart_of(content_type), Multipart)


def test_a_body_of_nothing_but_delimiters_is_given_up() -> None:
    """Ten thousand parts are more than a form has, and each costs time."""
    part = (b"A: b", b"")

    assert digest(body(b"b", (part,) * 10_000)) is not None
    assert digest(body(b"b", (part,) * 10_001)) is None


def test_no_more_is_held_than_a_delimiter() -> None:
    """Whatever was fed: a body of any size passes through."""
    reading = Multipart(b"mixed", b"b" * 70)
    reading.feed(b"--" + b"b" * 70 + b"\r\n\r\n")
    for _ in range(100):
        reading.feed(b"\r\n--" + b"b" * 69 + b"x" * 1000)

        assert len(reading._held) < 74


@given(
    st.lists(st.tuples(st.sampled_from([b"A: b", b""]), st.binary(max_size=12)), max_size=4),
    st.lists(st.tuples(st.sampled_from([b"A: b", b""]), st.binary(max_size=12)), max_size=4),
    st.integers(1, 9),
)
def test_equal_digests_are_equal_parts(
    one: list[tuple[bytes, bytes]], other: list[tuple[bytes, bytes]], size: int
) -> None:
    """Whatever stands in a part: as long as it holds no delimiter it is told from every other."""
    digests = [digest(body(b"bound", tuple(parts)), b"bound", size) for parts in (one, other)]

    assert (digests[0] == digests[1]) == (one == other)
