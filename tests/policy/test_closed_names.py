"""A name or value that a policy closes: in each spelling in which some server reads it, it is closed or refused."""

import json

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /}
closed:
  - {match: "PUT /query/{id}", when: {query: {sudo: {present: true}}}}
  - {match: "PUT /header/{id}", when: {header: {x-admin: {present: true}}}}
  - {match: "PUT /json/{id}", when: {json: {/published_at: {present: true}}}}
  - {match: "PUT /json/{id}", when: {json: {/level: 3}}}
  - {match: "PUT /task/{id}", when: {json: {/task: {present: true}}}}
  - {match: "PUT /task/{id}", when: {form: {task: {present: true}}}}
writes:
  - {name: put, match: "PUT /{kind}/{id}", resource: "doc/{path.id}", values: integer}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("names"), HEAD + POLICY)


def found(ruleset: RuleSet, target: str, *fields: tuple[str, str], body: str | None = None) -> str:
    return name_of(ruleset.match(request("PUT", target, *fields, body=body), NOBODY))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *((name, "no-policy") for name in ("sudo", "%73udo", "sud%6F")),
        *((name, "ambiguous-target") for name in ("SUDO", "Sudo", "%C5%BFudo", "_sudo", "sudo_", "-sudo", "su_do")),
        *((name, "ambiguous-target") for name in (".sudo", "sudo.", "sudo.x", "su.do", "[sudo]", "sudo[]", "sudo]")),
        *((name, "ambiguous-target") for name in ("sudo[", "+sudo", "sudo+", "su+do", "su%09do", "%20sudo")),
        *((name, "ambiguous-target") for name in ("%00sudo", "sudo%00x", "sudo%E2%80%8B", "%EF%BB%BFsudo")),
        *((name, "ambiguous-target") for name in ("!sudo", "@sudo", "$sudo", "%3Fsudo", "sudo:int", "sudo(1i)")),
        *((name, "put") for name in ("pseudo", "sudoer", "x.sudo", "x[sudo]", "su")),
    ],
)
def test_a_query_is_read_as_servers_read_it(ruleset: RuleSet, name: str, told: str) -> None:
    """PHP, Rack, qs, Spring, OData, Zope and Rails each read another spelling so; another name is none."""
    assert found(ruleset, f"/query/7?{name}=1") == told
    assert found(ruleset, f"/query/7?a=1&{name}=&b=2") == told
    assert found(ruleset, f"/other/7?{name}=1") == "put"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        *(("X-Admin", value, "no-policy") for value in ("1", "", "false", "0")),
        ("x-admin", "1", "no-policy"),
        *((name, "1", "ambiguous-target") for name in ("X_Admin", "X.Admin", "x~admin", "X_ADMIN")),
        *((name, "1", "put") for name in ("X-Admins", "Y-Admin")),
    ],
)
def test_a_header_is_there_whatever_its_value(ruleset: RuleSet, name: str, value: str, told: str) -> None:
    """An empty one too; what some gateway interface makes of its name is refused."""
    assert found(ruleset, "/header/7", (name, value)) == told


@pytest.mark.parametrize(
    ("member", "told"),
    [
        *((name, "no-policy") for name in ("published_at", "publ\\u0069shed_at")),
        *((name, "ambiguous-target") for name in ("publishedAt", "PublishedAt", "published-at", "PUBLISHED_AT")),
        *(
            (name, "ambiguous-target")
            for name in ("@published_at", "published_at(1i)", "published_at[]", "publishedat")
        ),
        *((name, "put") for name in ("published", "published_at_all", "unpublished_at")),
    ],
)
def test_a_member_is_read_as_frameworks_read_it(ruleset: RuleSet, member: str, told: str) -> None:
    """Rails with camel-case keys, Spring and FastAPI with aliases."""
    assert found(ruleset, "/json/7", body=f'{{"{member}": "2026-01-02"}}') == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *((value, "no-policy") for value in ("3", "3.0", "3e0")),
        *((value, "ambiguous-target") for value in ('"3"', '"03"', '"3abc"', "3.7", "[3]", "true")),
        *((value, "put") for value in ("4", "2", "null")),
    ],
)
def test_a_value_is_read_as_frameworks_cast_it(ruleset: RuleSet, value: str, told: str) -> None:
    """To an integer column `"3abc"` and 3.7 are 3."""
    assert found(ruleset, "/json/7", body=f'{{"level": {value}}}') == told


@pytest.mark.parametrize(
    "name", ["ta\\u017fk", "tas\\u212a", "TASK", "\\ufeffTask", "task\\u200b", "t\\u0061sk\\u0000"]
)
def test_letters_that_fold_to_others_are_those(ruleset: RuleSet, name: str) -> None:
    """A long s, the sign for kelvin, a mark of byte order, what has no width; in JSON and in forms."""
    assert found(ruleset, "/task/7", body=f'{{"{name}": 1}}') == "ambiguous-target"
    text: str = json.loads(f'"{name}"')
    escaped = "".join(f"%{byte:02X}" for byte in text.encode())
    assert found(ruleset, "/task/7", FORM, body=f"{escaped}=1") == "ambiguous-target"


@pytest.mark.parametrize("body", ['{"a\\ud800": 1}', '{"a": "x\\ud800"}', '{"a\\u0000": 1}', '{"a": 1} {"task": 1}'])
def test_what_is_no_text_or_no_single_document_is_refused(ruleset: RuleSet, body: str) -> None:
    """A lone surrogate, a NUL in a name, a second document. A value may be what it likes: its name is closed."""
    assert found(ruleset, "/task/7", body=body) == "ambiguous-target"
    assert found(ruleset, "/task/7", body='{"task": "7\\u0000"}') == "no-policy"
