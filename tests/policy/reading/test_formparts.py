"""The parts of a multipart body are told by names that all readers find, or not at all."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.reading.formparts import FormParts, read_form_parts

FORM = b"multipart/form-data; boundary=b"
NAMED = 'Content-Disposition: form-data; name="{}"'


def body(*heads: str, content: str = "x") -> bytes:
    """A body with these header blocks, each before the same content."""
    parts = "".join(f"--b\r\n{head}\r\n\r\n{content}\r\n" for head in heads)
    return f"{parts}--b--\r\n".encode()


@pytest.mark.parametrize(
    "head",
    [
        NAMED.format("r"),
        "content-disposition:form-data; name=r",
        NAMED.format("[r]"),
        NAMED.format("R[]"),
        NAMED.format("%72"),
        NAMED.format("r") + '; filename="a b.txt"\r\nContent-Type: text/plain',
        "Content-Type: text/plain\r\n" + NAMED.format("r"),
        NAMED.format("r") + "; filename*=utf-8''%E4",
    ],
)
def test_a_part_is_found_by_its_name(head: str) -> None:
    """However it is spelled by common clients."""
    parts = read_form_parts(FORM, body(NAMED.format("a"), head))

    assert isinstance(parts, FormParts)
    assert parts.has("r") and parts.has("a")
    assert not parts.has("x")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"r=7",
        b"preamble\r\n" + body(NAMED.format("a")),
        body(NAMED.format("a")) + b"--b\r\n",
        body(NAMED.format("a")).removesuffix(b"--\r\n"),
        body(NAMED.format("a")).replace(b"\r\n", b"\n"),
        body(NAMED.format("a"), content='x\n--b\nContent-Disposition: form-data; name="r"\n\n7'),
        body(NAMED.format("a"), content="--b"),
        body("Content-Type: text/plain"),
        body("Content-Disposition: form-data"),
        body(NAMED.format("a") + '; name="r"'),
        body(NAMED.format("a") + "; name*=utf-8''r"),
        body(NAMED.format('a\\"; x="')),
        body(NAMED.format("a") + '; filename="x; name=r"'),
        body(NAMED.format("a") + "\r\n" + NAMED.format("r")),
        body(NAMED.format("a") + "\r\n x: y"),
        body("Content-Disposition : form-data; name=a"),
        body(NAMED.format("a") + "\r\nContent-Type: multipart/mixed; boundary=c"),
        body("Content-Disposition: form-data; name='r'"),
        body("Content-Disposition: form-data; name=<r>"),
        body('Content-Disposition: Form-Data; name="a"'),
        body('Content-Disposition: form-data; Name="a"'),
        body(NAMED.format("a") + '; FILENAME="r"'),
        body("Content-Disposition: form-data; name=r/"),
        body('X-Content-Disposition: form-data; name="r"\r\n' + NAMED.format("a")),
        body(NAMED.format("_method")),
        body(NAMED.format("a")).replace(b'"a"', b'"\xe4"'),
        body(*[NAMED.format("a")] * 1001),
    ],
    ids=range(28),
)
def test_parts_that_two_servers_read_differently_are_refused(sent: bytes) -> None:
    """Delimiters, headers and names in any but the common spelling; what makes another request; too many."""
    refused = read_form_parts(FORM, sent)

    assert isinstance(refused, Refused) and refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize("kind", [b"multipart/form-data", b"multipart/form-data; boundary=", b"multipart/form-data; a"])
def test_a_boundary_has_to_be_said(kind: bytes) -> None:
    """Without it there are no parts."""
    assert isinstance(read_form_parts(kind, body(NAMED.format("a"))), Refused)


def test_parts_of_no_form_may_be_nameless() -> None:
    """Some servers take their Content-ID for a name."""
    parts = read_form_parts(b"multipart/related; boundary=b", body("Content-Type: text/plain", "Content-ID: <r>"))

    assert isinstance(parts, FormParts)
    assert parts.has("r")
