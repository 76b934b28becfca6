"""Policies that are closed: the kinds of bodies, all names and the form of ids are listed. What was tried against them.

The docstrings name who reads otherwise what is refused.
"""

import json

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
    when: {{json: {{/kind: [preview, publish, archive]}}}}
    only: {{json: [/kind, /text], header: []}}
closed:
  - {{match: POST /boards, when: {{json: {{/kind: purge}}}}}}
  - {{match: "GET,PUT /queues/%2F/critical"}}
  - {{match: GET /live/0}}
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
  - name: update
    match: POST /graphql
    when: {{graphql: {{mutation: [update]}}}}
    resource: doc/{{graphql.id}}
    only: {{query: [], json: [/query, /variables], header: []}}
  - name: change
    match: POST /graphql
    when: {{graphql: {{mutation: [change]}}}}
    resource: doc/{{graphql.input.id}}
    only: {{query: [], json: [/query, /variables], header: []}}
  - name: live
    match: GET /live/{{id}}
    upgrade: websocket
    resource: doc/{{path.id}}
    only: {{query: [v], header: []}}
  - name: listed
    match: PUT /tags/{{id}}/{{tag}}
    resource: tag/{{path.id}}/{{path.tag}}
    values: {{path.id: integer, path.tag: [red, soft-delete]}}
    only:
      query: [{{mode: [soft]}}]
      json: [{{/kind: [preview, publish]}}, {{/parts: [[a, b]]}}]
      header: [{{X-Mode: [soft]}}]
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
        *((kind, "ambiguous-target") for kind in ('"Preview"', '"preview, purge"', '"list, share"', '"preview "')),
        *((kind, "ambiguous-target") for kind in ('"publish, archive"', '"publish,archive"', '"Publish,Archive"')),
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
            for target in ("/queues/%2f/work", "/queues/%2F%2F/work", "/queues/%252F/work", "/queues/%2F/work%2F")
        ),
        *(("GET", target, "reads-denied") for target in ("/queues/%2f/critical", "/queues/%2F/cri%74ical")),
        *(
            ("PUT", target, "ambiguous-target")
            for target in ("/queues/%2F/%2F", "/queues/%2F/a%2Fcritical", "/queues/%2F/Critical")
        ),
        *((method, "/queues/%2F/critical", "reads-denied") for method in ("HEAD", "OPTIONS")),
        *(
            ("GET", f"/queues/{path}", "ambiguous-target")
            for path in ("%2F/CRITICAL", "%2F%2F/critical", "%252F/critical", "%2F/critical/", "%2F/critical.json")
        ),
    ],
)
def test_an_encoded_slash_that_a_match_names_is_that_one(
    ruleset: RuleSet, method: str, target: str, decision: str
) -> None:
    """RabbitMQ's first virtual host is called `/`. Proxies undo it, drop it, or fold its digits."""
    told = answer(ruleset, request(method, target, JSON, body="{}" if method == "PUT" else None), NOBODY)

    assert told.decision == decision


@pytest.mark.parametrize(
    ("id", "decision"),
    [
        *((id, "forwarded") for id in ("7", '"7"', "9007199254740992")),
        *((id, "resource-unresolved") for id in ("9007199254740993", "7.0", "7e0", "1e1", "-0")),
        *((id, "resource-unresolved") for id in ("true", "[7]", '{"id": 7}')),
        ("null", "resource-unresolved"),
        ('"07"', "ambiguous-target"),
    ],
)
def test_an_id_is_one_integer_wherever_graphql_has_it(ruleset: RuleSet, id: str, decision: str) -> None:
    """In a variable, within an object of one, or in the document: JavaScript rounds beyond 2^53, and an engine makes an
    item of a list."""
    asked = (
        f'{{"query": "mutation($i: ID!) {{update(id: $i)}}", "variables": {{"i": {id}}}}}',
        f'{{"query": "mutation($i: In!) {{change(input: $i)}}", "variables": {{"i": {{"id": {id}}}}}}}',
        json.dumps({"query": f"mutation {{update(id: {id})}}"}),
    )
    told = [answer(ruleset, request("POST", "/graphql", JSON, body=body), NOBODY).decision for body in asked]

    # A document's objects have no quotes around a name.
    assert told[: 2 if id.startswith("{") else 3] == [decision] * (2 if id.startswith("{") else 3)


@pytest.mark.parametrize(
    ("variables", "decision"),
    [
        ('{"i": {"id": 7}}', "forwarded"),
        ('{"i": {"id": 7, "ID": 8}}', "ambiguous-target"),
        ('{"i": [{"id": 7}]}', "resource-unresolved"),
        ('{"i": {"id": 7}, "I": {"id": 8}}', "ambiguous-target"),
        ("{}", "resource-unresolved"),
    ],
)
def test_a_variable_says_it_once(ruleset: RuleSet, variables: str, decision: str) -> None:
    """In its own spelling."""
    body = f'{{"query": "mutation($i: In!) {{change(input: $i)}}", "variables": {variables}}}'

    assert answer(ruleset, request("POST", "/graphql", JSON, body=body), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("variables", "decision", "resource"),
    [("{}", "forwarded", "doc/8"), ('{"i": null}', "resource-unresolved", None), ('{"i": 7}', "forwarded", "doc/7")],
)
def test_a_default_counts_where_nothing_is_said(
    ruleset: RuleSet, variables: str, decision: str, resource: str | None
) -> None:
    """A null says something."""
    body = f'{{"query": "mutation($i: ID = 8) {{update(id: $i)}}", "variables": {variables}}}'
    told = answer(ruleset, request("POST", "/graphql", JSON, body=body), NOBODY)

    assert (told.decision, told.resource) == (decision, resource)


@pytest.mark.parametrize(
    ("target", "field", "decision"),
    [
        ("/live/7", None, "forwarded"),
        ("/live/7?v=2", None, "forwarded"),
        ("/live/7?v=2&sudo=1", None, "no-policy"),
        ("/live/7?V=2", None, "no-policy"),
        ("/live/7", ("X-A", "1"), "no-policy"),
        ("/live/7", ("Origin", "https://a.example"), "forwarded"),
        ("/live/0", None, "no-policy"),
        ("/live/%30", None, "no-policy"),
        *((f"/live/{id}", None, "ambiguous-target") for id in ("00", "0.0", "-0", "false")),
    ],
)
def test_a_handshake_says_what_is_listed(
    ruleset: RuleSet, target: str, field: tuple[str, str] | None, decision: str
) -> None:
    """As a write does."""
    key = ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
    fields = (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"), key)

    assert answer(ruleset, request("GET", target, *fields, *([field] if field else [])), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("target", "body", "field", "decision"),
    [
        ("7/red", "{}", None, "forwarded"),
        ("7/soft-delete?mode=soft", '{"kind": "preview", "parts": ["a", "b"]}', ("X-Mode", "soft"), "forwarded"),
        *(
            (f"7/{tag}", "{}", None, "ambiguous-target")
            for tag in ("RED", "Red", "0", "soft_delete", "softDelete", "SOFT-DELETE", "soft.delete", "red,soft-delete")
        ),
        *(
            (f"7/{tag}", "{}", None, "ambiguous-target")
            for tag in ("r%C3%A9d", "%EF%BD%92ed", "red%20", "red.json", "blue")
        ),
        *(
            (f"7/red?mode={mode}", "{}", None, "no-policy")
            for mode in ("hard", "Soft", "1", "soft,hard", "%EF%BD%93oft", "soft&mode=hard")
        ),
        *(
            ("7/red", f'{{"kind": {kind}}}', None, "no-policy")
            for kind in (
                '"purge"',
                '"Preview"',
                '"PRE-VIEW"',
                '"preview,publish"',
                "3",
                '"3"',
                '["preview"]',
                '{"a": 1}',
            )
        ),
        *(("7/red", f'{{"kind": {kind}}}', None, "no-policy") for kind in ("true", "null", '""', '"preview\\u0000"')),
        *(
            ("7/red", f'{{"parts": {parts}}}', None, "no-policy")
            for parts in ('"a"', '["A"]', '["a, b"]', '[["a"]]', "[0]")
        ),
        *(("7/red", "{}", ("X-Mode", mode), "no-policy") for mode in ("hard", "SOFT", "0", "soft, hard")),
        ("7/red", "{}", ("X-Mode", "=?utf-8?q?soft?="), "ambiguous-target"),
    ],
)
def test_what_is_listed_with_its_values_is_one_of_them(
    ruleset: RuleSet, target: str, body: str, field: tuple[str, str] | None, decision: str
) -> None:
    """.NET reads the names of an enum in any case, by number, and several as their sum; Dropwizard with other marks,
    Micronaut without any; databases without accents and width; Fastify takes a list of one for what is in it."""
    sent = request("PUT", f"/tags/{target}", JSON, *([field] if field else []), body=body)

    assert answer(ruleset, sent, NOBODY).decision == decision
