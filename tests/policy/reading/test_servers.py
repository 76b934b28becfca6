"""Servers' own readers find in a form what the rules were told, and nothing else: drawn bodies that they are sent.

What is refused shows nothing here; tests/policy/reading/test_formparts.py and its neighbors tell what is.
"""

from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.core.target import Target, read_target
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules
from tests.policy.reading.servers import FORM, JSON_READERS, READERS, Reader

POLICY = """\
closed: [{match: "POST /closed/{id}", when: {query: {purge: {present: true}}}}]
writes:
  - {name: listed, match: "POST /listed/{id}", resource: "doc/{path.id}", only: {form: [title]}}
  - {name: closed, match: "POST /closed/{id}", resource: "doc/{path.id}"}
  - {name: named, match: POST /named, resource: "doc/{form.title}"}
  - {name: json, match: "POST /json/{id}", resource: "doc/{path.id}", only: {json: [/title, /rows/id]}}
  - {name: told, match: POST /told, resource: "doc/{json:/title}"}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("servers"), HEAD + POLICY)


def written(ruleset: RuleSet, target: str, kind: str, body: bytes) -> str | None:
    """The resource that is written with this body; None where it is refused."""
    asked = request("POST", target, ("Content-Type", kind), body=body)
    matched = ruleset.match(asked, NOBODY)
    if not isinstance(matched, Matched):
        return None
    resource = ruleset.resolve(matched, asked, NOBODY)
    return None if isinstance(resource, Refused) else resource


def names(reader: Reader, kind: str, body: bytes) -> set[str]:
    """Which are not empty: nobody can ask for another."""
    return {name for name, _ in reader(kind, body)} - {""}


PIECES = [
    *("title", "title", "purge", "=", "=", "=", "&", "&", "&", "x", "1", "+", "%20", "%09", "%0A", "%0D%0A", "%00"),
    *("%26", "%3D", "%3B", "%5B", "%5D", "[", "]", "[]", ".", "?", "#", "/", "\\", '"', "'", ",", ":", "|", "!", "~"),
    *("\n", "\r\n", "\t", "\0", "\x0b", " ", "{", "}", "<", ">", "@", "%C2%A0", "%EF%BB%BF", "%E2%80%8B", "%2525"),
    *("%2526", "%u0026", "%7F", "%ED%A0%80", "%F0%9F%98%80", "&amp", "%61", "%74itle", "title%00", "__proto__"),
]


@st.composite
def forms(draw: st.DrawFn) -> bytes:
    """Around a plain field, mostly: what separates fields, names and values, to somebody."""
    before = draw(st.sampled_from(["", "title=1&", "title=1&", "title="]))
    after = draw(st.sampled_from(["", "", "&title=2", "&x"]))
    return (before + "".join(draw(st.lists(st.sampled_from(PIECES), max_size=6))) + after).encode()


BOUNDARIES = ["B", "B", "B", '"B"', "----WebKitFormBoundary7x", "-B", '"--"', "a.b", "B_", "B+", "'B'", '"B C"', "B:"]
DISPOSITIONS = [
    *(': form-data; name="title"', ': form-data; name="title"', ':form-data;name="title"', ": form-data; name=title"),
    *(
        f': form-data; name="title"; filename="{name}"'
        for name in (
            "a.txt",
            "purge",
            "x; purge=1",
            "=?UTF-8?Q?purge?=",
            "a;name*0=purge",
            "a;na me=purge",
            "a: b",
            "=",
        )
    ),
    *(': attachment; name="title"; filename="a"', ": form-data; name=\"title\"; filename*=UTF-8''purge"),
]
TYPES = ["text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "text/plain; charset=utf-16"]
TYPES += ["text/plain; charset=utf-8; name=purge", "message/rfc822", "message/external-body", "multipart/mixed"]
BESIDE = [
    *(f"Content-Type: {kind}" for kind in TYPES),
    *(f"Content-Transfer-Encoding: {coding}" for coding in ("base64", "quoted-printable", "8bit", "x")),
    *(f"Content-Length: {length}" for length in ("0", "1", "-1", "99999")),
    *("Content-Location: purge", 'Content-Location: name="purge"', "Content-Length:", "Content-Length: 3"),
    *("MIME-Version: 1.0", 'MIME-Version: 1.0; name="purge"', 'Content-Type: text/plain; name="purge"'),
    *("Content-Type: text/plain; charset=utf-7", "Content-Type: application/json", "Content-Location: \u00e9"),
    *('Content-Transfer-Encoding: name="purge"', "Content-Transfer-Encoding: binary; name=purge"),
]
HIDDEN = 'Content-Disposition: form-data; name="purge"'
HIDDENS = [HIDDEN, HIDDEN, 'name="purge"', '; name="purge"', "Content-Disposition:form-data;name=purge"]
LINE_ENDS = ["\r\n", "\r\n", "\n", "\r", "\r\n ", ""]
CONTENTS = ["1", "", "\r\n", "\r\n-", "\r\n--", "--\r\n", "purge=1", "&purge=1&", '{"purge": 1}', f"{HIDDEN}\r\n\r\n1"]


@st.composite
def contents(draw: st.DrawFn, boundary: str) -> str:
    """What somebody may take for a delimiter and another part."""
    marks = ["-", "--", f"--{boundary[:-1]}", f"--{boundary.swapcase()}", f"--'{boundary}'", f"-- {boundary}", "\u2014"]
    marks += [boundary[:-1], f"--{boundary[1:]}", f"--{boundary[::-1]}", f"--{boundary[: len(boundary) // 2]}", "----"]
    mark = draw(
        st.sampled_from(
            [*marks, "--UTF-8", "UTF-8; boundary", f"--{boundary[:1]}\n{boundary[1:]}", "--C", f"-\n-{boundary}"]
        )
    )
    start = draw(st.sampled_from(["", "\r\n", "\n", "\r", "x"]))
    head = (
        draw(st.sampled_from(LINE_ENDS))
        + draw(st.sampled_from(HIDDENS))
        + draw(st.sampled_from(["\r\n\r\n", "\n\n", "\r\r"]))
    )
    end = draw(st.sampled_from(LINE_ENDS)) + mark + draw(st.sampled_from(["", "--", "--\r\n"]))
    return f"{start}{mark}{head}1{end}"


@st.composite
def multiparts(draw: st.DrawFn) -> tuple[str, bytes]:
    """A type, and a body with a part or two, all called as they are listed. Odd in two ways at most."""
    odd = draw(
        st.sets(st.sampled_from(["boundary", "disposition", "beside", "content", "end"]), min_size=1, max_size=2)
    )
    spelled = draw(st.sampled_from(BOUNDARIES)) if "boundary" in odd else "B7x"
    boundary = spelled.strip('"')
    body = ""
    for _ in range(draw(st.integers(1, 2))):
        named = draw(st.sampled_from(DISPOSITIONS)) if "disposition" in odd else DISPOSITIONS[0]
        beside = draw(st.lists(st.sampled_from(BESIDE), max_size=2)) if "beside" in odd else []
        head = "\r\n".join(draw(st.permutations([f"Content-Disposition{named}", *beside])))
        content = draw(contents(boundary) if "content" in odd else st.sampled_from(CONTENTS))
        body += f"--{boundary}\r\n{head}\r\n\r\n{content}\r\n"
    end = draw(st.sampled_from(["", "\r\n", "\r\n\r\n", "\r\nx", "\n", " "])) if "end" in odd else "\r\n"
    more = draw(st.sampled_from(["", "", "; charset=utf-8"]))
    first = draw(st.sampled_from([";charset=UTF-8", '; charset="utf-8"', "", ""]))
    return (
        f"multipart/form-data{first}; boundary={spelled}{'' if first else more}",
        f"{body}--{boundary}--{end}".encode(),
    )


def test_every_server_finds_what_is_plainly_there() -> None:
    """Else the drawn bodies would show nothing."""
    part = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\nx\r\n'
    parts = f"{part.format('title')}{part.format('purge')}--b--\r\n".encode()

    for reader in READERS:
        assert reader(FORM, b"title=x&purge=%C3%A4") == [("title", "x"), ("purge", "\u00e4")], reader.__name__
        for sent in (parts, parts + b"\r\n"):
            assert names(reader, "multipart/form-data; boundary=b", sent) == {"title", "purge"}, reader.__name__


@given(st.one_of(forms().map(lambda body: (FORM, body)), multiparts()))
@settings(max_examples=300)
@example((FORM, b"title=1&title=2"))
def test_no_server_finds_a_name_that_is_not_listed(ruleset: RuleSet, sent: tuple[str, bytes]) -> None:
    """`only` lists the one that it may have."""
    if written(ruleset, "/listed/7", *sent):
        for reader in READERS:
            assert names(reader, *sent) <= {"title"}, reader.__name__


@given(st.one_of(forms().map(lambda body: (FORM, body)), multiparts()))
@settings(max_examples=300)
@example((FORM, b"title=1"))
def test_no_server_finds_a_name_that_is_closed(ruleset: RuleSet, sent: tuple[str, bytes]) -> None:
    """In a body that may have any other one."""
    if written(ruleset, "/closed/7", *sent):
        for reader in READERS:
            assert "purge" not in names(reader, *sent), reader.__name__


@given(forms())
@settings(max_examples=200)
@example(b"title=1")
def test_no_server_finds_a_closed_name_in_a_query(ruleset: RuleSet, query: bytes) -> None:
    """A query is spelled as a form is."""
    target = f"/closed/7?{query.decode()}"

    if isinstance(read_target(target), Target) and written(ruleset, target, "application/json", b"{}"):
        for reader in READERS:
            assert "purge" not in names(reader, FORM, query), reader.__name__


@given(forms())
@settings(max_examples=200)
@example(b"title=%C3%A4")
def test_every_server_finds_the_value_that_names_the_resource(ruleset: RuleSet, body: bytes) -> None:
    """One, and the same one."""
    resource = written(ruleset, "/named", FORM, body)

    if resource is not None:
        for reader in READERS:
            found = [value for name, value in reader(FORM, body) if name == "title"]
            assert found == [unquote(resource).removeprefix("doc/")], reader.__name__


MEMBERS = [
    *(
        '"title"',
        '"title"',
        '"title"',
        '"rows"',
        '"owner"',
        '"t\\u0069tle"',
        '"title\\u0000"',
        '"Title"',
        '"title "',
        "title",
    ),
    *('"rows.id"', '""', '"$set"', "'title'", '"\\ud800"', '"title\\ufeff"', '"\ufefftitle"', '"__proto__"', '"t\tl"'),
]
VALUES = [
    *('"x"', "7", "null", "true", "{}", "[]", '[{"id": 1}]', '[{"id": 1, "owner": 8}]', '{"id": {"owner": 8}}', "[1]"),
    *('[[{"owner": 8}]]', '{"owner": 8}', '"x","owner":8', "NaN", "1e400", "-0", "07", "0x7", '"a\nb"', "'x'", "[1,]"),
    *(
        '"x" /*,"owner":8*/',
        '"x" // ,"owner":8',
        '"\\""',
        '"\\","owner":8,"a":"',
        '"\\\\"',
        '"\\ud83d\\ude00"',
        "Infinity",
    ),
]
AROUND = [("\ufeff", ""), ("[", "]"), ("", '{"owner":8}'), ("\x0b", ""), ("", "\0"), (" \n", "\t")]


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """An object, odd in one way at most: in a member, between its pieces, or around it."""
    odd = draw(st.sampled_from(["name", "value", "value", "mark", "between", "around"]))
    pairs = [
        ['"title"', ":", draw(st.sampled_from(["7", '"x"', '{"a": [1]}']))],
        ['"rows"', ":", '[{"id": {"a": 1}}, {}]'],
    ]
    if odd == "name":
        pairs.append([draw(st.sampled_from(MEMBERS)), ":", "8"])
    if odd == "value":
        draw(st.sampled_from(pairs))[2] = draw(st.sampled_from(VALUES))
    if odd == "mark":
        pairs[0][1] = draw(st.sampled_from([" : ", "=", ":\x0c", "::", "\n:", "=>", ":\u00a0"]))
    between = draw(st.sampled_from([", ", ",,", ";", "\n", ",\n", ",\u2028", ",#\n"])) if odd == "between" else ","
    before, after = draw(st.sampled_from(AROUND)) if odd == "around" else ("", "")
    members = draw(st.permutations(["".join(pair) for pair in pairs]))[draw(st.integers(0, 1)) :]
    return f"{before}{{{between.join(members)}}}{after}".encode()


@given(documents())
@settings(max_examples=300)
@example(b'{"title":1}')
@example(b'{"rows":[{"id":{"owner":8}}]}')
def test_no_reader_of_json_finds_a_member_that_is_not_listed(ruleset: RuleSet, body: bytes) -> None:
    """Of those that take more than JSON, too: NaN, comments, or all that YAML is."""
    if written(ruleset, "/json/7", "application/json", body):
        for reader in JSON_READERS:
            found = reader(body)
            assert found.keys() <= {"title", "rows"}, reader.__name__
            rows = found.get("rows", [])
            assert all(row.keys() <= {"id"} for row in (rows if isinstance(rows, list) else [rows])), reader.__name__


@given(documents())
@settings(max_examples=200)
@example(b'{"title":"x"}')
@example(b'{"title":9007199254740992}')
def test_every_reader_of_json_finds_the_value_that_names_the_resource(ruleset: RuleSet, body: bytes) -> None:
    """A text, or an integer. (YAML has other numbers.)"""
    resource = written(ruleset, "/told", "application/json", body)

    if resource is not None:
        for reader in JSON_READERS[:2]:
            assert f"doc/{reader(body)['title']}" == unquote(resource), reader.__name__
