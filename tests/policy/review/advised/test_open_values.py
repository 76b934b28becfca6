"""A word that is closed or wants more, and an entry beside it that takes whatever else stands there."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.open_values import open_values
from tests.policy.asking import HEAD, rules

JSON = "match: POST /x, when: {json: {/kind: purge}}"
QUERY = "match: POST /x, when: {query: {mode: [hard, '1']}}"


def told(directory: Path, closed: str, *writes: str, reads: str = "", more: str = "") -> list[str]:
    """What is warned of, without the places."""
    entries = "".join(f"  - {{name: w{at}, {one}}}\n" for at, one in enumerate(writes))
    parts = (("closed", closed), ("read_only", reads))
    lists = "".join(f"{name}:\n  - {{{one}}}\n" for name, one in parts if one)
    found = list(open_values(rules(directory, f"{HEAD}{more}{lists}writes:{' []' if not writes else ''}\n{entries}")))

    assert all(one.severity == "warning" for one in found)
    return [one.message for one in found]


@pytest.mark.parametrize(
    ("only", "is_told"),
    [
        ("json: [/kind, /title]", True),
        ("json: [/kind]", True),
        ("json: [/title]", False),
        ("json: [{/kind: [preview]}, /title]", False),
        ("query: []", False),
        ("form: [kind]", False),
    ],
)
def test_a_closed_word_of_a_member_that_is_listed_bare(tmp_path: Path, only: str, is_told: bool) -> None:
    """Where no member is listed others are open too, which is another matter: here known spellings are refused."""
    found = told(tmp_path, JSON, f"match: POST /x, resource: x, only: {{{only}}}")

    assert len(found) == is_told
    assert all("this names `purge` at json /kind, and rule w0 at " in one for one in found)
    assert all(one.endswith("such as `only: {json: [{/kind: [...]}]}`") for one in found)


@pytest.mark.parametrize(
    ("only", "is_told"),
    [
        ("", True),
        (", only: {header: []}", True),
        (", only: {query: [mode]}", True),
        (", only: {query: [page]}", False),
        (", only: {query: []}", False),
        (", only: {json: [/a]}", False),
        (", only: {query: [{mode: [soft]}]}", False),
        (", when: {query: {mode: soft}}", False),
    ],
)
def test_a_closed_word_of_the_query_that_may_be_any(tmp_path: Path, only: str, is_told: bool) -> None:
    """Listed or not: ASP.NET takes a number and a list for it there."""
    found = told(tmp_path, QUERY, f"match: POST /x, resource: x{only}")

    assert len(found) == is_told
    assert all("names `hard` at query mode" in one and "{query: [{mode: [...]}]}" in one for one in found)


@pytest.mark.parametrize(
    ("where", "only", "is_told"),
    [
        ("form: {kind: purge}", "", True),
        ("form: {kind: purge}", ", only: {form: [kind]}", True),
        ("form: {kind: purge}", ", only: {form: [{kind: [a]}]}", False),
        ("form: {kind: purge}", ", only: {json: [/kind]}", False),
        ("header: {x-kind: purge}", "", True),
        ("header: {x-kind: purge}", ", only: {header: [X-Kind]}", True),
        ("header: {x-kind: purge}", ", only: {header: []}", False),
        ("header: {x-kind: purge}", ", only: {header: [{X-Kind: [a]}]}", False),
        ("header: {accept: purge}", ", only: {header: []}", True),
        ("header: {accept: purge}", ", only: {header: [{Accept: [a]}]}", False),
    ],
)
def test_so_of_a_form_and_of_headers(tmp_path: Path, where: str, only: str, is_told: bool) -> None:
    """Headers that need not be listed are there, too."""
    found = told(tmp_path, f"match: POST /x, when: {{{where}}}", f"match: POST /x, resource: x{only}")

    assert len(found) == is_told


@pytest.mark.parametrize("value", ["1", "'true'", "'7'", "''", "{present: true}"])
def test_what_is_no_word_has_spellings_of_its_own(tmp_path: Path, value: str) -> None:
    """Which are refused wherever it is named."""
    assert told(tmp_path, f"match: POST /x, when: {{query: {{mode: {value}}}}}", "match: POST /x, resource: x") == []


@pytest.mark.parametrize(
    ("closed", "writes", "is_told"),
    [
        ("match: POST /x/all", ("match: 'POST /x/{id}', resource: x",), True),
        ("match: POST /x/all", ("match: 'POST /x/{id}', resource: x", "match: POST /x/all, resource: x, ONLY"), False),
        ("match: POST /x/all", ("match: 'PUT /x/{id}', resource: x",), False),
        ("match: POST /x/all", ("match: 'POST /y/{id}', resource: x",), False),
        ("match: 'POST /x/{id}'", ("match: POST /x/all, resource: x",), False),
        ("", ("match: 'POST /x/{id}', resource: x",), True),
    ],
    ids=["wider", "behind a third", "another method", "another path", "narrower", "anywhere"],
)
def test_an_entry_that_is_asked_next(tmp_path: Path, closed: str, writes: tuple[str, ...], is_told: bool) -> None:
    """Of what comes first `open_beside_closed` tells."""
    texts = [one.replace("ONLY", "only: {query: []}") for one in writes]
    when = "when: {query: {mode: hard}}"

    assert bool(told(tmp_path, f"{closed}, {when}" if closed else when, *texts)) is is_told


_WHEN = "match: 'POST /x/{id}', when: {query: {mode: hard}}"
_NEXT = "match: 'POST /x/{id}', resource: 'x/{path.id}'"
_ONE = "resource: 'x/{path.id}'"
_ASKED = "approval: required, intent: {mode: required}"


@pytest.mark.parametrize(
    ("strict", "loose", "is_told"),
    [
        (f"{_ONE}, {_ASKED}", f"{_NEXT}, intent: {{mode: required}}", True),
        (f"{_ONE}, intent: {{mode: required}}", _NEXT, True),
        (f"{_ONE}, budget: [{{per: tenant, window: 1d, count: 5}}]", _NEXT, True),
        ("resource: x", _NEXT, True),
        (_ONE, _NEXT, False),
        (_ONE, f"{_NEXT}, {_ASKED}", False),
        (_ONE, "match: 'POST /x/{id}', resource: x", False),
        (f"{_ONE}, intent: {{mode: required}}", f"{_NEXT}, intent: {{mode: required}}", False),
        (f"{_ONE}, {_ASKED}", f"{_NEXT}, only: {{query: [{{mode: [soft]}}]}}", False),
    ],
)
def test_a_rule_that_wants_more_than_the_next(tmp_path: Path, strict: str, loose: str, is_told: bool) -> None:
    """An approval, a key, a budget, or a resource that has more in it. Where the next is the strict one, whatever is
    spelled otherwise is held to more."""
    found = told(tmp_path, "", f"{_WHEN}, {strict}", loose)

    assert len(found) == is_told
    assert all(one.startswith("rule `w0` names `hard` at query mode, and rule w1 at ") for one in found)


def test_what_is_read_without_a_token_wants_least(tmp_path: Path) -> None:
    """A rule's word that is spelled otherwise would pass."""
    write = "match: 'POST /x', when: {query: {mode: hard}}, resource: x"

    assert len(told(tmp_path, "", write, reads="match: 'POST /{any}'")) == 1
    assert told(tmp_path, "", write, reads="match: 'POST /{any}', only: {query: [{mode: [soft]}]}") == []


def test_a_tool_of_mcp_is_named_in_one_spelling(tmp_path: Path) -> None:
    """Its server looks it up as it is."""
    mcp = "protocol: mcp\nmount: {path: /mcp}\n"
    write = "match: POST /mcp, when: {tool: look}, resource: x"

    assert told(tmp_path, "match: POST /mcp, when: {tool: purge}", write, more=mcp) == []


def test_thousands_of_rules_on_one_path_are_told_in_a_moment(tmp_path: Path) -> None:
    """All look at one thing, and none is open there."""
    writes = [f"match: POST /x, when: {{json: {{/kind: k{at}}}}}, resource: x" for at in range(2000)]

    assert told(tmp_path, "", *writes) == []
