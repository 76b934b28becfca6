"""What a rule lists, and that it lists what it looks at itself."""

from pathlib import Path

import pytest

from gateway.policy.only import Only
from tests.policy.asking import HEAD, one_rule, rules


@pytest.mark.parametrize(
    ("listed", "only"),
    [
        ("{query: page}", Only(query=frozenset({"page"}))),
        ("{query: []}", Only(query=frozenset())),
        ("{json: []}", Only(query=frozenset(), json={})),
        ("{json: [/a/b, /a/c, /d/e, /d]}", Only(frozenset(), json={"a": {"b": None, "c": None}, "d": None})),
        ("{query: [], json: /a~1b/~0}", Only(frozenset(), {"a/b": {"~": None}})),
        ("{form: a}", Only(frozenset(), form=frozenset({"a"}))),
        ("{query: q, form: ['a[b]', a], json: []}", Only(frozenset({"q"}), {}, frozenset({"a[b]", "a"}))),
    ],
)
def test_the_lists_are_compiled(tmp_path: Path, listed: str, only: Only) -> None:
    """One value stands for a list of one; a shorter pointer holds what a longer one does."""
    (entry,) = rules(tmp_path, one_rule(more=f"    only: {listed}\n")).entries

    assert entry.only == only


@pytest.mark.parametrize(
    ("listed", "only"),
    [
        ("{query: page}", Only(frozenset({"page"}), {}, frozenset())),
        ("{query: []}", Only(frozenset(), {}, frozenset())),
        ("{json: /a}", Only(frozenset(), {"a": None})),
        ("{form: a}", Only(frozenset(), None, frozenset({"a"}))),
        ("{json: [], form: []}", Only(frozenset(), {}, frozenset())),
    ],
)
def test_of_a_read_what_is_not_listed_beside_another_says_nothing(tmp_path: Path, listed: str, only: Only) -> None:
    """Nobody else looks at it: also not at a body beside a query."""
    policy = f"{HEAD}read_only: [{{match: POST /x, only: {listed}}}]\nwrites: []\n"
    (entry,) = rules(tmp_path, policy).read_only

    assert entry.only == only


def test_a_list_of_headers_says_nothing_of_the_rest(tmp_path: Path) -> None:
    """It has those that the rule itself looks at, in lower case."""
    more = "    when: {header: {X-Kind: a}}\n    only: {header: [X-Trace]}\n"
    (entry,) = rules(tmp_path, one_rule(more=more)).entries

    assert entry.only is not None
    assert (entry.only.query, entry.only.lists_body) == (None, False)
    assert entry.only.header is not None
    assert entry.only.header.names == {b"x-kind", b"x-trace"}


def test_a_rule_without_lists_has_none(tmp_path: Path) -> None:
    """It costs its writes nothing."""
    (entry,) = rules(tmp_path, one_rule()).entries

    assert entry.only is None


@pytest.mark.parametrize(
    ("more", "listed"),
    [
        ("when: {query: {mode: x}}", "{query: mode}"),
        ("when: {json: {/kind: x}}", "{json: [/kind, /text]}"),
        ("when: {json: {/kind/name: x}}", "{json: /kind}"),
        ("intent: {mode: required, key: '{query.k}'}", "{query: k}"),
        ("intent: {mode: required, key: '{json:/k}', fingerprint: [/a/b]}", "{json: [/k, /a/b]}"),
        ("intent: {mode: optional}\n    effect: {compensation: {request: 'DELETE /x/{json:/id}'}}", "{json: /id}"),
        ("budget: [{per: tenant, window: 1d, value: 'json:/amount', total: 9}]", "{json: /amount}"),
        ("when: {form: {kind: x}}", "{form: [kind, text]}"),
        ("intent: {mode: required, key: '{form.k}'}", "{form: k}"),
    ],
)
def test_what_a_rule_looks_at_is_listed(tmp_path: Path, more: str, listed: str) -> None:
    """Its conditions, what names its intents, what they are compared by, what budgets count and takes a write back."""
    entries = rules(tmp_path, one_rule(more=f"    {more}\n    only: {listed}\n")).entries

    assert entries[0].only is not None
