"""Undoing a body's coding, within a limit."""

import gzip
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.core.coding import body_too_large, decoded
from gateway.core.decision import BODY_TOO_LARGE, UNSUPPORTED_CODING, Refused

PLAIN = b'{"kind":"body"}'
GZIP = gzip.compress(PLAIN, mtime=0)
LIMIT = 1000


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (PLAIN, []),
        (PLAIN, [b""]),
        (PLAIN, [b"identity"]),
        (PLAIN, [b"Identity, ", b"identity"]),
        (GZIP, [b"gzip"]),
        (GZIP, [b" GZip "]),
        (GZIP, [b"x-gzip"]),
        (GZIP, [b"identity, gzip"]),
        (zlib.compress(PLAIN), [b"deflate"]),
        (b"x" * LIMIT, []),
        (gzip.compress(b"x" * LIMIT, mtime=0), [b"gzip"]),
    ],
    ids=[
        "none",
        "empty",
        "identity",
        "identity twice",
        "gzip",
        "case and blanks",
        "old name",
        "identity beside gzip",
        "deflate",
        "exactly the limit",
        "inflates to exactly the limit",
    ],
)
def test_one_known_coding_is_undone(body: bytes, codings: list[bytes]) -> None:
    """A rule reads what the body says, not how it was coded."""
    assert decoded(body, codings, LIMIT) in (PLAIN, b"x" * LIMIT)


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (PLAIN, [b"br"]),
        (PLAIN, [b"zstd"]),
        (gzip.compress(GZIP, mtime=0), [b"gzip, gzip"]),
        (gzip.compress(GZIP, mtime=0), [b"gzip", b"gzip"]),
        (GZIP, [b"gzip;q=1"]),
        (zlib.compress(PLAIN)[2:-4], [b"deflate"]),
        (PLAIN, [b"gzip"]),
        (b"", [b"gzip"]),
        (GZIP[:-4], [b"gzip"]),
        (GZIP + b"tail", [b"gzip"]),
        (GZIP + GZIP, [b"gzip"]),
        (GZIP[:-8] + bytes(8), [b"gzip"]),
        (GZIP[:3] + b"\xe0" + GZIP[4:], [b"gzip"]),
        (zlib.compress(PLAIN), [b"gzip"]),
        (GZIP, [b"deflate"]),
        (GZIP, [b"gzip, identity, gzip"]),
    ],
    ids=[
        *("br", "zstd", "two in a line", "two lines", "a parameter", "raw deflate", "not gzip", "empty", "cut short"),
        *(
            "bytes behind",
            "two members",
            "a sum of zeros",
            "flags that nobody knows",
            "zlib as gzip",
            "gzip as deflate",
        ),
        "three in a line",
    ],
)
def test_what_cannot_be_read_for_certain_is_refused(body: bytes, codings: list[bytes]) -> None:
    """Another coding, several of them, a broken one, and one that two readers could end at two places: 415."""
    refused = decoded(body, codings, LIMIT)

    assert isinstance(refused, Refused) and refused.decision is UNSUPPORTED_CODING
    assert refused.detail.startswith("Not forwarded: ")


def test_a_body_that_inflates_past_the_limit_is_too_large() -> None:
    """A small body that stands for a huge one is refused by its size, and not inflated to its end."""
    bomb = gzip.compress(bytes(100 << 20), mtime=0)

    refused = decoded(bomb, [b"gzip"], LIMIT)

    assert refused == body_too_large(LIMIT)
    assert isinstance(refused, Refused) and refused.decision is BODY_TOO_LARGE
    assert str(LIMIT) in refused.detail


@st.composite
def coded(draw: st.DrawFn) -> bytes:
    """A gzip member with fields in its head, perhaps with bytes of it changed, or more behind it."""
    name, extra = draw(st.sampled_from([b"", b"a.json\0", b'{"x":1}\0'])), draw(st.sampled_from([b"", b"\x04\0abcd"]))
    flags = (8 if name else 0) | (4 if extra else 0) | draw(st.sampled_from([0, 0, 1, 2, 16, 32, 224]))
    member = bytearray(GZIP[:3] + bytes((flags,)) + GZIP[4:10] + extra + name + GZIP[10:])
    for at, value in draw(st.lists(st.tuples(st.integers(0, len(member) - 1), st.integers(0, 255)), max_size=1)):
        member[at] = value
    return bytes(member) + draw(st.sampled_from([b"", b"", b"\0", b"\0\0\0", b"x", GZIP, GZIP[:5]]))


@given(coded(), st.sampled_from([b"gzip", b"x-gzip"]))
@example(GZIP, b"gzip")
def test_whoever_undoes_it_has_the_same_body(body: bytes, coding: bytes) -> None:
    """Python's reader goes on to further members, and over zeros at the end."""
    plain = decoded(body, [coding], LIMIT)

    if not isinstance(plain, Refused):
        assert gzip.decompress(body) == plain
