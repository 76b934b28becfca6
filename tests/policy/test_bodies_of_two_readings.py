"""Bodies that say one thing as JSON and another as a form: a policy sees in both what it closes and what it names."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

FORM = ("Content-Type", "application/x-www-form-urlencoded")
JSON = ("Content-Type", "application/json")
CLOSED_JSON = """\
mount: {path: /d}
closed: [{match: "PUT /d/{id}", when: {json: {/archived: {present: true}}}}]
writes: [{name: write, match: "PUT /d/{id}", resource: "d/{path.id}"}]
"""
CLOSED_FORM = CLOSED_JSON.replace("json: {/archived", "form: {archived")
MERGED = """\
mount: {path: /d, names: merged}
writes: [{name: write, match: "PUT /d/{id}", resource: "d/{path.id}"}]
"""
NAMED = """\
mount: {path: /d}
writes: [{name: write, match: "PUT /d/{id}", resource: "d/{form.doc}"}]
"""


POLICIES = {"closed json": CLOSED_JSON, "closed form": CLOSED_FORM, "merged": MERGED, "named": NAMED}


def written(ruleset: RuleSet, header: tuple[str, str], body: str) -> str:
    """The resource that is written, or the name of the refusal."""
    asked = request("PUT", "/d/7", header, body=body)
    matched = ruleset.match(asked, Caller())
    if not isinstance(matched, Matched):
        return name_of(matched)
    resource = ruleset.resolve(matched, asked, Caller())
    return name_of(resource) if isinstance(resource, Refused) else resource


@pytest.mark.parametrize(
    ("policy", "header", "body", "found"),
    [
        ("closed json", FORM, '{"archived":true}', "ambiguous-target"),
        ("closed json", FORM, ' \n{"archived": true, "x": "="}', "ambiguous-target"),
        ("closed json", FORM, '[{"archived":true}]', "ambiguous-target"),
        ("closed json", FORM, '{"title":1}', "ambiguous-target"),
        ("closed json", FORM, "title=1", "d/7"),
        ("merged", FORM, '{"id":8}', "ambiguous-target"),
        ("merged", FORM, "id=7", "d/7"),
        ("named", FORM, '{"a":"&doc=7&b=","doc":8}', "ambiguous-target"),
        ("named", FORM, "doc=8", "d/8"),
        ("closed form", JSON, '{"x":"&archived=1&y="}', "ambiguous-target"),
        ("closed form", JSON, '{"x":";Archived[]=1;y="}', "ambiguous-target"),
        ("closed form", JSON, '{"x":"\\u0026archived=1"}', "d/7"),
        ("closed form", JSON, '{"x":"&y=archived"}', "d/7"),
    ],
)
def test_json_called_a_form_is_neither_and_json_with_a_form_in_it_is_both(
    tmp_path: Path, policy: str, header: tuple[str, str], body: str, found: str
) -> None:
    """Curl's `-d` calls all it sends a form, and servers that parse any body do not ask what it is called."""
    assert written(rules(tmp_path, HEAD + POLICIES[policy]), header, body) == found


def test_an_api_that_reads_json_as_json_alone_finds_no_form_in_it(tmp_path: Path) -> None:
    """As its policy says: then a text may have an `&`."""
    ruleset = rules(tmp_path, HEAD + CLOSED_FORM.replace("path: /d}", "path: /d, form_in_json: opaque}"))

    found = [written(ruleset, JSON, body) for body in ('{"x":"&archived=1&y="}', '{"archived":1}')]

    assert found == ["d/7", "ambiguous-target"]
