"""What a rule reads of a query, a form, JSON or parts, other readers find too, and find nothing else: drawn requests.

Each reader here is the idea of one family of servers in a few lines, and shares nothing with the gateway.
"""

import email
import email.policy
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl, unquote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.target import Target, read_target
from gateway.policy.reading.formbody import Form, read_form
from gateway.policy.reading.formparts import FormParts, read_form_parts
from gateway.policy.reading.jsonbody import JsonReader, Number, Pointer, parse_pointer
from gateway.policy.reading.parameters import read_query

Pairs = list[tuple[str, str]]
_UNSEEN = str.maketrans("", "", "\u200b\u2060\ufeff\u00ad")


def plainly(text: str) -> Pairs:
    """As the URL standard has it."""
    return parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace")


def at_semicolons(text: str) -> Pairs:
    """As older Python and Perl do."""
    return plainly(text.replace(";", "&"))


def in_any_case(text: str) -> Pairs:
    """As ASP.NET finds fields."""
    return [(name.casefold(), value) for name, value in plainly(text)]


def without_brackets(text: str) -> Pairs:
    """As Rack and qs find the first piece of a nested name."""
    return [(re.sub(r"^[\[\]]+", "", name).partition("[")[0].rstrip("]"), value) for name, value in plainly(text)]


def at_late_brackets(text: str) -> Pairs:
    """As qs ends a name: where a bracket is closed, be it behind the first equals sign."""
    pairs = re.sub("%5D", "]", text, flags=re.IGNORECASE).split("&")
    cut = (pair.partition("]=") if "]=" in pair else pair.partition("=") for pair in pairs)
    return plainly("&".join(f"{(name + mark[:-1]).replace('=', '%3D')}={value}" for name, mark, value in cut))


def as_identifiers(text: str) -> Pairs:
    """As PHP makes names of variables: blanks in front go, a NUL ends one, dots and blanks are underscores."""
    cut = [(name.lstrip(" ").partition("\0")[0].partition("[")[0], value) for name, value in plainly(text)]
    return [(re.sub(r"[. \[]", "_", name), value) for name, value in cut]


def at_closing_brackets(text: str) -> Pairs:
    """As qs: a name ends at `]=`, wherever that is, and only without one at the first equals sign."""
    pairs = []
    for part in re.sub("(?i)%5d", "]", re.sub("(?i)%5b", "[", text)).split("&"):
        end = part.find("]=") + 1 or part.find("=")
        name, value = (part, "") if end < 0 else (part[:end], part[end + 1 :])
        pairs.append((unquote_plus(name), unquote_plus(value)))
    return pairs


def trimmed(text: str) -> Pairs:
    """As readers that drop what nobody sees."""
    return [(name.translate(_UNSEEN).strip(), value) for name, value in plainly(text)]


READERS = (plainly, at_semicolons, in_any_case, without_brackets, at_late_brackets, as_identifiers, trimmed)

NAMES = [
    *("r", "r", "r", "x", "rr", "R", "r[]", "[r]", "r[0]", "]r", "r]", "r.x", ".r", "r_", "%72", "+r", "r+", "r%20"),
    *("r%00", "%00r", "r%5B%5D", "%5Br", "r%E2%80%8B", "%EF%BB%BFr", "a[r]", "a.r", "r%3D", "r%26", "%C5%BFr", "%FF"),
    *("r%0A", "r%09", "r%C2%A0", "r%CC%81", '"r"', "'r'", "$r", "@r", "r:", "r,", "r|", "r-", "__proto__"),
]
VALUES = [
    *("7", "8", "", "7+8", "7%20", "%37", "7%2B", "7=8", "7%3D8", "7%26r=8", "7%3Br=8", "7;r=8", "7,8", "%u0037"),
    *("7%", "7%0A", "7%00", "%C3%A4", "%E4", "%ED%A0%80", "[7]", "7%252", "7%5C", '"7"', "7#r=8", "7?r=8"),
    *("7]=8", "7%5d=8", "7]%3D8"),
]
SEPARATORS = ["&", "&", "&", "&", "&&", ";", "&amp;", "%26", "?", ",", "&="]


@st.composite
def fields(draw: st.DrawFn) -> str:
    """Some pairs, as a client might spell them that means no good."""
    text = ""
    for at in range(draw(st.integers(1, 4))):
        text += draw(st.sampled_from(SEPARATORS)) if at else ""
        text += draw(st.sampled_from(NAMES)) + draw(st.sampled_from(["=", "=", "=", ""]))
        text += draw(st.sampled_from(VALUES))
    return text


def as_query(text: str) -> object:
    target = read_target(f"/q?{text}")
    return read_query(target, "r") if isinstance(target, Target) else target


def as_form(text: str) -> object:
    form = read_form(text.encode())
    return form.field("r") if isinstance(form, Form) else form


@pytest.mark.parametrize("read", [as_query, as_form])
@given(fields())
@settings(max_examples=150)
@example("x=1&r=7&a=b")
@example("r=7]=8")
def test_one_field_has_one_value_to_all(read: Callable[[str], object], text: str) -> None:
    """Where it has one to a rule; and where it is not there, to none of them is it."""
    value = read(text)

    if isinstance(value, str) or value is None:
        found = [[one for name, one in reader(text) if name == "r"] for reader in READERS]
        assert found == [[] if value is None else [value]] * len(READERS)


MEMBERS = [
    *('"r"', '"x"', '"R"', '"r "', '" r"', '"\\u0072"', '"r\\u0000"', '"r\\u200b"', '"__proto__"', '"\\u0052"'),
    *('"\\ufeffr"', '"r\\n"', "'r'", "r", '"\\ud800r"', '"r.x"', '"r[]"', '"constructor"'),
]
SCALARS = [
    *('"7"', "7", "null", "true", "7.0", "-7", "07", "+7", "0x7", "7e0", '"\\u0037"', "[7]", '{"r": 8}', "'7'"),
    *('"7","r":"8"', "NaN", "1e400", "9007199254740993", '"7"/**/', '"7 "', '"7\\u0000"'),
]
AROUND = [*[("", "")] * 6, ("\ufeff", ""), ("\x0b", ""), ("", "\0"), ("", "//x"), ("", ","), ("[", "]")]


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    """A member that is meant, perhaps in an odd spelling of its value, and another one of an odd name."""
    meant = f'"r":{draw(st.sampled_from(SCALARS))}'
    other = draw(st.sampled_from(MEMBERS)) + draw(st.sampled_from([":8", ':"8"', ':{"r": 9}']))
    pairs = draw(st.permutations([meant, other, '"x":0'][: draw(st.integers(1, 3))]))
    before, after = draw(st.sampled_from(AROUND))
    return f"{before}{{{','.join(pairs)}}}{after}".encode()


def _cut(name: str) -> str:
    return name.partition("\0")[0]


def _seen(name: str) -> str:
    return name.translate(_UNSEEN).strip()


FINDS: tuple[Callable[[str], str], ...] = (str, str.casefold, _cut, _seen)


def members(body: bytes) -> list[tuple[str, object]]:
    """All of the outermost object, twice where they are there twice."""
    pairs = json.loads(body, object_pairs_hook=lambda found: found, parse_int=str, parse_float=str)
    return list(pairs)


@given(objects())
@settings(max_examples=200)
@example(b'{"x":1,"r":"7"}')
def test_one_member_has_one_value_to_all(body: bytes) -> None:
    """To those that take the first, the last, any case, C strings, or what can be seen."""
    pointer = parse_pointer("/r")
    assert isinstance(pointer, Pointer)
    value = JsonReader(body).find(pointer)

    if isinstance(value, str | Number):
        told = value if isinstance(value, str) else value.spelled
        for reads in FINDS:
            assert [one for name, one in members(body) if reads(name) == "r"] == [told]


DISPOSITIONS = [
    *("form-data; name={}", "form-data; name={}", "form-data;name={}", "FORM-DATA; name={}", "form-data; NAME={}"),
    *("attachment; name={}", "form-data; filename=f; name={}", "form-data; name={}; filename=f", "file; name = {}"),
    *("form-data; name=x; name={}", "form-data; name={}; name=x", "form-data; name*=utf-8''{}", "form-data, name={}"),
    *('form-data; filename="f; name="; name={}', "form-data; filename=f;\r\n name={}", "form-data"),
]
PART_NAMES = ['"r"', '"r"', "r", "'r'", "<r>", "r/", "[r]", '"[r]"', '"r[]"', '"R"', '"%72"', '"r\\"', '"x"', '"r"x']
PART_FIELDS = ["Content-Disposition", "content-disposition", "X-Content-Disposition", "Content-Disposition-X"]
BESIDE = ["", "", "Content-Type: text/plain\r\n", "Content-ID: <r>\r\n", 'Content-Disposition: file; name="x"\r\n']


@st.composite
def parts(draw: st.DrawFn) -> bytes:
    """One or two, each odd in one place at most."""
    body = ""
    for _ in range(draw(st.integers(1, 2))):
        odd = draw(st.sampled_from(["field", "disposition", "name"]))
        field = draw(st.sampled_from(PART_FIELDS)) if odd == "field" else PART_FIELDS[0]
        said = draw(st.sampled_from(DISPOSITIONS)) if odd == "disposition" else DISPOSITIONS[0]
        name = draw(st.sampled_from(PART_NAMES)) if odd == "name" else PART_NAMES[0]
        more = draw(st.sampled_from(BESIDE))
        body += f"--b\r\n{field}: {said.format(name)}\r\n{more}\r\n8\r\n"
    return f"{body}--b--\r\n".encode()


def by_message(body: bytes) -> Iterator[str]:
    """As Python reads mail, and forms before it had anything else."""
    whole = b"Content-Type: multipart/form-data; boundary=b\r\n\r\n" + body
    for part in email.message_from_bytes(whole, policy=email.policy.compat32).walk():
        if isinstance(name := part.get_param("name", header="content-disposition"), str):
            yield name


def by_pattern(body: bytes) -> Iterator[str]:
    """As whoever looks for a name in any header of a part, and takes off what may stand around it."""
    for part in body.decode().split("--b\r\n")[1:]:
        head = part.partition("\r\n\r\n")[0]
        for found in re.finditer(r'(?i)(?:^|[;,\s])name\s*=\s*("[^"]*"|[^;,\s]*)', head):
            yield found[1].strip("\"'<>[]/\\")


@pytest.mark.parametrize("finds", [by_message, by_pattern])
@given(parts())
@settings(max_examples=100)
def test_a_part_that_another_reader_finds_is_told(finds: Callable[[bytes], Iterator[str]], body: bytes) -> None:
    """Or nothing of the body is read: a query's parameter has no second value behind the rule's back."""
    told = read_form_parts(b"multipart/form-data; boundary=b", body)

    if isinstance(told, FormParts):
        assert told.has("r") or "r" not in list(finds(body))
