"""Names by which a web framework is told something beside the path, and spellings of ids that one of them cuts.

The docstrings name what the framework was seen to do with what is forwarded.
"""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}read_only:
  - {{match: POST /docs/check, when: {{json: {{/dry_run: true}}}}}}
  - {{match: POST /jobs, when: {{json: {{/job/dry_run: true}}}}}}
closed: [{{match: "GET,POST /docs/publish"}}, {{match: "GET,POST /admin/{{rest...}}"}}]
writes:
  - {{name: doc, match: "PUT,POST /docs/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: update, match: "POST /docs/update/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: listed, match: "PATCH /docs/{{id}}", resource: "doc/{{path.id}}", only: {{json: [/doc/title]}}}}
  - {{name: check, match: POST /docs/check, resource: docs}}
  - {{name: run, match: POST /jobs, resource: "job/{{json:/job/name}}"}}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")
PARTS = ("Content-Type", "multipart/form-data; boundary=b")
OWNER = '--b\r\nContent-Disposition: form-data; name="doc[owner]"\r\n\r\n8\r\n--b--\r\n'
JSON = ("Content-Type", "application/json")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("framework-names"), RULES)


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        *((f"/docs/7?{query}", "forwarded") for query in ("nxtPid=8", "nxtIid=8", "nextParamid=8", "__nextLocale=x")),
        *((f"/docs/7?{query}", "forwarded") for query in ("_routes=routes/b", "index", "_data=routes/b", "_rsc=1")),
        *((f"/docs/7?{query}", "ambiguous-target") for query in ("id=8", "id[]=8", "Id=8", "_method=DELETE")),
        ("/docs/%2537", "ambiguous-target"),
        ("/docs/publish.data", "ambiguous-target"),
        ("/docs/publish/.data", "no-policy"),
    ],
)
def test_parameters_that_a_framework_makes_itself_name_nothing(ruleset: RuleSet, target: str, decision: str) -> None:
    """Next.js finds id 7 whatever they say, and React Router runs the path's own route. What names the placeholder is
    refused."""
    told = answer(ruleset, request("POST", target, JSON, body="{}"), NOBODY)

    assert (told.decision, told.resource) == (decision, "doc/7" if decision == "forwarded" else None)


@pytest.mark.parametrize(
    ("field", "decision"),
    [
        (("x-matched-path", "/docs/8"), "forwarded"),
        (("x-invoke-path", "/docs/8"), "forwarded"),
        (("x-now-route-matches", "id=8"), "forwarded"),
        (("RSC", "1"), "forwarded"),
        (("Next-Action", "00ab"), "ambiguous-target"),
    ],
)
def test_headers_of_next_js_name_no_other_route(ruleset: RuleSet, field: tuple[str, str], decision: str) -> None:
    """Its id stays that of the path, whatever they say; the one that runs another action is refused."""
    assert answer(ruleset, request("PUT", "/docs/7", field), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        *((id, id) for id in ("7", "7.", "..7", ".7", "7~", "~7", "7-", "-7", "7_", "_7", "07", "7.0", "7e0", "-0")),
        *((id, id) for id in ("7.rsc", "7.prefetch.rsc", "7.segments", "7.json", "7.action", "_payload.json")),
        *((id, id) for id in ("__data.json", "con", "nul", "web.config", "7.axd", "7.aspx", "7.svc", "7.manifest")),
        *((id, id) for id in ("7.data", "7.data.data", "_root.data", "7.DATA", "7-data")),
        ("%37", "7"),
        ("7%2E", "7."),
        ("7%7E", "7~"),
        ("7%2Edata", "7.data"),
    ],
)
def test_an_id_is_what_its_plain_characters_say(ruleset: RuleSet, spelled: str, name: str) -> None:
    """To Next.js, too, in pages and in route handlers; ASP.NET takes none of them for 7 but `7`, `%37` and `07`, which
    `values: integer` refuses. React Router alone cuts `.data`: its mount says so."""
    told = answer(ruleset, request("POST", f"/docs/{spelled}"), NOBODY)

    assert (told.decision, told.resource) == ("forwarded", f"doc/{name}")


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("/docs/update/7?x=%26Id=8", "forwarded"),
        ("/docs/update/+7", "ambiguous-target"),
        ("/docs/update/7?Id=8", "ambiguous-target"),
        ("/docs/update/7?id[]=8", "ambiguous-target"),
        ("/Docs/Update/7", "no-policy"),
    ],
)
def test_asp_net_binds_the_id_of_the_path(ruleset: RuleSet, target: str, decision: str) -> None:
    """It knows no case: what its router would take is no other rule's."""
    assert answer(ruleset, request("POST", target), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("target", "field", "body", "decision"),
    [
        ("/docs/7", JSON, '{"doc":{"title":"a"}}', "forwarded"),
        ("/docs/7", JSON, '{"doc":{"title":"a&owner=8&"}}', "forwarded"),
        ("/docs/7", JSON, '{"doc":{"owner":1}}', "no-policy"),
        ("/docs/7?doc[owner]=8", JSON, '{"doc":{"title":"a"}}', "no-policy"),
        ("/docs/7", FORM, "doc[owner]=8", "ambiguous-target"),
        ("/docs/7", PARTS, OWNER, "ambiguous-target"),
        ("/docs/7?_method=DELETE", JSON, "{}", "ambiguous-target"),
        ("/docs/7?id=8", JSON, "{}", "ambiguous-target"),
    ],
)
def test_rails_finds_no_member_that_is_not_listed(
    ruleset: RuleSet, target: str, field: tuple[str, str], body: str, decision: str
) -> None:
    """It takes them from JSON, forms, parts and the query alike. Of text in JSON it makes none, as Bottle would."""
    told = answer(ruleset, request("PATCH", target, field, body=body), NOBODY)

    assert told.decision == decision


@pytest.mark.parametrize(
    ("target", "body", "decision"),
    [
        ("/docs/check", '{"dry_run":true}', "passed"),
        ("/docs/check?dry_run=false", '{"dry_run":true}', "ambiguous-target"),
        ("/jobs", '{"job":{"dry_run":true,"name":"a"}}', "passed"),
        ("/jobs", '{"job":{"dry_run":true},"name":"b"}', "passed"),
        ("/jobs", '{"job":{"name":"a"}}', "forwarded"),
        ("/jobs?job[name]=b", '{"job":{"dry_run":true}}', "ambiguous-target"),
        ("/jobs?job=1", '{"job":{"dry_run":true}}', "ambiguous-target"),
        ("/jobs?job%5Bx%5D=b", '{"job":{"name":"a"}}', "ambiguous-target"),
        ("/jobs?[job][name]=b", '{"job":{"name":"a"}}', "ambiguous-target"),
    ],
)
def test_no_query_stands_beside_what_the_body_says(ruleset: RuleSet, target: str, body: str, decision: str) -> None:
    """To Rails the query goes before the body. With the model's own name in the pointer, what it wraps is seen."""
    assert answer(ruleset, request("POST", target, JSON, body=body), NOBODY).decision == decision


@pytest.mark.parametrize("target", ["/admin/x.data", "/admin/_root.data", "/admin/x/__data.json", "/admin/x.rsc"])
@pytest.mark.parametrize(("method", "decision"), [("GET", "reads-denied"), ("POST", "no-policy")])
def test_data_of_pages_below_what_is_closed_is_closed(
    ruleset: RuleSet, target: str, method: str, decision: str
) -> None:
    """React Router and SvelteKit read a page's data there. (`/admin.data` and `/_next/data/…` are other paths.)"""
    assert answer(ruleset, request(method, target), NOBODY).decision == decision
