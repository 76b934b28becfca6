"""Entries of one path that look at different kinds of bodies."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.advised.two_kinds import two_kinds
from tests.policy.asking import HEAD, name_of, request, rules

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
OF_JSON = f"header: {{content-type: {JSON}}}, json: {{/kind: purge}}"
OF_FORM = f"header: {{content-type: {FORM}}}, form: {{kind: purge}}"


def closing(*conditions: str) -> str:
    entries = "".join(f"  - {{match: 'PUT,POST /docs/{{id}}', when: {{{one}}}}}\n" for one in conditions)
    put = "  - {name: put, match: 'PUT /docs/{id}', resource: 'doc/{path.id}'}\n"
    return f"{HEAD}closed:\n{entries}writes:\n{put}"


@pytest.mark.parametrize(
    ("conditions", "is_told"),
    [
        (("json: {/kind: purge}", "form: {kind: purge}"), True),
        (("json: {/kind: purge}", OF_FORM), True),
        ((f"header: {{content-type: [{JSON}, {FORM}]}}, json: {{/kind: purge}}", OF_FORM), True),
        ((OF_JSON, OF_FORM), False),
        (("header: {x-kind: a}, json: {/kind: purge}", "header: {x-kind: b}, form: {kind: purge}"), False),
        (("json: {/kind: purge}", "form: {kind: {present: true}}"), False),
        (("json: {/kind: purge}", "json: {/kind: drop}"), False),
    ],
)
def test_two_kinds_of_one_path_have_to_be_told_apart(
    tmp_path: Path, conditions: tuple[str, ...], is_told: bool
) -> None:
    """By what is told of them before they are read."""
    found = list(two_kinds(rules(tmp_path, closing(*conditions))))

    assert [(one.line, one.severity) for one in found] == ([(4, "warning")] if is_told else [])


def test_so_are_rules(tmp_path: Path) -> None:
    """Of another path, or of another method, they meet no request together."""
    form = "when: {form: {kind: a}}"
    others = "".join(
        f"  - {{name: r{at}, match: '{match}', resource: x, {form}}}\n"
        for at, match in enumerate(("PUT /docs/{a}/b", "DELETE /docs/{a}", "PUT /docs/{key}"))
    )
    found = list(two_kinds(rules(tmp_path, closing("json: {/kind: purge}") + others)))

    assert [one.message.partition(" at ")[0] for one in found] == ["this looks"]
    assert "rule r2" in found[0].message


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        *((kind, '{"kind": "purge"}', "no-policy") for kind in (JSON, f"{JSON}; charset=utf-8")),
        *((FORM, body, "no-policy") for body in ("kind=purge", "a=1&kind=purge")),
        *((JSON, body, "put") for body in ('{"kind": "x"}', "{}")),
        *((FORM, body, "put") for body in ("kind=x", "a=1")),
        *((kind, body, "ambiguous-target") for kind, body in ((FORM, '{"kind": "purge"}'), (JSON, "kind=purge"))),
        *(("Application/JSON", body, "ambiguous-target") for body in ("{}", "kind=purge")),
    ],
)  # fmt: skip
def test_each_is_closed_by_its_own_entry(tmp_path: Path, kind: str, body: str, told: str) -> None:
    """As the warning says; what is not of its type is refused."""
    ruleset = rules(tmp_path, closing(OF_JSON, OF_FORM))

    assert name_of(ruleset.match(request("PUT", "/docs/7", ("Content-Type", kind), body=body), NOBODY)) == told
