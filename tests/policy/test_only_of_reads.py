"""What passes without a token says what its entry lists and nothing else, whatever some server would make of it."""

import json

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, Refused
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
read_only:
  - {match: POST /jobs, when: {json: {/dry_run: true}}, only: {json: [/dry_run, /name, /rows/id]}}
  - {match: POST /runs, when: {query: {DryRun: "true"}}, only: {query: [DryRun]}}
  - {match: POST /tries, when: {form: {DryRun: "true"}}, only: {form: [DryRun, Name]}}
  - {match: "POST /docs/{id}", when: {query: {"/save": ""}}, only: {query: [/save], form: [title]}}
  - {match: POST /run/preview, only: {json: [/data, /session_hash]}}
  - {match: "POST /{any...}"}
  - {match: "DELETE,PATCH /pods/{pod}", when: {query: {dryRun: All}}, only: {query: [dryRun], json: []}}
  - {match: "QUERY /find", only: {json: [/text], query: [page]}}
writes:
  - {name: jobs, match: POST /jobs, resource: jobs}
  - {name: runs, match: POST /runs, resource: runs}
  - {name: tries, match: POST /tries, resource: tries}
  - {name: doc, match: "POST /docs/{id}", resource: "doc/{path.id}"}
  - {name: pod, match: "DELETE,PATCH /pods/{pod}", resource: "pod/{path.pod}"}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")
JSON = ("Content-Type", "application/json")
TEXT = ("Content-Type", "text/plain")
BYTES = ("Content-Type", "application/octet-stream")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("reads"), HEAD + POLICY)


def found(ruleset: RuleSet, asked: str, body: object, *fields: tuple[str, str]) -> str:
    method, target = asked.split(" ")
    sent = body if body is None or isinstance(body, str) else json.dumps(body)
    return name_of(ruleset.match(request(method, target, *fields, body=sent), Caller()))


@pytest.mark.parametrize(
    ("asked", "body", "told"),
    [
        ("POST /jobs", {"dry_run": True}, "read"),
        ("POST /jobs", {"dry_run": True, "name": "a", "rows": [{"id": 7}]}, "read"),
        ("POST /jobs", {"dry_run": False, "owner": 8}, "jobs"),
        ("POST /jobs", {"dry_run": True, "name": "a", "job": {"name": "b"}}, "no-policy"),
        ("POST /jobs", {"dry_run": True, "job": {}}, "no-policy"),
        ("POST /jobs", {"dry_run": True, "rows": [{"id": 7, "owner": 8}]}, "no-policy"),
        ("POST /jobs", {"dry_run": True, "fn_index": 1}, "no-policy"),
        ("POST /jobs?job[name]=c", {"dry_run": True}, "no-policy"),
        ("POST /jobs?name=c", {"dry_run": True}, "no-policy"),
    ],
)
def test_members_beside_the_one_that_is_looked_at(ruleset: RuleSet, asked: str, body: object, told: str) -> None:
    """Rails reads no member at the top any more once the model's name is there, in the body or in the query."""
    assert found(ruleset, asked, body) == told


@pytest.mark.parametrize(
    ("asked", "body", "fields", "told"),
    [
        ("POST /runs?DryRun=true", None, (), "read"),
        ("POST /runs?DryRun=true", "", (FORM,), "read"),
        ("POST /runs?DryRun=true", {}, (), "read"),
        ("POST /runs?DryRun=false&x=1", None, (), "runs"),
        ("POST /runs?DryRun=true&job.x=1", None, (), "no-policy"),
        ("POST /runs?DryRun=true&job[x]=1", None, (), "no-policy"),
        ("POST /runs?DryRun=true", "job.Name=a", (FORM,), "no-policy"),
        ("POST /runs?DryRun=true", {"job": {"Name": "a"}}, (), "no-policy"),
        ("POST /runs?DryRun=true", "x", (BYTES,), "ambiguous-target"),
        ("POST /runs?DryRun=true", "x", (TEXT,), "ambiguous-target"),
        ("POST /tries", "DryRun=true", (FORM,), "read"),
        ("POST /tries", "DryRun=true&Name=a", (FORM,), "read"),
        ("POST /tries", "DryRun=false&job.x=1", (FORM,), "tries"),
        ("POST /tries", "DryRun=true&job.x=1", (FORM,), "no-policy"),
        ("POST /tries", "DryRun=true&job[DryRun]=false", (FORM,), "no-policy"),
        ("POST /tries?job.x=1", "DryRun=true", (FORM,), "no-policy"),
    ],
)
def test_a_prefix_beside_the_name_that_is_looked_at(
    ruleset: RuleSet, asked: str, body: object, fields: tuple[tuple[str, str], ...], told: str
) -> None:
    """ASP.NET reads no plain name any more once one begins with its parameter's. A body, of which nothing is listed
    beside the query, says nothing."""
    assert found(ruleset, asked, body, *fields) == told


@pytest.mark.parametrize(
    ("asked", "body", "told"),
    [
        ("POST /docs/7?/save", None, "read"),
        ("POST /docs/7?/save", "title=a", "read"),
        ("POST /docs/7?/publish", None, "doc"),
        ("POST /docs/7?/publish&/save", None, "ambiguous-target"),
        ("POST /docs/7?/publish=&/save=", None, "ambiguous-target"),
        ("POST /docs/7?/save&x=1", None, "no-policy"),
        ("POST /docs/7?/save", "title=a&owner=8", "no-policy"),
    ],
)
def test_an_action_beside_the_one_that_is_looked_at(ruleset: RuleSet, asked: str, body: str | None, told: str) -> None:
    """SvelteKit runs the first."""
    assert found(ruleset, asked, body, *((FORM,) if body else ())) == told


@pytest.mark.parametrize(
    ("asked", "body", "fields", "told"),
    [
        ("POST /run/preview", {"data": ["x"], "session_hash": "s"}, (), "read"),
        ("POST /run/preview", None, (), "read"),
        ("POST /run/preview", None, (JSON, ("Content-Length", "9")), "needs body"),
        ("POST /run/preview", None, (("Transfer-Encoding", "chunked"),), "needs body"),
        ("POST /run/preview", {"data": ["x"], "fn_index": 1}, (), "no-policy"),
        ("POST /run/preview?fn_index=1", {"data": ["x"]}, (), "no-policy"),
        ("POST /run/preview", "data=1", (FORM,), "ambiguous-target"),
        ("POST /run/preview", "data=1", (TEXT,), "ambiguous-target"),
        ("POST /run/preview", "x", (BYTES, ("Content-Length", "1")), "ambiguous-target"),
        ("POST /run/other", {"fn_index": 1}, (), "read"),
        ("QUERY /find?page=2", {"text": "x"}, (), "read"),
        ("QUERY /find?page=2&q=1", {"text": "x"}, (), "no-policy"),
        ("QUERY /find", {"owner": 8}, (), "no-policy"),
    ],
)
def test_a_read_by_its_path_alone_has_its_body_read(
    ruleset: RuleSet, asked: str, body: object, fields: tuple[tuple[str, str], ...], told: str
) -> None:
    """Of whatever method and type. Gradio runs the function that the body names, not the path's; no looser entry takes
    what is refused."""
    assert found(ruleset, asked, body, *fields) == told


@pytest.mark.parametrize(
    ("asked", "body", "told"),
    [
        ("PATCH /pods/a?dryRun=All", None, "read"),
        ("PATCH /pods/a?dryRun=All", {}, "read"),
        ("PATCH /pods/a?dryRun=All", {"spec": {}}, "no-policy"),
        ("DELETE /pods/a?dryRun=All", None, "read"),
        ("DELETE /pods/a?dryRun=All", {}, "ambiguous-target"),
        ("DELETE /pods/a?dryRun=All&force=1", None, "no-policy"),
        ("DELETE /pods/a%26x?dryRun=All", None, "ambiguous-target"),
    ],
)
def test_other_methods_than_post(ruleset: RuleSet, asked: str, body: object, told: str) -> None:
    """A DELETE's body may take the place of its query, though it says nothing: Kubernetes then reads no query."""
    assert found(ruleset, asked, body) == told


def test_the_log_is_told_which_entry_it_was(ruleset: RuleSet) -> None:
    """The agent is told what is too much, and how to send it."""
    refused = ruleset.match(request("POST", "/run/preview", body='{"fn_index": 1}'), Caller())

    assert isinstance(refused, Refused)
    assert refused.decision is NO_POLICY
    assert (
        "the body has '/fn_index', which the policy does not list for this request. Send it without" in refused.detail
    )
    assert refused.why is not None
    assert refused.why.startswith("read_only at ")
