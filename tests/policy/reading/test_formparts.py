"""The parts of a multipart body are told by names that all readers find, or not at all."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.reading.formparts import FormParts, read_form_parts

FORM = b"multipart/form-data; boundary=q7"
NAMED = 'Content-Disposition: form-data; name="{}"'


def body(*heads: str, content: str = "x") -> bytes:
    """A body with these header blocks, each before the same content."""
    parts = "".join(f"--q7\r\n{head}\r\n\r\n{content}\r\n" for head in heads)
    return f"{parts}--q7--\r\n".encode()


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
        NAMED.format("r") + '; filename="a; b, (c).txt"',
        NAMED.format("r") + '\r\nContent-Type: text/plain;charset="UTF-8"\r\nContent-Transfer-Encoding: 8bit',
        NAMED.format("r") + "\r\nContent-Length: 1\r\nContent-Type: application/vnd.a+json; charset=utf-8",
        NAMED.format("r") + "; filename=\"=?utf-8?B?w6Q=?=\"; filename*=utf-8''%C3%A4",
        NAMED.format("r") + "\r\nMIME-Version: 1.0\r\nContent-Location: /c",
        NAMED.format("r") + f"; filename=\"{'a' * 255}\"; filename*=utf-8''{'%C3%A4' * 127}",
    ],
)
def test_a_part_is_found_by_its_name(head: str) -> None:
    """However it is spelled by common clients."""
    parts = read_form_parts(FORM, body(NAMED.format("a"), head))

    assert isinstance(parts, FormParts)
    assert parts.has("r") and parts.has("a")
    assert not parts.has("x")


@pytest.mark.parametrize(
    ("length", "is_taken"), [("1", True), *((one, False) for one in ("0", "2", "01", "+1", "1, 1", ""))]
)
def test_the_length_of_a_part_is_its_own(length: str, *, is_taken: bool) -> None:
    """Ktor takes what follows so many bytes for the next part."""
    found = read_form_parts(FORM, body(f"{NAMED.format('r')}\r\nContent-Length: {length}"))

    assert isinstance(found, FormParts) is is_taken


def test_a_form_may_have_no_part() -> None:
    """As browsers send one without a field."""
    found = read_form_parts(FORM, b"--q7--\r\n")

    assert isinstance(found, FormParts) and not found.names


@pytest.mark.parametrize("end", [b"", b"\r\n", b"\r\n\r\n"])
def test_an_empty_line_may_stand_behind_the_end(end: bytes) -> None:
    """Some clients write none, some write one."""
    parts = read_form_parts(FORM, body(NAMED.format("a")).removesuffix(b"\r\n") + end)

    assert isinstance(parts, FormParts) and parts.names == ("a", "a")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"r=7",
        body(NAMED.format("a")) + b"\r\n\r\n",
        body(NAMED.format("a")) + b"\n",
        body(NAMED.format("a")) + b"x\r\n",
        b"preamble\r\n" + body(NAMED.format("a")),
        body(NAMED.format("a")) + b"--q7\r\n",
        body(NAMED.format("a")).removesuffix(b"--\r\n"),
        body(NAMED.format("a")).replace(b"\r\n", b"\n"),
        body(NAMED.format("a"), content='x\n--q7\nContent-Disposition: form-data; name="r"\n\n7'),
        body(NAMED.format("a"), content="--q7"),
        body(NAMED.format("a"), content='\r\n-\n-q7\r\nContent-Disposition: form-data; name="r"\r\n\r\n7'),
        body(NAMED.format("a"), content="-\r-q7"),
        body(NAMED.format("a"), content='y\r\nq7\r\nContent-Disposition: form-data; name="r"\r\n\r\n7'),
        body(NAMED.format("a"), content="y\r\nQ\r\n7"),
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
        body(NAMED.format("a") + "\r\nContent-Type: message/rfc822"),
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
        body(NAMED.format("=?UTF-8?Q?r?=")),
        body("Content-Disposition: form-data; name==?utf-8?B?cg==?="),
        body('X-A: Content-Disposition: x; name="r"\r\n' + NAMED.format("a")),
        body(NAMED.format("a") + '\r\nContent-Type: a/b; x="Content-Disposition: x; name=r"'),
        body(NAMED.format("a") + "\r\nContent-Location: content-disposition:;name=r"),
        body(NAMED.format("a") + "\r\nContent-Transfer-Encoding: content-id: <r>"),
        body(NAMED.format("a") + "\r\nContent-Type:  multipart/mixed; boundary=c"),
        body(NAMED.format("a") + "\r\nContent-Type: \tmultipart/mixed; boundary=c"),
        body(NAMED.format("a") + "\r\nContent-Type: text"),
        body(NAMED.format("a") + "\r\nX-Part: 1"),
        body(NAMED.format("") + '; filename="r"'),
        body('Content-Disposition: form-data; filename="name=r"; name="a"'),
        body('Content-Disposition: form-data; filename="b"; name="a"'),
        body(NAMED.format("a") + '; filename="Name=r"'),
        body(NAMED.format("name=r")),
        body(NAMED.format("a") + '; filename="x; name = r"'),
        body(NAMED.format("a") + '; filename="x; NAME*=r"'),
        body(NAMED.format("a;r")),
        body(NAMED.format("a") + "\r\nContent-ID: r"),
        body(NAMED.format("a") + f'; filename="{"A" * 1600}"\r\nContent-Type: text/plain'),
        body(NAMED.format("a") + '\r\nContent_Disposition: form-data; name="r"'),
        body('Content-Type: text/plain; name="r"\r\n' + NAMED.format("a")),
        body(NAMED.format("a") + "\r\nContent-Location: x;name=r"),
        body("Content-Disposition: form-data; name=a", content='name="r"\r\n7'),
        body(NAMED.format("a"), content='filename="x"\r\nname="r";'),
        body(NAMED.format("a") + '; filename=""', content='filename="x"\r\nname="r";'),
        body(NAMED.format("a") + "; filename=b", content='filename="x"\r\nname="r";'),
    ],
    ids=range(63),
)
def test_parts_that_two_servers_read_differently_are_refused(sent: bytes) -> None:
    """Delimiters, headers and names in any but the common spelling; what makes another request; too many."""
    refused = read_form_parts(FORM, sent)

    assert isinstance(refused, Refused) and refused.decision is AMBIGUOUS_TARGET


def test_a_field_may_be_html() -> None:
    """Its own name, in quotes, is found first."""
    parts = read_form_parts(FORM, body(NAMED.format("a"), content='<a name="r">'))

    assert isinstance(parts, FormParts) and parts.names == ("a", "a")


def test_a_file_may_have_whatever_is_in_it() -> None:
    """With its name and its part's in quotes: who looks for names in all of a part finds these first."""
    head = "Content-Type: text/html\r\n" + NAMED.format("a") + '; filename="b.html"'

    parts = read_form_parts(FORM, body(head, content='<input name="r">'))

    assert isinstance(parts, FormParts) and not parts.has("r")


@pytest.mark.parametrize("kind", [b"multipart/form-data", b"multipart/form-data; boundary=", b"multipart/form-data; a"])
def test_a_boundary_has_to_be_said(kind: bytes) -> None:
    """Without it there are no parts."""
    assert isinstance(read_form_parts(kind, body(NAMED.format("a"))), Refused)


@pytest.mark.parametrize(
    ("boundary", "is_read"),
    [
        *((b"----WebKitFormBoundary7MA4YWxkTrZu0gW", True), (b"dart-http-boundary-a.B+c_d", True), (b'"0f-1d"', True)),
        *((b'"a b"', False), (b"'b'", False), (b'"----=_Part_0"', False), (b'"a:b"', False), (b"(a)", False)),
    ],
)
def test_a_boundary_is_drawn_as_common_clients_draw_it(boundary: bytes, is_read: bool) -> None:
    """What is a pattern, a quote or an end to some reader is none here."""
    sent = body(NAMED.format("a")).replace(b"--q7", b"--" + boundary.strip(b'"'))

    assert isinstance(read_form_parts(b"multipart/form-data; boundary=" + boundary, sent), FormParts) is is_read


@pytest.mark.parametrize(
    ("content", "is_read"),
    [
        ('--"0f1d"\r\nContent-Disposition: form-data; name="r"\r\n\r\n7\r\n--"0f1d"--', False),
        ('-\n-"0f\r1d"', False),
        ('--"0F1D"', False),
        ("0F1D", False),
        ('--"0f1e"', True),
        ('"--"', True),
    ],
)
def test_a_boundarys_text_stands_in_no_content(content: str, is_read: bool) -> None:
    """Some take quotes around it for a part of it, which .NET's clients send; some want no dashes, some no case."""
    sent = body(NAMED.format("a"), content=content).replace(b"--q7", b"--0f1d")

    assert isinstance(read_form_parts(b'multipart/form-data; boundary="0f1d"', sent), FormParts) is is_read


@pytest.mark.parametrize(
    ("content", "is_read"),
    [
        *(("UTF-8;boundary", False), ("x\r\nutf-8;BOUNDARY--", False), ("--UTF-8", False), ("\r\n--utf-8\r\n", False)),
        *(("charset=UTF-8", True), ("utf-8; boundary", True), ("-utf-8-", True)),
    ],
)
def test_what_stands_before_the_boundary_is_none(content: str, is_read: bool) -> None:
    """aws-multipart-parser takes what is between the first equals sign and the next for it."""
    sent = body(NAMED.format("a"), content=content)
    kinds = (b"multipart/form-data;charset=UTF-8;boundary=q7", b'multipart/form-data;charset="UTF-8";boundary=q7')
    found = [isinstance(read_form_parts(kind, sent), FormParts) for kind in kinds]

    assert found[0] is is_read
    assert found[1] is (is_read or not content.lower().strip().startswith("--"))
    assert isinstance(read_form_parts(b"multipart/form-data; boundary=q7; charset=UTF-8", sent), FormParts)


def test_parts_of_no_form_may_be_nameless() -> None:
    """Some servers take their Content-ID for a name."""
    heads = ("Content-Type: text/plain", "Content-ID: <r>", NAMED.format("a") + "\r\nContent-ID: s")
    parts = read_form_parts(b"multipart/related; boundary=q7", body(*heads))

    assert isinstance(parts, FormParts)
    assert parts.has("r") and parts.has("a") and parts.has("s")
