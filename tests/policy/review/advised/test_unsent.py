"""What reads a body that its API is not sent takes no request."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.unsent import unsent_bodies
from tests.policy.asking import HEAD, rules

JSON = "{name: r, match: PUT /x, resource: 'x/{json:/id}', values: any}"
FORM = "{name: r, match: PUT /x, resource: 'x/{form.id}', values: any}"
WHEN = "{name: r, match: PUT /x, resource: x, when: {json: {/a: 1}}}"
GRAPHQL = "{name: r, match: POST /graphql, resource: x, when: {graphql: mutation}}"
PLAIN = "{name: r, match: PUT /x, resource: x}"


@pytest.mark.parametrize(
    ("bodies", "rule", "told"),
    [
        ("[form]", JSON, ["json"]),
        ("[form]", WHEN, ["json"]),
        ("[]", GRAPHQL, ["json"]),
        ("[json, multipart]", FORM, ["form"]),
        ("[form]", PLAIN, []),
        ("[json]", JSON, []),
        ("[application/json]", WHEN, []),
        ("[form]", FORM, []),
        ("any", JSON, []),
    ],
)
def test_a_rule_of_another_kind_of_body(tmp_path: Path, bodies: str, rule: str, told: list[str]) -> None:
    """The warning names what to add."""
    found = list(unsent_bodies(rules(tmp_path, f"{HEAD}mount: {{bodies: {bodies}}}\nwrites:\n  - {rule}\n")))

    assert [one.message.partition("add `")[2].partition("`")[0] for one in found] == told
    assert all(one.severity == "warning" for one in found)


def test_what_changes_nothing_is_looked_at_and_what_is_closed_is_not(tmp_path: Path) -> None:
    """That of another kind is refused is what the latter wants."""
    entries = (
        "read_only: [{match: POST /a, when: {json: {/a: 1}}}]\nclosed: [{match: POST /a, when: {json: {/b: 1}}}]\n"
    )

    found = list(unsent_bodies(rules(tmp_path, f"{HEAD}mount: {{bodies: [form]}}\n{entries}writes: []\n")))

    assert [(one.line, one.message.startswith("this reads JSON")) for one in found] == [(4, True)]
