"""Questions about intents that may find another's write, or none."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.queries import doubtful_queries
from tests.policy.asking import rules

ASKING = """upstream: mails
url: http://127.0.0.1:9
capabilities: {NATIVEquery: {request: "GET /sent?QUERY", applied: {status: 200}}}
defaults: {intent: {mode: required, on_unknown: query}}
writes:
  - {name: send, match: "POST /mails/{box}", resource: "RESOURCE"}
"""
PRINCIPALS = f"""principals:
  - {{name: ada, key: "sha256:{"a" * 64}", tenant: north, resources: ["**"]}}
  - {{name: bob, key: "sha256:{"b" * 64}", tenant: south, resources: ["**"]}}
"""
ALONE, UNHEARD = "not one intent's alone", "never hears"
BOTH, OWN = "k={intent.key}&r={intent.resource}", "k={intent.upstream_key}"


@pytest.mark.parametrize(
    ("query", "native", "resource", "tenants", "warned"),
    [
        pytest.param("k={intent.key}", "", "box/{path.box}", 1, ALONE, id="the key alone"),
        pytest.param("k={intent.resource}", "", "box/{path.box}", 1, ALONE, id="the resource alone"),
        pytest.param(BOTH, "", "box/{path.box}", 1, None, id="key and resource"),
        pytest.param(BOTH, "", "box/{path.box}", 2, ALONE, id="of any tenant"),
        pytest.param(BOTH, "", "box/{tenant}/{path.box}", 2, None, id="of its tenant"),
        pytest.param("k={intent.key}", "", "box", 1, ALONE, id="one resource of many paths"),
        pytest.param(OWN, "idempotency_key: X-Key, ", "box/{path.box}", 2, None, id="its name"),
        pytest.param(OWN, "", "box/{path.box}", 1, UNHEARD, id="a name that nobody tells"),
    ],
)
def test_a_query_that_may_find_anothers_write(
    tmp_path: Path, query: str, native: str, resource: str, tenants: int, warned: str | None
) -> None:
    """It is told at the first rule that asks."""
    if tenants > 1:
        (tmp_path / "principals.yaml").write_text(PRINCIPALS)
    policy = ASKING.replace("QUERY", query).replace("NATIVE", native).replace("RESOURCE", resource)
    found = list(doubtful_queries(rules(tmp_path, policy)))

    assert [(one.severity, one.line) for one in found] == ([] if warned is None else [("warning", 6)])
    assert warned is None or warned in found[0].message


MOVE = '  - {name: move, match: "PATCH /mails/{box}", resource: "box/{path.box}"'


@pytest.mark.parametrize(
    ("query", "more", "warned"),
    [
        (BOTH, "", False),
        (BOTH, f"{MOVE}}}\n", True),
        (BOTH, f"{MOVE}, intent: {{mode: 'off', on_unknown: hold}}}}\n", False),
        (BOTH, f"{MOVE.replace('box/{', 'other/{')}}}\n", False),
        (OWN, f"{MOVE}}}\n", False),
    ],
    ids=["one target", "another method", "one without keys", "another resource", "asked by its name"],
)
def test_a_key_and_a_resource_are_one_intents_if_there_is_one_target(
    tmp_path: Path, query: str, more: str, warned: bool
) -> None:
    """The same key of another method or path is another intent, of which the question tells nothing."""
    policy = ASKING.replace("QUERY", query).replace("NATIVE", "idempotency_key: X-Key, ")
    found = list(doubtful_queries(rules(tmp_path, policy.replace("RESOURCE", "box/{path.box}") + more)))

    assert [ALONE in one.message for one in found] == ([True] if warned else [])
