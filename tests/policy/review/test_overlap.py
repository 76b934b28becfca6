"""Which rules can make one resource: drawn pairs of templates, filled with values that were chosen to collide."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.entry import Entry
from gateway.policy.escape import escaped_path
from gateway.policy.reading.body import Body
from gateway.policy.review.overlap import Made, overlapping
from gateway.policy.template import Template, parse_template
from tests.policy.asking import one_rule, request, rules

# Values in which the texts between placeholders stand, and their own escapes.
VALUES = ["a", "b", "ab", "a-b", "a:b", "a/b", "a%2Fb", "a%2Db", "%2F", "%", "-", "/", "::", "a.", ".a", "-a", "b/"]
NAMES = ["a", "ab", "a-b", "a.b", "1"]
TEXTS = ["-", ":", "/", ".", "~", "|", "-a", "/a", "/b/", "-b-", ":a:", ".a", "/a-", "-a/", "="]
PLACES = ["path.p", "path.q", "query.q", "header.h", "tenant", "principal"]


def compiled(text: str) -> Template:
    template = parse_template(text, frozenset({"rest"}))
    assert isinstance(template, Template), template
    return template


def _joined(head: str, places: list[str], texts: list[str], ends: bool) -> str:
    between = texts[: len(places) - 1 + ends]
    return head + "".join(f"{{{place}}}{text}" for place, text in zip(places, [*between, ""], strict=False))


_few = st.builds(
    _joined,
    st.sampled_from(["", "a", "a/", "b/", "a-", "x"]),
    st.lists(st.sampled_from(PLACES), min_size=1, max_size=3),
    st.lists(st.sampled_from(TEXTS), min_size=3, max_size=3),
    st.booleans(),
)
_rests = st.sampled_from(["a/", "b/", "a-", "x/"]).map(lambda head: head + "{path.rest}")
templates = st.one_of(_few, _few, _few, _few, _rests).map(compiled)
values = st.lists(st.sampled_from(VALUES), min_size=2, max_size=4, unique=True)
names = st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True)


@dataclass(frozen=True)
class Filled:
    """A name, by whom it was made, and the values that it was made of in the order of the template."""

    name: str
    caller: Caller
    values: tuple[str, ...]


def fillings(template: Template, values: list[str], names: list[str]) -> Iterator[Filled]:
    """The template with every choice of these values; what the gateway refuses is left out."""
    places = sorted({part.text for part in template.parts})
    choices = [names if place in ("tenant", "principal") else values for place in places]
    for chosen in product(*choices):
        own = {"tenant": "a", "principal": "a"} | dict(zip(places, chosen, strict=True))
        path = {place.removeprefix("path."): value for place, value in own.items() if place.startswith("path.")}
        if "rest" in path:
            path["rest"] = escaped_path([path["rest"], "a"])
        target = f"/?q={quote(own.get('query.q', 'a'), safe='')}"
        asked = request("PUT", target, ("h", own.get("header.h", "a")))
        caller = Caller(own["principal"], own["tenant"])
        name = template.fill(asked, path, caller, Body(asked))
        if not isinstance(name, Refused):
            yield Filled(name, caller, tuple(own[part.text] for part in template.parts))


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Entry:
    """One whose rule stands for the first of two."""
    return rules(tmp_path_factory.mktemp("policies"), one_rule()).entries[0]


def meet(entry: Entry, one: Template, other: Template) -> bool:
    """Whether `check` finds that two rules of different authority can make one resource by these."""
    second = replace(entry, template=other, rule=replace(entry.rule, authority="header"))
    return any(overlapping([Made(replace(entry, template=one)), Made(second)]))


@pytest.mark.parametrize("pairs", [100, pytest.param(13_019, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_no_two_writes_share_a_name_and_no_two_rules_unseen(entry: Entry, pairs: int) -> None:
    """Two lists of values have two names, each of which its template knows again for its caller; where one of them can
    be another template's too, `check` finds the two rules."""

    @settings(max_examples=pairs, derandomize=True, database=None)
    @given(templates, templates, values, names)
    @example(compiled("a{path.p}-b"), compiled("a{path.p}/{path.q}"), ["a/b", "-"], ["a", "ab"])
    def hold(one: Template, other: Template, values: list[str], names: list[str]) -> None:
        for template, rival in ((one, other), (other, one)):
            made: dict[str, tuple[str, ...]] = {}
            shared = False
            for filled in fillings(template, values, names):
                assert made.setdefault(filled.name, filled.values) == filled.values
                assert template.matches(filled.name, filled.caller)
                shared = shared or rival.matches(filled.name, None)
            assert not shared or meet(entry, one, other)

    hold()


@pytest.mark.parametrize(
    ("one", "other", "can"),
    [
        ("a/{path.p}", "a/{query.q}", True),
        ("a/{path.p}", "b/{path.p}", False),
        ("a/{path.p}", "a/{path.p}/b", False),
        ("a/{path.rest}", "a/b/{path.p}", True),
        ("a/{path.rest}", "a", False),
        ("{tenant}/{path.p}", "a/{path.p}", True),
        ("a/{path.p}-x", "a/{path.p}-y", False),
        ("a/{path.p}-x", "a/{path.p}", True),
        ("a/b", "a/{path.p}", True),
        ("a/b-", "a/b{path.p}-", False),
    ],
)
def test_two_templates_meet_where_some_values_make_one_name(entry: Entry, one: str, other: str, can: bool) -> None:
    """Segment by segment: by the text in front of the placeholders and behind them."""
    assert meet(entry, compiled(one), compiled(other)) is can
    assert meet(entry, compiled(other), compiled(one)) is can


def test_rules_on_the_same_terms_may_make_one_resource(entry: Entry) -> None:
    """They share its epochs, and so one fence."""
    assert not any(overlapping([Made(entry), Made(entry)]))
