"""How a rule's resource spells its values."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY, Caller
from gateway.policy.match import Read
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}defaults: {{values: integer}}
writes:
  - {{name: doc, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", revision: gateway}}
  - {{name: item, match: "PUT /{{list}}/i/{{id}}", resource: "{{path.list}}/i/{{path.id}}", values: {{path.id: word}}}}
  - {{name: word, match: "PUT /words/{{id}}", resource: "word/{{path.id}}", values: word}}
  - {{name: file, match: "PUT /files/{{at...}}", resource: "file/{{path.at}}", values: word}}
  - {{name: any, match: "PUT /any/{{id}}", resource: "any/{{path.id}}", values: any}}
  - {{name: open, match: "PUT /open/o/{{id}}/{{at...}}", resource: "open/{{path.id}}/{{path.at}}", values: {{}}}}
  - {{name: body, match: POST /notes, resource: "note/{{json:/note}}"}}
  - {{name: form, match: POST /form, resource: "note/{{form.note}}"}}
  - {{name: query, match: POST /query, resource: "note/{{query.note}}"}}
  - {{name: own, match: "PUT /own/{{id}}", resource: "own/{{tenant}}/{{path.id}}"}}
  - {{name: bin, match: "PUT /bins/{{a}}/{{b}}", resource: "bin/{{path.a}}-{{path.b}}", values: word}}
  - {{name: all, match: POST /all, resource: all}}
  - {{name: tag, match: "PUT /tags/{{id}}/{{tag}}", resource: "tag/{{path.id}}/{{path.tag}}",
      values: {{path.id: integer, path.tag: [red, soft-delete]}}}}
  - {{name: listed, match: "PUT /colors/{{tag}}", resource: "color/{{path.tag}}", values: [red]}}
  - name: place
    match: ["PUT /docs/{{id}}/level/{{level}}", "PUT /docs/{{id}}/do/{{what}}/{{at...}}"]
    resource: placed/{{path.id}}
    values: {{path.id: integer, path.level: integer, path.what: [publish, 1], path.at: lowercase}}
  - {{name: action, match: "POST /docs/{{id}}/{{what}}", resource: "act/{{path.id}}", values: {{path.what: any}}}}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("values"), RULES)


@pytest.mark.parametrize(
    ("target", "resource"),
    [
        ("/docs/7", "doc/7"),
        ("/docs/%37", "doc/7"),
        ("/docs/07", None),
        ("/docs/+7", None),
        ("/docs/7:archive", None),
        ("/docs/7,8", None),
        ("/docs/*", None),
        ("/a.b/i/pi_1", "a.b/i/pi_1"),
        ("/a.b/i/pi.1", None),
        ("/words/_all", "word/_all"),
        ("/words/7:archive", None),
        ("/files/a/b-c", "file/a/b-c"),
        ("/files/a/b.c", None),
        ("/files/a%20b/c", None),
        ("/any/7:archive", "any/7:archive"),
        ("/open/o/A.b_c-d~9/e/f", "open/A.b_c-d~9/e/f"),
        ("/open/o/%41/e", "open/A/e"),
        ("/open/o/A/e%20f", None),
        ("/open/o/caf%C3%A9/e", None),
        ("/open/o/%D9%A7/e", None),
        ("/open/o/a%2Bb/e", None),
        ("/open/o/7./e", "open/7./e"),
        ("/open/o/7%2E/e", "open/7./e"),
        ("/open/o/a:b/e", None),
        ("/open/o/a,b/e", None),
        ("/open/o/a@b/e", None),
        ("/open/o/a+b/e", None),
        ("/open/o/*/e", None),
        ("/own/7", "own/t.e@n/7"),
        ("/bins/a-b/c", "bin/a%2Db-c"),
        ("/own/x", None),
        ("/tags/7/red", "tag/7/red"),
        ("/tags/7/soft-delete", "tag/7/soft-delete"),
        *((f"/tags/7/{tag}", None) for tag in ("RED", "0", "soft_delete", "red,soft-delete")),
        ("/colors/red", "color/red"),
        ("/colors/blue", None),
        ("/docs/7/level/3", "placed/7"),
        *((f"/docs/7/level/{level}", None) for level in ("03", "0_3", "three", "3%20", "+3")),
        ("/docs/07/level/3", None),
        *((f"/docs/7/do/{what}", "placed/7") for what in ("publish/a/b", "1/a", "%70ublish/a")),
        *((f"/docs/7/do/{what}", None) for what in ("Publish/a", "01/a", "2/a", "publish/a/B", "publish,1/a")),
    ],
)
def test_each_value_of_a_resource_has_its_form(ruleset: RuleSet, target: str, resource: str | None) -> None:
    """By the rule's own, or that under `defaults`; a tenant's name is the policy's to spell."""
    said = answer(ruleset, request("PUT", target), Caller("p", "t.e@n"))

    assert (said.decision, said.resource) == ("forwarded" if resource else "ambiguous-target", resource)


@pytest.mark.parametrize(
    ("note", "resource"),
    [
        ("7", "note/7"),
        ('"7"', "note/7"),
        ('"07"', None),
        ('"+7"', None),
        ('"7.0"', None),
        ('" 7"', None),
        ('"0_7"', None),
        ("7.5", None),
        ("-7", None),
    ],
)
def test_a_number_and_its_digits_are_one(ruleset: RuleSet, note: str, resource: str | None) -> None:
    """What SDKs make 7 of is no resource of its own."""
    said = answer(ruleset, request("POST", "/notes", body=f'{{"note": {note}}}'), NOBODY)

    assert (said.decision, said.resource) == ("forwarded" if resource else "ambiguous-target", resource)


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        ('{"note": 7.0}', "resource-unresolved"),
        ('{"note": 7e0}', "resource-unresolved"),
        ('[{"note": 7}]', "resource-unresolved"),
        ('{"Note": 7}', "ambiguous-target"),
        ('{"note": 7, "Note": 8}', "ambiguous-target"),
    ],
)
def test_a_body_that_names_no_integer_plainly_has_no_resource(ruleset: RuleSet, body: str, decision: str) -> None:
    """Readers would make 7 of some, and look into a list's first."""
    said = answer(ruleset, request("POST", "/notes", body=body), NOBODY)

    assert (said.decision, said.resource) == (decision, None)


def test_fields_and_parameters_have_the_form_too(ruleset: RuleSet) -> None:
    """Wherever a rule takes them from."""
    kind = ("Content-Type", "application/x-www-form-urlencoded")

    assert answer(ruleset, request("POST", "/form", kind, body="note=7"), NOBODY).resource == "note/7"
    assert answer(ruleset, request("POST", "/form", kind, body="note=07"), NOBODY).decision == "ambiguous-target"
    assert answer(ruleset, request("POST", "/query?note=7"), NOBODY).resource == "note/7"
    assert answer(ruleset, request("POST", "/query?note=07"), NOBODY).decision == "ambiguous-target"
    assert answer(ruleset, request("POST", "/all"), NOBODY).resource == "all"


def test_what_names_no_resource_is_told_likewise(ruleset: RuleSet) -> None:
    """Where a form is said of it; `any` says none."""
    said = answer(ruleset, request("PUT", "/docs/7/do/purge/a"), NOBODY)

    assert said.detail is not None
    assert "`what` of the path is none of `1`, `publish`, which the policy lists" in said.detail
    assert said.see == "policies/README.md#what-ids-look-like"
    assert answer(ruleset, request("POST", "/docs/7/a:b"), NOBODY).decision == "forwarded"


def test_the_refusal_says_why(ruleset: RuleSet) -> None:
    """And what to send."""
    said = answer(ruleset, request("PUT", "/docs/07"), NOBODY)

    assert said.rule == "doc"
    assert said.detail is not None
    assert "`id` of the path, a part of the resource's name, is no integer in plain digits" in said.detail
    assert "send it as the API does" in said.detail


def test_a_read_of_another_spelling_shows_no_count(ruleset: RuleSet) -> None:
    """It passes: what it shows is for the API to say."""
    for target, counted in (("/docs/7", "doc/7"), ("/docs/07", None)):
        read = ruleset.match(request("GET", target), NOBODY)
        assert isinstance(read, Read)
        assert read.counted == counted


@pytest.mark.parametrize(
    ("resource", "is_made"),
    [
        ("doc/7", True),
        ("doc/07", False),
        ("doc/7:archive", False),
        ("word/a", True),
        ("file/a/b", True),
        ("file/a.b", False),
        ("own/default/7", True),
        ("bin/a%2Db-c", True),
        ("bin/a%2Eb-c", False),
        ("own/default/x", False),
        ("any/7:archive", True),
    ],
)
def test_no_lease_is_granted_for_another_spelling(ruleset: RuleSet, resource: str, is_made: bool) -> None:
    """No write could have that resource."""
    assert (ruleset.rule_for_resource(resource, None) is not None) is is_made


def test_of_two_rules_with_one_resource_each_has_its_own_form(tmp_path: Path) -> None:
    """Whichever stands first, and for what a read counts too."""
    ruleset = rules(
        tmp_path,
        f"""{HEAD}defaults: {{revision: gateway}}
writes:
  - {{name: strict, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
  - {{name: loose, match: "POST /docs/{{id}}", resource: "doc/{{path.id}}"}}
""",
    )

    assert answer(ruleset, request("PUT", "/docs/x"), NOBODY).decision == "ambiguous-target"
    assert answer(ruleset, request("POST", "/docs/x"), NOBODY).resource == "doc/x"
    assert ruleset.rule_for_resource("doc/x", None) is not None
    read = ruleset.match(request("GET", "/docs/x"), NOBODY)
    assert isinstance(read, Read)
    assert read.counted is None


@pytest.mark.parametrize(
    ("mount", "values", "taken"),
    [
        ("{path: /}", "", False),
        ("{path: /}", "    values: any\n", True),
        ("{path: /}", "    values: {json:/x: any}\n", False),
        ("{path: /, encoded_slash: opaque}", "", True),
        ("{path: /, delimiters: opaque}", "", True),
        ("{path: /, plus: opaque}", "", True),
        ("{path: /, delimiters: opaque}", "    values: unreserved\n", False),
    ],
)
def test_where_nothing_is_said_a_path_has_unreserved_characters_alone(
    tmp_path: Path, mount: str, values: str, taken: bool
) -> None:
    """In all others servers differ (RFC 3986, section 2.3): a blank, `+`, `:`, `,` and `@` are escaped by some and have
    a meaning to others. A mount that takes delimiters as they are takes them all; what a body says is no path."""
    policy = f"{HEAD}mount: {mount}\nwrites:\n  - name: one\n    match: PUT /x/{{id}}\n"
    ruleset = rules(tmp_path, f"{policy}    resource: 'x/{{path.id}}/{{json:/x}}'\n{values}")

    said = answer(ruleset, request("PUT", "/x/a:b", body='{"x": "a b"}'), NOBODY)

    assert (said.decision, said.resource) == (("forwarded", "x/a:b/a b") if taken else ("ambiguous-target", None))


@pytest.mark.parametrize(
    ("more", "header", "taken"),
    [
        ("", ("X-Vault-Namespace", "ns1"), True),
        ("", ("X-Vault-Namespace", "ns1/"), False),
        ("", ("X-Vault-Namespace", "/ns1"), False),
        ("", ("X-Vault-Namespace", "./ns1"), False),
        (
            "mount: {path: /, encoded_slash: opaque, delimiters: opaque, plus: opaque}\n",
            ("X-Vault-Namespace", "/"),
            False,
        ),
        ("defaults: {values: any}\n", ("X-Vault-Namespace", "ns1/"), True),
        ("defaults: {values: {header.x-vault-namespace: any}}\n", ("X-Vault-Namespace", "ns1/"), True),
        ("", ("Idempotency-Key", "a/b:c"), True),
    ],
)
def test_so_has_a_header(tmp_path: Path, more: str, header: tuple[str, str], taken: bool) -> None:
    """Vault trims the slashes of a namespace. What a mount says of paths is said of no header, and an idempotency key
    is the caller's own."""
    name = header[0].lower()
    policy = f"{HEAD}{more}writes:\n  - {{name: one, match: PUT /x, resource: 'x/{{header.{name}}}'}}\n"

    said = answer(rules(tmp_path, policy), request("PUT", "/x", header), NOBODY)

    assert said.decision == ("forwarded" if taken else "ambiguous-target")
