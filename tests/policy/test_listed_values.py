"""All that may stand at a listed name: what is spelled otherwise is another value, whoever reads it as one of these."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, Refused
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, one_rule, request, rules

POLICY = """\
read_only:
  - {match: POST /seen, only: {json: [{/kind: preview}], query: [{mode: soft}]}}
writes:
  - name: query
    match: PUT /q/{id}
    resource: q/{path.id}
    only: {query: [page, {mode: [soft, "", two words]}, {"f[kind]": [1, b]}]}
  - name: body
    match: PUT /b/{id}
    resource: b/{path.id}
    only:
      json:
        - /title
        - {/kind: [preview, publish]}
        - {/level: [1, 2.5, null], /flag: [true], "/a~1b": x}
        - {/labels: [null, [bug, 7]]}
        - {/items/kind: [a]}
        - {/none: [[]]}
  - name: form
    match: PUT /f/{id}
    resource: f/{path.id}
    only: {form: [title, {kind: [preview, ""]}, "tags[]"]}
  - name: header
    match: PUT /h/{id}
    resource: h/{path.id}
    only: {header: [X-Any, {X-Mode: [soft, 1]}, {Accept: [application/json]}, {Cookie: [a=1]}]}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")
PARTS = ("Content-Type", "multipart/form-data; boundary=b")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("values"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        *(
            (query, "query")
            for query in ("", "page=hard", "mode=soft", "mode=so%66t", "mode=", "mode", "mode=two+words")
        ),
        *((query, "query") for query in ("mode=soft&mode=", "f[kind]=1&f%5Bkind%5D=b", "mode=two%20words&page=1")),
        *((f"mode={value}", "no-policy") for value in ("hard", "Soft", "SOFT", "0", "soft,hard", "soft+", "s%C3%B6ft")),
        *(
            (f"mode={value}", "no-policy")
            for value in ("%00soft", "soft%00", "so%2566t", "%E2%80%8Bsoft", "%ff", "so-ft")
        ),
        *((f"mode={value}", "no-policy") for value in ("soft%20", "%73oft%00", "soft%7Chard")),
        *((f"f%5Bkind%5D=1&{query}", "no-policy") for query in ("f[kind]", "f[kind][]=1", "f[x]=1", "f.kind=1")),
        ("mode=soft;mode=hard", "ambiguous-target"),
        *((query, "no-policy") for query in ("mode=soft&mode=hard", "Mode=soft", "mode[]=soft", "f[kind]=01")),
    ],
)
def test_each_parameter_of_a_name_is_one_of_its_values(ruleset: RuleSet, query: str, found: str) -> None:
    """After its escapes are undone once. Enums are read by number, in any case, and from lists."""
    assert name_of(ruleset.match(request("PUT", f"/q/7?{query}"), Caller())) == found


@pytest.mark.parametrize(
    ("member", "taken"),
    [
        ({"title": "hard"}, True),
        *(({"kind": kind}, True) for kind in ("preview", "publish")),
        *(
            ({"kind": kind}, False)
            for kind in ("purge", "Preview", "pre-view", "preview ", "preview, purge", "0", "", "\u200b")
        ),
        *(({"kind": kind}, False) for kind in (0, 1, True, None, [], ["preview"], {}, {"preview": None})),
        *(({"level": level}, True) for level in (1, 2.5, 1.0, None)),
        *(({"level": level}, False) for level in ("1", True, 2, 1.5, [1], 10**30, "null")),
        *(({"flag": flag}, flag is True) for flag in (True, False, 1, "true", "on", None)),
        *(({"a/b": value}, value == "x") for value in ("x", "y")),
        *(({"labels": some}, True) for some in (None, [], ["bug"], [7, "bug", "bug"])),
        *(
            ({"labels": some}, False)
            for some in ("bug", 7, ["Bug"], ["7"], [None], [["bug"]], {"0": "bug"}, ["bug", "x"])
        ),
        *(({"items": items}, True) for items in ([], {"kind": "a"}, [{"kind": "a"}, {"kind": "a"}])),
        *(({"items": items}, False) for items in ({"kind": "A"}, [{"kind": "a"}, {"kind": "b"}], [{"kind": ["a"]}])),
        *(({"none": some}, some == []) for some in ([], [1], None)),
        *(({"kind": kind}, False) for kind in ("preview\0", "\0preview", "preview,", "preview|publish")),
        *(
            ({"items": items}, False)
            for items in ("a", None, ["a"], [[{"kind": "b"}]], [{"kind": "a"}, {"kind": None}])
        ),
    ],
    ids=repr,
)
def test_a_member_is_one_of_its_values(ruleset: RuleSet, member: object, taken: bool) -> None:
    """By type and value: 1 is 1.0, and neither `"1"` nor true. A list only where the policy has one, of whose items
    each is in it; Fastify takes a list of one for what is in it, Jackson adds up the names of a set."""
    found = ruleset.match(request("PUT", "/b/7", body=json.dumps(member)), Caller())

    assert name_of(found) == ("body" if taken else "no-policy")


def test_a_number_is_not_rounded_to_a_value(ruleset: RuleSet) -> None:
    """As most readers would."""
    body = '{"level": 1.00000000000000000001}'

    assert name_of(ruleset.match(request("PUT", "/b/7", body=body), Caller())) == "no-policy"


def test_a_member_says_its_value_once(ruleset: RuleSet) -> None:
    """Of two most take the last, some the first."""
    body = '{"kind": "preview", "kind": "publish"}'

    assert name_of(ruleset.match(request("PUT", "/b/7", body=body), Caller())) == "ambiguous-target"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        *((body, "form") for body in ("title=purge", "kind=preview", "kind=", "kind=pre%76iew&tags[]=a&tags[]=b", "")),
        *(
            (f"kind={value}", "no-policy")
            for value in ("purge", "Preview", "0", "preview,purge", "preview+", "+preview")
        ),
        *((f"title=a&{field}", "no-policy") for field in ("tags[][x]=a", "tags[]x=a", "tags.=a", "kind[]=preview")),
        ("title=a&tags[x=a", "ambiguous-target"),
        ("kind=preview&kind=purge", "ambiguous-target"),
        ("kind", "ambiguous-target"),
        ("Kind=preview", "no-policy"),
    ],
)
def test_a_field_is_one_of_its_values(ruleset: RuleSet, body: str, found: str) -> None:
    """Once, as where a rule looks at it: of two some take the first, some the last."""
    assert name_of(ruleset.match(request("PUT", "/f/7", FORM, body=body), Caller())) == found


@pytest.mark.parametrize(("name", "found"), [("title", "form"), ("kind", "ambiguous-target")])
def test_of_a_part_no_value_is_read(ruleset: RuleSet, name: str, found: str) -> None:
    """A multipart form has no part that is to have one of some values."""
    body = f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\npreview\r\n--b--\r\n'

    assert name_of(ruleset.match(request("PUT", "/f/7", PARTS, body=body), Caller())) == found


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ((), "header"),
        ((("X-Any", "hard"),), "header"),
        ((("x-mode", "soft"),), "header"),
        ((("X-Mode", "1"), ("Accept", "application/json")), "header"),
        *((((("X-Mode", value)),), "no-policy") for value in ("hard", "Soft", "soft,hard", "", "01")),
        *((((("X-Mode", value)),), "no-policy") for value in ("soft, hard", "\xc2\xa0soft", "soft;q=1", '"soft"')),
        ((("X-Mode", "soft"), ("X-Mode", "soft")), "ambiguous-target"),
        ((("X-Mode", "soft"), ("X-Mode", "hard")), "ambiguous-target"),
        ((("X.Mode", "soft"),), "no-policy"),
        ((("Cookie", "a=1"),), "header"),
        *((((("Cookie", value)),), "no-policy") for value in ("a=1; b=2", "a=2", "A=1", "a=1;")),
        ((("Cookie", "a=1"), ("Cookie", "b=2")), "ambiguous-target"),
        ((("X_Mode", "soft"),), "no-policy"),
        ((("X-Mode", "soft"), ("Connection", "X-Mode")), "ambiguous-target"),
        ((("Accept", "text/html"),), "no-policy"),
    ],
)
def test_a_header_is_one_of_its_values(ruleset: RuleSet, headers: tuple[tuple[str, str], ...], found: str) -> None:
    """Once; also one that need not be listed."""
    assert name_of(ruleset.match(request("PUT", "/h/7", *headers), Caller())) == found


@pytest.mark.parametrize(
    ("target", "kind", "found"),
    [
        ("/seen", "preview", "read"),
        ("/seen", "purge", "no-policy"),
        ("/seen?mode=soft", "preview", "read"),
        ("/seen?mode=hard", "preview", "no-policy"),
    ],
)
def test_so_is_what_a_read_says(ruleset: RuleSet, target: str, kind: str, found: str) -> None:
    """One value stands for a list of one."""
    assert name_of(ruleset.match(request("POST", target, body=json.dumps({"kind": kind})), Caller())) == found


@pytest.mark.parametrize(
    ("target", "body", "told"),
    [
        ("/q/7?mode=hard", None, "'mode' of the query is none of ``, `soft`, `two words`, which the policy lists"),
        ("/b/7", '{"kind": "purge"}', "'/kind' of the body is none of `preview`, `publish`, which the policy lists"),
        ("/b/7", '{"level": "1"}', "'/level' of the body is none of `1`, `2.5`, `null`, which the policy lists"),
        (
            "/b/7",
            '{"labels": 1}',
            "'/labels' of the body is none of `null` and no list of `7`, `bug`, which the policy",
        ),
        ("/b/7", '{"none": 1}', "'/none' of the body is no empty list, which"),
    ],
)
def test_the_refusal_names_what_may_stand_there(ruleset: RuleSet, target: str, body: str | None, told: str) -> None:
    """For whoever sends it."""
    found = ruleset.match(request("PUT", target, body=body), Caller())

    assert isinstance(found, Refused)
    assert found.decision is NO_POLICY
    assert told in found.detail


def test_of_many_values_some_are_named(tmp_path: Path) -> None:
    """And how many there are beside."""
    listed = ", ".join(f"{'v' * 100}{at:03}" for at in range(300))
    ruleset = rules(tmp_path, one_rule(more=f"    only: {{query: [{{mode: [{listed}]}}]}}\n"))
    found = ruleset.match(request("PUT", "/x/7?mode=x"), Caller())

    assert isinstance(found, Refused)
    assert "and 292 more" in found.detail
    assert len(found.detail) < 600
