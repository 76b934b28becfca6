"""Policies that are closed: the kinds of bodies, all names and the form of ids are listed. What was tried against them.

The docstrings name who reads otherwise what is refused.
"""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}mount: {{path: /, bodies: [json], encoded_slash: opaque}}
defaults: {{values: integer}}
read_only:
  - match: POST /rpc
    when: {{json: {{/method: [docs.get]}}}}
    only: {{json: [/jsonrpc, /id, /method, /params], header: []}}
  - match: POST /boards
    when: {{json: {{/kind: [preview]}}}}
    only: {{json: [/kind, /text], header: []}}
closed:
  - {{match: POST /boards, when: {{json: {{/kind: purge}}}}}}
  - {{match: "GET,PUT /queues/%2F/critical"}}
writes:
  - name: titled
    match: PUT /docs/{{id}}
    resource: doc/{{path.id}}
    only: {{query: [title, "t[]"], json: [], header: []}}
  - name: call
    match: POST /rpc
    when: {{json: {{/method: [docs.put]}}}}
    resource: doc/{{json:/params/id}}
    only: {{json: [/jsonrpc, /id, /method, /params/id, /params/text], header: []}}
  - name: board
    match: POST /boards
    resource: boards
    only: {{json: [/kind, /text], header: []}}
  - name: queue
    match: PUT /queues/%2F/{{queue}}
    values: lowercase
    resource: queue/{{path.queue}}
    only: {{json: [/durable], header: []}}
"""
JSON = ("Content-Type", "application/json")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("closed-policies"), RULES)


@pytest.mark.parametrize(
    ("query", "decision"),
    [
        ("title=x", "forwarded"),
        ("title=x&t[]=1", "forwarded"),
        ("title=%26x", "forwarded"),
        *(
            (f"title=x&{other}=1", "no-policy")
            for other in ("title[]", "+title", "title+", "Title", "t[a][x]", "?title", "/title", "")
        ),
        *((f"title={value}", "ambiguous-target") for value in ("%u0026x", "x;title=y")),
    ],
)
def test_a_query_says_what_is_listed(ruleset: RuleSet, query: str, decision: str) -> None:
    """In these words: PHP, Rack, qs and others find the listed name in many more."""
    assert answer(ruleset, request("PUT", f"/docs/7?{query}"), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.get", "params": {"id": 8}}', "passed"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.put", "params": {"id": 7, "text": "x"}}', "forwarded"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.get", "params": {}, "Method": "docs.put"}', "ambiguous-target"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.get", "params": {}, "extra": 1}', "no-policy"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.put", "params": [8, "x"]}', "no-policy"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "docs.put", "params": {"id": 7, "Id": 8}}', "no-policy"),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "docs.put", "params": {"id": 7}}]', "ambiguous-target"),
        ('{"method": "docs.get"} {"method": "docs.put"}', "ambiguous-target"),
        ('{"method": "docs.get", "method": "docs.put"}', "ambiguous-target"),
        ('{"method": "docs.get" /* , "method": "docs.put" */}', "ambiguous-target"),
        ('\ufeff{"method": "docs.get"}', "ambiguous-target"),
        ('{"method": "docs.get\\u0000"}', "ambiguous-target"),
    ],
)
def test_a_call_is_one_object_that_says_its_method_once(ruleset: RuleSet, body: str, decision: str) -> None:
    """Lenient readers take the last of two, a list in its order, another spelling, or what stands in a comment."""
    assert answer(ruleset, request("POST", "/rpc", JSON, body=body), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("kind", "decision"),
    [
        ('"preview"', "passed"),
        ('"board"', "forwarded"),
        ('"purge"', "no-policy"),
        *(
            (kind, "ambiguous-target")
            for kind in ('"1"', '"0"', '"+1"', '" 1"', '"1.0"', "1", '["purge"]', '{"purge": null}', '"Purge"')
        ),
        *((kind, "ambiguous-target") for kind in ('"Preview"', '"preview, purge"')),
    ],
)
def test_a_named_text_is_written_as_it_is_named(ruleset: RuleSet, kind: str, decision: str) -> None:
    """Jackson takes an enum's number for it, also as text, .NET another case and a list, serde an object."""
    assert answer(ruleset, request("POST", "/boards", JSON, body=f'{{"kind": {kind}}}'), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [
        ("PUT", "/queues/%2F/work", "forwarded"),
        ("PUT", "/queues/%2F/critical", "no-policy"),
        ("GET", "/queues/%2F/critical", "reads-denied"),
        *(
            ("PUT", target, "ambiguous-target")
            for target in ("/queues/%2f/work", "/queues/%2F%2F/work", "/queues/%252F/work")
        ),
        *(("GET", target, "reads-denied") for target in ("/queues/%2f/critical", "/queues/%2F/cri%74ical")),
        ("GET", "/queues/%2F/CRITICAL", "ambiguous-target"),
    ],
)
def test_an_encoded_slash_that_a_match_names_is_that_one(
    ruleset: RuleSet, method: str, target: str, decision: str
) -> None:
    """RabbitMQ's first virtual host is called `/`. Proxies undo it, drop it, or fold its digits."""
    told = answer(ruleset, request(method, target, JSON, body="{}" if method == "PUT" else None), NOBODY)

    assert told.decision == decision
