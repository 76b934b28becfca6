"""Whatever a request says, it is answered: no name, value or path of one is a fault in here. Drawn requests."""

import json
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.caller import NOBODY
from gateway.core.decision import DECISIONS
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.review.answer import BODY_NEEDED, answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, rules
from tests.policy.reading.servers import FORM

POLICY = """\
mount:
  {path: /, names: merged, format_endings: [json], delimiters: opaque, plus: opaque, encoded_slash: opaque,
   coded_bodies: undone}
read_only:
  - {match: "POST /looked/{id}", when: {json: {/v: [preview, 3, true]}}, only: {json: [/v, /rows/id]}}
  - {match: POST /asked, when: {query: {v: ["true", "7"]}}, only: {query: [v, w]}}
  - {match: POST /sent, when: {form: {v: ["on", "1"]}}, only: {form: [v, "w[]"], header: [X-V]}}
  - {match: POST /graphql, when: {graphql: query}}
closed:
  - {match: "GET,POST /docs/secret"}
  - {match: GET /cron.php}
  - {when: {query: {sudo: {present: true}}}}
  - {when: {header: {x-v: ["3", purge]}}}
  - {match: "POST /docs/{id}", when: {json: {/purge: {present: true}}}}
writes:
  - name: doc
    match: POST /docs/{id}
    resource: doc/{path.id}
    values: integer
    intent: {mode: optional, key: ["{header.idempotency-key}", "{json:/key}"], fingerprint: [/v, /w/0]}
  - {name: rest, match: "POST /docs/{id}/{rest...}", resource: "doc/{path.id}/{path.rest}", values: any}
  - {name: json, match: POST /json, resource: "v/{json:/v}", values: unpadded}
  - {name: form, match: POST /form, resource: "v/{form.v}", values: base64}
  - {name: query, match: POST /query, resource: "v/{query.v}", values: ulid}
  - {name: header, match: POST /header, resource: "v/{header.x-v}", values: uuid}
  - {name: change, match: POST /graphql, when: {graphql: {mutation: [a]}}, resource: "v/{graphql.input.v}"}
  - {name: only, match: "POST /only/{id}", resource: only, only: {json: [/v], form: [v], query: [w], header: []}}
"""
MCP = """\
upstream: mcp
url: http://127.0.0.1:9001
mount: {path: /mcp}
protocol: mcp
read_only: [{match: POST /mcp, when: {tool: search}}]
writes: [{name: note, match: POST /mcp, when: {tool: write}, resource: "note/{json:/params/arguments/v}"}]
"""
PATHS = [
    *("/docs/7", "/docs/", "/looked/7", "/asked", "/sent", "/graphql", "/json", "/form", "/query", "/header"),
    *("/only/7", "/mcp", "/cron", "/"),
]
PIECES = [
    *("", "v", "w", "0", "1", "3", "7", ".", ".e0", "e", "1e999", "-0", "+", "-", "_", "0x", "#", "10d", "9" * 400),
    *("true", "on", "purge", "PURGE", "secret", "index", ".php", "(S(x))", "__proto__", "_method", "[", "]", "[]"),
    *("\0", "\r", "\t", " ", "\u00a0", "\u200b", "\ufeff", "\u0130", "\u0131", "\u017f", "\u212a", "\u0661"),
    *("\u00b2", "\uff13", "\u0300", "\U0001f600", "\U0001d7d8", "\U000e0100", "\u1e9e", "\u03c2", "\x7f", "\x85"),
    *("/", "%2F", "%252F", "%zz", "%", ";", "&", "=", "?", "&amp;", "$", "!", ":", "|", "~", ",", "=?", '"', "'"),
    *("{", "}", "\\", "\u2028", "\u00bd", "\u2167", "\u2800", "1_000", "0b2", "0o9", "#g", "10L", "1e-1000", "NaN"),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
NUMBERS = st.sampled_from(
    ["0", "-0", "3.0", "1e5", "1e999", "1E-999", "1e99999999", "9" * 5000, "01", "NaN", "-", "1e"]
)
NAMES = st.one_of(st.sampled_from(["v", "w", "rows", "purge", "key", "query", "variables", "params", "method"]), TEXT)
JSON: st.SearchStrategy[str] = st.recursive(
    st.one_of(TEXT.map(json.dumps), NUMBERS, st.sampled_from(["true", "false", "null", "'v'", "{", "//"])),
    lambda below: st.one_of(
        st.lists(below, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(st.tuples(NAMES.map(json.dumps), below).map(":".join), max_size=3).map(
            lambda all: f"{{{','.join(all)}}}"
        ),
    ),
    max_leaves=6,
)
TOKENS = ["mutation", "query", "{", "}", "(", ")", "a", "b", "input", "v", ":", "7", '"7"', '"""', '"', "...", "on"]
TOKENS += [
    "F",
    "$v",
    "($v:In)",
    "(input:{v:7})",
    "(input:$v)",
    "@d",
    "-0",
    "1e5",
    "null",
    "[7]",
    "\\u{",
    "\n",
    "#",
    "&",
]
DOCUMENTS = st.lists(st.sampled_from(TOKENS), max_size=12).map(" ".join)
CALLS = st.tuples(st.sampled_from(["write", "search", "x"]), JSON).map(
    lambda call: (
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{call[0]}","arguments":{call[1]}}}}}'
    )
)
FIELDS = st.lists(st.tuples(NAMES, TEXT).map("=".join), max_size=4).map("&".join)
PARTS = st.lists(st.tuples(NAMES, TEXT, TEXT), max_size=2).map(
    lambda parts: (
        "".join(f'--b\r\nContent-Disposition: form-data; name="{n}"{m}\r\n\r\n{c}\r\n' for n, m, c in parts)
        + "--b--\r\n"
    )
)
TYPED = st.one_of(
    st.tuples(st.just("application/json"), JSON),
    st.tuples(st.just("application/json"), CALLS),
    st.tuples(
        st.just("application/json"), DOCUMENTS.map(lambda text: json.dumps({"query": text, "variables": {"v": 7}}))
    ),
    st.tuples(st.just(FORM), FIELDS),
    st.tuples(st.just("multipart/form-data; boundary=b"), PARTS),
    st.tuples(TEXT, TEXT),
)
HEADERS = ["X-V", "X_V", "V", "Cookie", "Idempotency-Key", "Content-Encoding", "Connection", "Content_Type"]


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("any"), HEAD + POLICY, MCP)


def sent(text: str) -> bytes:
    """As it comes: a header is read line by line, and without a NUL."""
    return "".join(text.splitlines()).replace("\0", "").encode("utf-8", "surrogatepass")


@given(
    st.sampled_from(["POST", "POST", "POST", "GET", "DELETE"]),
    st.tuples(st.sampled_from(PATHS), TEXT, st.one_of(st.just(""), FIELDS)),
    TYPED,
    st.lists(st.tuples(st.sampled_from(HEADERS), TEXT), max_size=2),
)
@settings(max_examples=500)
@example("POST", ("/header", "", ""), ("application/json", "{}"), [("X-V", ".e0")])
@example("POST", ("/asked", "", "v=.e0"), ("application/json", "{}"), [])
def test_whatever_is_asked_is_answered(
    ruleset: RuleSet, method: str, place: tuple[str, str, str], typed: tuple[str, str], fields: list[tuple[str, str]]
) -> None:
    """By one of the decisions."""
    path, more, query = place
    target = read_target(f"{path}{quote(more, safe='/%;&=?$!:|~,+()')}?{quote(query, safe='%&=;+[]')}")
    if not isinstance(target, Target):
        return
    kind, body = typed
    pairs = [(name.encode(), sent(value)) for name, value in fields]
    headers = Headers([(b"Content-Type", sent(kind)), *pairs])

    told = answer(ruleset, Request(method, target, headers, body.encode("utf-8", "surrogatepass")), NOBODY)

    assert told.decision in {*DECISIONS, BODY_NEEDED}
