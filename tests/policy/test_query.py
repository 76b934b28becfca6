"""Asking an upstream what became of an intent: the request, and what its answers prove."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.policy.query import Query
from tests.policy.asking import HEAD, rules

RECORD = IntentRecord(
    id=IntentId("0a1.digest"),
    state="unknown",
    upstream="api",
    rule="one",
    resource=ResourceKey("x/7"),
    epoch=Epoch(42),
    holder="a",
    key="k-1",
    tenant="default",
    target="POST /x/7",
    attempts=1,
    created_at_ms=0,
    updated_at_ms=0,
    reason="timed out",
)


def query(directory: Path, *lines: str, request: str = "GET /x?key={intent.key}", mount: str = "{path: /x}") -> Query:
    fields = "".join(f"    {line}\n" for line in lines or ("applied: {status: 200}",))
    capabilities = f"mount: {mount}\ncapabilities:\n  query:\n    request: '{request}'\n"
    found = rules(directory, HEAD + capabilities + fields).query_of("api")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("named", "is_one"),
    [("intent.key", False), ("intent.resource", False), ("intent.upstream_key", True), ("intent.id", True)],
)
def test_what_names_one_intent(named: str, is_one: bool, tmp_path: Path) -> None:
    """A key is another's too: of another tenant, for another resource or target."""
    assert query(tmp_path, request=f"GET /x?key={{{named}}}").names_one is is_one


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("GET /x/by-key/{intent.key}", "/x/by-key/k-1"),
        ("GET /x?id={intent.id}&of={intent.upstream_key}", "/x?id=0a1.digest&of=dig_est-1"),
        ("HEAD /x?resource={intent.resource}", "/x?resource=x%2F7"),
        ("GET /x/k-{intent.key}.json?full", "/x/k-k-1.json?full"),
    ],
)
def test_the_request_names_the_intent(tmp_path: Path, text: str, target: str) -> None:
    """Each placeholder stands for one segment or one value; the answer is wanted as JSON, and nothing else is said."""
    asked = query(tmp_path, request=text).request_for(RECORD, "dig_est-1")

    assert asked is not None
    assert (asked.method, asked.target.raw) == (text.partition(" ")[0], target)
    assert asked.headers.pairs == ((b"Accept", b"application/json"), (b"Cache-Control", b"no-cache"))


def test_a_key_is_percent_encoded(tmp_path: Path) -> None:
    """Only the unreserved characters of RFC 3986 stay: no key reaches out of its place."""
    key = "aZ0-._~!$&'()*+,;=:@/?#[]%\"<>\\^`{|} ä"
    encoded = "aZ0-._~%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40%2F%3F%23%5B%5D%25%22%3C%3E%5C%5E%60%7B%7C%7D%20%C3%A4"

    asked = query(tmp_path, request="GET /x?key={intent.key}&z=1").request_for(replace(RECORD, key=key), "d")

    assert asked is not None
    assert asked.target.raw == f"/x?key={encoded}&z=1"


@pytest.mark.parametrize(
    "key",
    [
        None,
        "..",
        ".",
        "a/b",
        "../x",
        "a\\b",
        "a;b",
        "a\n",
        "a?b",
        "a#",
        "a&b",
        "%41",
        "?",
        "%2e%2e",
        "..%2f",
        "a/../..",
    ],
    ids=repr,
)
def test_an_intent_whose_key_leads_elsewhere_is_not_asked_about(tmp_path: Path, key: str | None) -> None:
    """The wrong path would answer for another thing, and its no would let the write run again."""
    assert query(tmp_path, request="GET /x/{intent.key}").request_for(replace(RECORD, key=key), "d") is None


def test_a_delimiter_may_stand_where_the_upstream_does_not_decode_it_too_early(tmp_path: Path) -> None:
    """`delimiters: opaque` says so, and in a query it stands everywhere."""
    opaque = query(tmp_path, request="GET /x/{intent.key}", mount="{path: /x, delimiters: opaque}")
    asked = opaque.request_for(replace(RECORD, key="a?b"), "d")

    assert asked is not None
    assert asked.target.raw == "/x/a%3Fb"


def test_a_plus_in_a_key_is_escaped(tmp_path: Path) -> None:
    """So that it is no blank to anybody."""
    asked = query(tmp_path, request="GET /x/{intent.key}").request_for(replace(RECORD, key="a+b"), "d")

    assert asked is not None
    assert asked.target.raw == "/x/a%2Bb"


def test_a_slash_may_stand_where_the_upstream_tells_it_from_one_between_segments(tmp_path: Path) -> None:
    """`encoded_slash: opaque` says so; the dot segments stay refused."""
    opaque = query(tmp_path, request="GET /x/{intent.key}", mount="{path: /x, encoded_slash: opaque}")

    asked = opaque.request_for(replace(RECORD, key="a/b"), "d")

    assert asked is not None
    assert asked.target.raw == "/x/a%2Fb"
    assert opaque.request_for(replace(RECORD, key="a/.."), "d") is None


@pytest.mark.parametrize(
    ("request_line", "key", "target"),
    [
        ("GET /x/{intent.key}", "7.json", None),
        ("GET /x/{intent.key}/?full=1", "7.json", None),
        ("GET /x/{intent.key}", "7.csv", "/x/7.csv"),
        ("GET /x/{intent.key}/state", "7.json", "/x/7.json/state"),
        ("GET /x/all?key={intent.key}", "7.json", "/x/all?key=7.json"),
    ],
)
def test_a_key_that_ends_as_a_format_is_not_asked_about(
    tmp_path: Path, request_line: str, key: str, target: str | None
) -> None:
    """The API would cut it off and answer for another key; where the path goes on, or in a query, it would not."""
    formats = query(tmp_path, request=request_line, mount="{path: /x, format_endings: [json]}")

    asked = formats.request_for(replace(RECORD, key=key), "d")

    assert (None if asked is None else asked.target.raw) == target


def test_an_intent_without_a_key_is_asked_about_by_what_it_has(tmp_path: Path) -> None:
    """Where the target wants no key, none is missed."""
    keyless = replace(RECORD, key=None)

    assert query(tmp_path, request="GET /x?id={intent.id}").request_for(keyless, "d") is not None


STATUS = ("applied: {status: [200, 3xx]}", "not_applied: {status: 4xx}", "duplicated: {status: 409}")
COUNT = ("applied: {json: {/count: 1}}", "not_applied: {json: {/count: 0}}", "duplicated: {json: {/count: '>1'}}")
STATE = (
    "applied: {json: {/state: [sent, 'queued'], /test: false}}",
    "not_applied: {status: 404, json: {/e: null}}",
)
RANGE = ("applied: {json: {/n: ['>=1.5', '-3']}}", "not_applied: {json: {/n: ['<0', '<= -7', 1]}}")
YES = ("applied: {status: 2xx}",)
NO = ("not_applied: {status: 404}",)


@pytest.mark.parametrize(
    ("lines", "status", "body", "verdict"),
    [
        (STATUS, 200, "", "applied"),
        (STATUS, 302, "", "applied"),
        (STATUS, 404, "", "not_applied"),
        (STATUS, 409, "", "duplicated"),
        (STATUS, 201, "", "unclear"),
        (STATUS, 500, "", "unclear"),
        (STATUS, 401, "", "unclear"),
        (STATUS, 429, "", "unclear"),
        (COUNT, 200, '{"count": 1}', "applied"),
        (COUNT, 206, '{"count": 1.0}', "applied"),
        (COUNT, 200, '{"count": 0}', "not_applied"),
        (COUNT, 200, '{"count": 2}', "duplicated"),
        (COUNT, 404, '{"count": 0}', "unclear"),
        (COUNT, 200, '{"count": "1"}', "unclear"),
        (COUNT, 200, '{"count": "2"}', "unclear"),
        (COUNT, 200, '{"count": true}', "unclear"),
        (COUNT, 200, '{"count": -1}', "unclear"),
        (COUNT, 200, '{"count": null}', "unclear"),
        (COUNT, 200, '{"count": [2]}', "unclear"),
        (COUNT, 200, '{"count": 0, "count": 1}', "unclear"),
        (COUNT, 200, '{"count": 0, "Count": 1}', "unclear"),
        (COUNT, 200, '{"count": 1, "_count": 0, "constructor": 0}', "applied"),
        (COUNT, 200, '{"count": 0} x', "unclear"),
        (COUNT, 200, "", "unclear"),
        (COUNT, 200, "[]", "unclear"),
        (STATE, 200, '{"state": "queued", "test": false}', "applied"),
        (STATE, 200, '{"state": "queued", "test": true}', "unclear"),
        (STATE, 200, '{"state": "queued"}', "unclear"),
        (STATE, 404, '{"e": null}', "not_applied"),
        (STATE, 404, "{}", "unclear"),
        (STATE, 200, '{"e": null}', "unclear"),
        (RANGE, 200, '{"n": 1.5}', "applied"),
        (RANGE, 200, '{"n": "-3"}', "applied"),
        (RANGE, 200, '{"n": 1}', "not_applied"),
        (RANGE, 200, '{"n": -0.1}', "not_applied"),
        (RANGE, 200, '{"n": 0}', "unclear"),
        (YES, 204, "", "applied"),
        (YES, 404, "", "unclear"),
        (NO, 404, "", "not_applied"),
        (NO, 200, "", "unclear"),
    ],
)
def test_an_answer_proves_what_the_policy_says_and_nothing_else(
    tmp_path: Path, lines: tuple[str, ...], status: int, body: str, verdict: str
) -> None:
    """JSON is asked of a 2xx unless a status is named; a class leaves out what speaks of the asker, not the intent."""
    assert query(tmp_path, *lines).judge(status, body.encode()) == verdict


def test_an_answer_that_proves_both_proves_nothing(tmp_path: Path) -> None:
    """A policy that contradicts itself lets nothing run twice."""
    both = query(tmp_path, "applied: {status: 200}", "not_applied: {json: {/count: 0}}")

    assert both.judge(200, b'{"count": 0}') == "unclear"


def test_a_status_named_by_itself_counts(tmp_path: Path) -> None:
    """An upstream that answers 403 for what it does not have may be taken at its word."""
    assert query(tmp_path, "not_applied: {status: [403, 4xx]}").judge(403, b"") == "not_applied"


def test_the_time_before_which_a_no_does_not_count(tmp_path: Path) -> None:
    """A second, unless the policy says otherwise."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    assert query(tmp_path / "a").not_before_s == 1.0
    assert query(tmp_path / "b", "applied: {status: 200}", "not_before: 1m").not_before_s == 60.0


def test_an_upstream_without_a_query_cannot_be_asked(tmp_path: Path) -> None:
    """Nor can one that is no longer there."""
    ruleset = rules(tmp_path, HEAD)

    assert ruleset.query_of("api") is None
    assert ruleset.query_of("other") is None
