"""A name or value that a policy closes: in each spelling in which some server reads it, it is closed or refused."""

import json
from urllib.parse import quote

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


BOTH = """\
closed:
  - {match: "PUT /docs/{id}", when: {query: {purge: {present: true}}}}
  - {match: "PUT /docs/{id}", when: {json: {/purge: {present: true}}}}
writes:
  - {name: put, match: "PUT /docs/{id}", resource: "doc/{path.id}", values: integer}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("both"), HEAD + BOTH)


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("application/json", '{"purge": 1}', "no-policy"),
        ("application/json", '{"a": {"purge": 1}}', "put"),
        ("application/x-www-form-urlencoded", "purge=1", "ambiguous-target"),
        ("application/x-www-form-urlencoded", "a=1", "put"),
        ("text/plain", "purge=1", "ambiguous-target"),
        ("text/xml", "purge=1", "ambiguous-target"),
        ("application/xml", "purge=1", "ambiguous-target"),
        ("application/octet-stream", '{"purge": 1}', "ambiguous-target"),
        ("application/merge-patch+json", '{"purge": 1}', "ambiguous-target"),
    ],
)
def test_a_name_closed_in_query_and_json_is_in_no_other_body(both: RuleSet, kind: str, body: str, told: str) -> None:
    """Whatever the body calls itself: some server reads it as the one or the other."""
    assert found(both, "/docs/7", ("Content-Type", kind), body=body) == told


@pytest.mark.parametrize("field", [("Cookie", "purge=1"), ("Cookie", "a=1; Purge"), ("Purge", "1")])
def test_nor_is_it_a_cookie_or_a_header(both: RuleSet, field: tuple[str, str]) -> None:
    """PHP without a `php.ini` and Spring take those for parameters."""
    assert found(both, "/docs/7", field, body="{}") == "ambiguous-target"


FOUR = """\
closed:
  - {match: "PUT /json/{id}", when: {json: {/kind: purge}}}
  - {match: "PUT /form/{id}", when: {form: {kind: purge}}}
  - {match: "PUT /query/{id}", when: {query: {kind: purge}}}
  - {match: "PUT /header/{id}", when: {header: {x-kind: purge}}}
writes:
  - {name: put, match: "PUT /{place}/{id}", resource: "doc/{path.id}", values: integer}
"""


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("four"), HEAD + FOUR)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("purge", "no-policy"),
        *((value, "ambiguous-target") for value in ("purge\0", "purge\0x", "\0purge", "pur\0ge", "purge\n", "purge\t")),
        *((value, "ambiguous-target") for value in (" purge", "purge ", "\u00a0purge", "purge\u3000", "purge\u2028")),
        *((value, "ambiguous-target") for value in ("pur\u200dge", "purge\u200c", "pur\u00adge", "\ufeffpurge")),
        *((value, "ambiguous-target") for value in ("\uff50urge", "purg\u00e9", "purge\u0301", "PURGE", ".purge")),
        *((value, "ambiguous-target") for value in ('"purge"', "%70urge", "%2570urge", "purge#x")),
        *((value, "put") for value in ("purge|x", "purge x", "purge/", "&#112;urge")),
        *((value, "put") for value in ("pu\\u0072ge", '{"purge": 1}', '["purge"]', "preview", "")),
    ],
    ids=ascii,
)
def test_a_text_is_told_alike_wherever_it_stands(four: RuleSet, value: str, told: str) -> None:
    """In JSON, a form, a query and a header: what C ends, what is trimmed, dropped or folded may be the named one."""
    asked = [
        found(four, "/json/7", body=json.dumps({"kind": value})),
        found(four, "/form/7", FORM, body=f"kind={quote(value, safe='')}"),
        found(four, f"/query/7?kind={quote(value, safe='')}"),
        found(four, "/header/7", ("X-Kind", value.encode().decode("latin-1"))),
    ]

    assert asked == [told] * 4


BY_VALUE = """\
mount: {path: /, bodies: [json, form, multipart], names: merged}
closed:
  - {match: "PUT /docs/{pk}", when: {json: {/kind: purge}}}
  - {match: "PUT /docs/{pk}", when: {form: {kind: purge}}}
  - {match: "PUT /level/{pk}", when: {json: {/level: 3}}}
writes:
  - {name: put, match: "PUT /docs/{pk}", resource: "doc/{path.pk}", values: integer, only: LISTED}
  - {name: level, match: "PUT /level/{pk}", resource: "doc/{path.pk}", values: integer}
"""
NAMES = "{query: [], json: [/title, /kind], form: [title, kind], header: []}"
VALUES = "{query: [], json: [/title, {/kind: [preview]}], form: [title, {kind: [preview]}], header: []}"
PART = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n--b--\r\n'


@pytest.fixture(scope="module", params=[NAMES, VALUES], ids=["names", "values"])
def by_value(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """What else is listed makes no difference."""
    return rules(tmp_path_factory.mktemp("value"), HEAD + BY_VALUE.replace("LISTED", request.param))


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("application/json", '{"kind": "purge"}', "no-policy"),
        ("application/json", '{"kind": ["purge"]}', "ambiguous-target"),
        ("application/x-www-form-urlencoded", "kind=purge", "ambiguous-target"),
        ("application/x-www-form-urlencoded", "Kind=purge", "ambiguous-target"),
        ("multipart/form-data; boundary=b", PART.format("kind", "purge"), "ambiguous-target"),
    ],
)
def test_a_value_is_closed_in_json_and_in_forms(by_value: RuleSet, kind: str, body: str, told: str) -> None:
    """Django REST and others read a member in whichever comes; of parts no value is read."""
    assert found(by_value, "/docs/7", ("Content-Type", kind), body=body) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *((value, "no-policy") for value in ("3", "3.0", "3e0", "30e-1")),
        *((value, "ambiguous-target") for value in ("3.5", "2.9", "3.0000000000000000001", '{"a": 3}', "[3]", "true")),
        *(
            (value, "ambiguous-target")
            for value in ('" 3"', '"3 "', '"3.0"', '"+3"', '"0x3"', '"3,"', '"1,2"', '"III"')
        ),
        *((value, "ambiguous-target") for value in ('"\u0663"', '"\uff13"')),
        *((value, "level") for value in ("4294967299", "-3", "null", "30")),
    ],
    ids=ascii,
)
def test_a_number_is_closed_in_every_spelling(by_value: RuleSet, value: str, told: str) -> None:
    """Of whatever type some reader casts to it."""
    assert found(by_value, "/level/7", body=f'{{"level": {value}}}') == told


BY_KIND = """\
mount: {path: /, bodies: [json, form]}
writes:
  - name: put
    match: PUT /docs/{id}
    resource: doc/{path.id}
    values: integer
    only: {json: [/title, {/kind: [preview]}], form: [title, {kind: [preview]}]}
"""


@pytest.fixture(scope="module")
def by_kind(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("kind"), HEAD + BY_KIND)


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", ";charset=UTF-8"])
@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("application/json", '{"kind": "preview", "title": "purge"}', "put"),
        *(
            ("application/json", f'{{"kind": {value}}}', "no-policy")
            for value in ('"purge"', '"Purge"', "3", '["preview"]')
        ),
        ("application/json", '{"Kind": "purge"}', "no-policy"),
        ("application/x-www-form-urlencoded", "kind=preview&title=purge", "put"),
        *(("application/x-www-form-urlencoded", f"kind={value}", "no-policy") for value in ("purge", "Purge", "3")),
        ("application/x-www-form-urlencoded", "Kind=purge", "no-policy"),
        ("application/x-www-form-urlencoded", '{"kind": "purge"}', "ambiguous-target"),
    ],
)
def test_what_is_listed_may_come_in_either_kind_of_body(
    by_kind: RuleSet, charset: str, kind: str, body: str, told: str
) -> None:
    """Where a value is to be kept out of both, a list of the others does it."""
    assert found(by_kind, "/docs/7", ("Content-Type", f"{kind}{charset}"), body=body) == told
