"""What takes a write back, filled from the write and its answer: whatever a value holds, it stays one value."""

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.compensation import Unavailable, Undo
from gateway.core.kept_request import KeptRequest
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.match import Matched, NeedsBody
from tests.policy.asking import rules

HEAD = """upstream: api
url: http://127.0.0.1:9000
mount: {{path: {mount}, encoded_slash: {slash}, format_endings: {formats}}}
writes:
  - name: a
    match: POST /x/{{id}}/{{rest...}}
    resource: x/{{path.id}}
    intent: {{mode: optional}}
    effect:
      compensation:
"""
JSON = (b"Content-Type", b"application/json")
FORM = (b"Content-Type", b"application/x-www-form-urlencoded")


@dataclass
class Exchange:
    """A write and its answer, each with a default for what a test does not care about."""

    target: str = "/x/7/of/it?q=one"
    body: bytes = b'{"name": "ann", "n": 5}'
    fields: HeaderPairs = ((b"X-Doc", b"d-1"),)
    kind: tuple[bytes, bytes] = JSON
    answer: bytes | None = b'{"id": "new", "count": 12, "nested": {"list": ["a", "b"]}}'
    answer_fields: HeaderPairs = ((b"ETag", b'"e-1"'), (b"X-Ref", b"ref_1"))
    encoded_slash: str = field(default="refuse")
    formats: str = "opaque"
    mount: str = "/x"

    def undo(self, directory: Path, *lines: str) -> Undo:
        head = HEAD.format(mount=self.mount, slash=self.encoded_slash, formats=self.formats)
        text = head + "".join(f"        {line}\n" for line in lines)
        found, caller = rules(directory, text), Caller("bob", "acme")
        target = read_target(self.target)
        assert isinstance(target, Target)
        request = Request("POST", target, Headers((self.kind, *self.fields)))
        matched = found.match(request, caller)
        if isinstance(matched, NeedsBody):
            request = Request("POST", target, request.headers, self.body)
            matched = found.match(request, caller)
        assert isinstance(matched, Matched), matched
        compensation = matched.entry.compensation
        assert compensation is not None
        return compensation.begin(request, matched.path, caller, matched.body).render(self.answer_fields, self.answer)


def kept(undo: Undo) -> KeptRequest:
    assert isinstance(undo, KeptRequest), undo
    return undo


@pytest.mark.parametrize(
    ("request_line", "target"),
    [
        ("DELETE /x/{path.id}", "/x/7"),
        ("DELETE /x/{response.json:/id}", "/x/new"),
        ("DELETE /x/{response.json:/count}", "/x/12"),
        ("DELETE /x/{response.json:/nested/list/1}", "/x/b"),
        ("DELETE /x/{response.header.x-ref}", "/x/ref_1"),
        ("DELETE /x/{header.x-doc}?by={query.q}&of={json:/name}&n={json:/n}", "/x/d-1?by=one&of=ann&n=5"),
        ("DELETE /x/{path.rest}", "/x/of/it"),
        ("DELETE /x/v-{path.id}.json?{tenant}={principal}", "/x/v-7.json?acme=bob"),
    ],
)
def test_the_target_is_filled_from_the_write_and_its_answer(tmp_path: Path, request_line: str, target: str) -> None:
    """Numbers as they are spelled; a rest with the slashes that it had."""
    undo = kept(Exchange().undo(tmp_path, f"request: '{request_line}'"))

    assert (undo.method, undo.target, undo.body) == ("DELETE", target, b"")
    assert undo.headers == ((b"User-Agent", b"fencegate"),)


HOSTILE = 'a&b=c?d#e"f\\g{h} %2e%0d%0aX: y\r\n\u00e4'


def test_a_value_cannot_leave_its_place_in_a_target(tmp_path: Path) -> None:
    """It is percent-encoded, all but the unreserved characters of RFC 3986."""
    answer = json.dumps({"id": HOSTILE}).encode()
    undo = kept(Exchange(answer=answer).undo(tmp_path, "request: 'DELETE /x/7?id={response.json:/id}&z=1'"))

    read = read_target(undo.target)

    assert isinstance(read, Target)
    assert read.query_values("id") == [HOSTILE]
    assert (read.path, read.query_values("z")) == ("/x/7", ["1"])


@pytest.mark.parametrize(
    "id",
    [
        *("..", ".", "a/../..", "a/b", "a;b", "a\\b", "a\r\nX: y", "", "a?b", "a&b", "..\\a", "7;a=b", "a?y=1#z"),
        *("%2e%2e", "..%2F..%2Fadmin"),
    ],
    ids=repr,
)
def test_a_value_that_would_lead_to_another_path_makes_none(tmp_path: Path, id: str) -> None:
    """Servers decode dots, slashes and parameters again; nothing is guessed."""
    undo = Exchange(answer=json.dumps({"id": id}).encode()).undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'")

    assert isinstance(undo, Unavailable)


def test_a_plus_is_escaped(tmp_path: Path) -> None:
    """So that it is no blank to anybody."""
    undo = Exchange(answer=b'{"id": "a+b"}').undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'")

    assert kept(undo).target == "/x/a%2Bb"


def test_an_opaque_slash_stays_in_its_segment(tmp_path: Path) -> None:
    """Where the mount says that the upstream does not decode it."""
    exchange = Exchange(answer=b'{"id": "a/b"}', encoded_slash="opaque")

    assert kept(exchange.undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'")).target == "/x/a%2Fb"


@pytest.mark.parametrize(
    ("request_line", "target"),
    [
        ("DELETE /x/{response.json:/id}", None),
        ("DELETE /x/{response.json:/id}/", None),
        ("DELETE /x/{response.json:/id}?now=1", None),
        ("DELETE /x/{response.json:/id}/undo.json", "/x/7.json/undo.json"),
        ("DELETE /x/all?id={response.json:/id}", "/x/all?id=7.json"),
    ],
)
def test_a_path_is_not_taken_for_one_with_a_format(tmp_path: Path, request_line: str, target: str | None) -> None:
    """The upstream would take back another thing; what the policy itself spells with an ending is meant."""
    exchange = Exchange(answer=b'{"id": "7.json"}', formats="refuse")

    undo = exchange.undo(tmp_path, f"request: '{request_line}'")

    if target is None:
        assert isinstance(undo, Unavailable)
    else:
        assert kept(undo).target == target


def test_the_root_path_ends_as_no_format_does(tmp_path: Path) -> None:
    """A path without a segment has no ending that could be cut off."""
    undo = kept(Exchange(mount="/", formats="refuse").undo(tmp_path, "request: POST /?undo={path.id}"))

    assert undo.target == "/?undo=7"


def test_a_value_cannot_leave_its_place_in_json(tmp_path: Path) -> None:
    """It is a text, or a number where it was one and stands alone; `{{` and `}}` are braces."""
    fields = '"id": "{response.json:/id}", "n": "{json:/n}", "of": "x{json:/name}y", "gql": "m {{ a }}", "k": [1, null]'
    answer = json.dumps({"id": HOSTILE}).encode()
    exchange = Exchange(answer=answer, body=json.dumps({"name": '", "x": "\u2028\\', "n": 5}).encode())
    undo = kept(exchange.undo(tmp_path, "request: POST /x/undo", f"body: '{{{fields}}}'"))

    assert json.loads(undo.body or b"") == {
        "id": HOSTILE,
        "n": 5,
        "of": 'x", "x": "\u2028\\y',
        "gql": "m { a }",
        "k": [1, None],
    }
    assert (b"Content-Type", b"application/json") in undo.headers


def test_what_stands_in_a_value_is_not_filled_again(tmp_path: Path) -> None:
    """A placeholder that an agent or an answer has spelled is a text."""
    exchange = Exchange(answer=b'{"id": "{principal}"}', body=b'{"name": "{json:/n}", "n": "{tenant}"}')
    undo = kept(
        exchange.undo(tmp_path, "request: POST /x/undo", """body: '{"a": "{json:/name}-{response.json:/id}"}'""")
    )

    assert json.loads(undo.body or b"") == {"a": "{json:/n}-{principal}"}


def test_a_value_cannot_leave_its_place_in_a_form(tmp_path: Path) -> None:
    """It is percent-encoded as in a target."""
    answer = json.dumps({"id": "a&b=c d"}).encode()
    headers = "headers: {content-type: application/x-www-form-urlencoded}"
    undo = kept(
        Exchange(answer=answer).undo(tmp_path, "request: POST /x/undo", headers, "body: 'id={response.json:/id}&z=1'")
    )

    assert undo.body == b"id=a%26b%3Dc%20d&z=1"


@pytest.mark.parametrize(
    ("header", "etag", "sent"),
    [
        ("{response.header.etag}", b'"e-1"', b'"e-1"'),
        ("{response.header.etag}", b'W/"a b"', b'W/"a b"'),
        ("W/\"{response.header.etag}\"", b"abc", b'W/"abc"'),
        ("W/\"{response.header.etag}\"", b'a", "b', None),
        ("v={response.header.etag}", b"a; b=c", None),
        ("{response.header.etag}", b"a\tb", None),
        ("{response.header.etag}", "ä".encode(), None),
    ],
)  # fmt: skip
def test_a_value_cannot_end_a_header(tmp_path: Path, header: str, etag: bytes, sent: bytes | None) -> None:
    """Alone it may be any visible ASCII; beside other text it has nothing that a reader would take for a delimiter."""
    exchange = Exchange(answer_fields=((b"ETag", etag),))
    undo = exchange.undo(tmp_path, "request: DELETE /x/7", f"headers: {{If-Match: '{header}'}}")

    if sent is None:
        assert isinstance(undo, Unavailable)
    else:
        assert (b"If-Match", sent) in kept(undo).headers


@pytest.mark.parametrize(
    ("exchange", "line", "why"),
    [
        (Exchange(answer=None), "{response.json:/id}", "its answer was larger than `store_response`"),
        (Exchange(answer=b"{}"), "{response.json:/id}", "`response.json:/id` is missing or empty"),
        (Exchange(answer=b"<p>"), "{response.json:/id}", "the body is not JSON that all readers read alike"),
        (Exchange(answer=b'{"id": 1, "id": 2}'), "{response.json:/id}", "the body is not JSON"),
        (Exchange(answer=b'{"id": 1, "ID": 2}'), "{response.json:/id}", "cannot be read"),
        (Exchange(answer=b'{"id": ""}'), "{response.json:/id}", "`response.json:/id` is missing or empty"),
        (Exchange(answer=b'{"id": {"a": 1}}'), "{response.json:/id}", "is neither text nor a plain number"),
        (Exchange(answer=b'{"id": true}'), "{response.json:/id}", "is neither text nor a plain number"),
        (Exchange(answer=b'{"id": ["a"]}'), "{response.json:/id}", "is neither text nor a plain number"),
        (Exchange(answer=b'{"id": null}'), "{response.json:/id}", "is neither text nor a plain number"),
        (Exchange(answer=b'{"id": 1e3}'), "{response.json:/id}", "is neither text nor a plain number"),
        (Exchange(answer_fields=()), "{response.header.x-ref}", "the answer has not one `response.header.x-ref`"),
        (
            Exchange(answer_fields=((b"X-Ref", b"a"), (b"x-ref", b"b"))),
            "{response.header.x-ref}",
            "the answer has not one `response.header.x-ref`",
        ),
        (Exchange(fields=()), "{header.x-doc}", "the request has no `header.x-doc`"),
        (Exchange(target="/x/7/a"), "{query.q}", "the request has no `query.q`"),
        (Exchange(target="/x/7/a?q=1&q=2"), "{query.q}", "cannot be read in one way"),
        (Exchange(body=b'{"name": "ann", "_name": "bob"}'), "{json:/name}", "cannot be read"),
        (Exchange(body=b"{}"), "{json:/name}", "`json:/name` is missing or empty"),
        (Exchange(kind=(b"Content-Type", b"text/plain")), "{json:/name}", "cannot be read"),
    ],
)
def test_what_cannot_be_filled_in_is_told(tmp_path: Path, exchange: Exchange, line: str, why: str) -> None:
    """The write is made all the same, and its record says why nothing takes it back."""
    undo = exchange.undo(tmp_path, f"request: 'DELETE /x/7?id={line}'")

    assert isinstance(undo, Unavailable)
    assert why in undo.why


def test_a_large_integer_of_an_answer_stays_exact(tmp_path: Path) -> None:
    """Ids pass 2^53."""
    undo = kept(Exchange(answer=b'{"id": 9007199254740993}').undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'"))

    assert undo.target == "/x/9007199254740993"


def test_an_answer_may_have_a_name_that_is_like_it(tmp_path: Path) -> None:
    """Its API knows which is which; agents are not trusted with it."""
    undo = kept(Exchange(answer=b'{"_id": "a", "id": "b"}').undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'"))

    assert undo.target == "/x/b"


def test_an_answer_is_read_without_its_coding(tmp_path: Path) -> None:
    """Agents ask for gzip, and upstreams give it."""
    packed = zlib.compressobj(wbits=31)
    answer = packed.compress(b'{"id": "zipped"}') + packed.flush()
    exchange = Exchange(answer=answer, answer_fields=((b"Content-Encoding", b"gzip"),))

    assert kept(exchange.undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'")).target == "/x/zipped"


def test_what_would_be_too_large_is_not_kept(tmp_path: Path) -> None:
    """The store's memory is for fencing first."""
    answer = json.dumps({"id": "a" * (64 << 10)}).encode()
    undo = Exchange(answer=answer).undo(tmp_path, "request: POST /x/undo", """body: '{"a": "{response.json:/id}"}'""")

    assert undo == Unavailable("it would be larger than 65536 bytes")


def test_a_large_answer_is_not_read(tmp_path: Path) -> None:
    """The event loop would wait for it; nor is what only becomes large without its coding."""
    answer = json.dumps({"id": 7, "more": "a" * (128 << 10)}).encode()
    packed = zlib.compressobj(wbits=31)
    bomb = packed.compress(answer) + packed.flush()
    coded = Exchange(answer=bomb, answer_fields=((b"Content-Encoding", b"gzip"),))

    for exchange in (Exchange(answer=answer), coded):
        undo = exchange.undo(tmp_path, "request: 'DELETE /x/{response.json:/id}'")
        assert isinstance(undo, Unavailable)
        assert "is larger than 131072 bytes" in undo.why
