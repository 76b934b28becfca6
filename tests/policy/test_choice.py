"""Many entries are told by path and value, as one by one."""

import json
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, NO_POLICY, Refused
from gateway.core.request import Request
from gateway.policy.choice import Choice, Placed
from gateway.policy.condition import Condition, first_unmet
from gateway.policy.entry import Closed
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.pattern import Pattern, split_slash
from gateway.policy.reading.body import Body
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules
from tests.policy.placing import conditions, headers, pattern, patterns, placed, targets

CALLER = Caller()
FORM = ("Content-Type", "application/x-www-form-urlencoded")
MANY = 50
NUMBERS = range(MANY)


def many(when: str, more: str = "") -> str:
    """Rules of one path, whose conditions differ in N."""
    lines = [f"  - {{name: n{n}, match: POST /x, resource: r, when: {when.replace('N', str(n))}}}\n" for n in NUMBERS]
    return f"{HEAD}writes:\n{''.join(lines)}{more}"


def graphql(document: str) -> Request:
    return request("POST", "/x", body=json.dumps({"query": document}))


def taken(ruleset: RuleSet, asked: Request) -> str:
    match ruleset.match(asked, CALLER):
        case Matched(entry):
            return entry.rule.name
        case Refused(decision):
            return decision.name
        case Read():
            return "read"
        case NeedsBody():
            return "body"


@pytest.mark.parametrize(
    ("when", "asked", "name"),
    [
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m49"}'), "n49"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m50"}'), "no-policy"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": ["m1"]}'), "ambiguous-target"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m1", "METHOD": "m2"}'), "ambiguous-target"),
        ("{json: {/method: mN}}", request("POST", "/x"), "body"),
        ("{json: {/method: call, /name: tN}}", request("POST", "/x", body='{"method": "call", "name": "t3"}'), "n3"),
        (
            "{json: {/method: call, /name: tN}}",
            request("POST", "/x", body='{"method": "x", "name": "t3"}'),
            "no-policy",
        ),
        ("{json: {/k: [aN, bN]}}", request("POST", "/x", body='{"k": "b7"}'), "n7"),
        ("{header: {kind: kN}}", request("POST", "/x", ("Kind", "k9")), "n9"),
        ("{query: {kind: kN}}", request("POST", "/x?kind=k9"), "n9"),
        ("{query: {kind: kN}}", request("POST", "/x?kind=k9&kind=k8"), "ambiguous-target"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "k9"), body='{"a": 1}'), "n9"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "k9")), "body"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "other")), "no-policy"),
        ("{header: {all: a}, json: {/a: N}}", request("POST", "/x", ("All", "b")), "no-policy"),
        ("{header: {all: a}, json: {/a: N}}", request("POST", "/x", ("All", "a"), body='{"a": 4}'), "n4"),
        ("{form: {action: aN}}", request("POST", "/x", FORM, body="action=a7&x=1"), "n7"),
        ("{form: {action: aN}}", request("POST", "/x", FORM), "body"),
        ("{form: {action: aN}}", request("POST", "/x", body="{}"), "ambiguous-target"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("mutation { x: a3 b3 }"), "n3"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("mutation { a3 b4 }"), "no-policy"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("query { a3 }"), "no-policy"),
        ("{graphql: {mutation: [aN, bN]}}", request("POST", "/x", FORM, body="query={a}"), "ambiguous-target"),
    ],
)
def test_a_rule_among_many_is_found_by_its_value(tmp_path: Path, when: str, asked: Request, name: str) -> None:
    """The body is asked for only where it decides, and refusals are those of the conditions."""
    assert taken(rules(tmp_path, many(when)), asked) == name


def test_entries_without_the_value_are_asked_too(tmp_path: Path) -> None:
    """A rule without conditions takes what the others leave, an entry for any field of a type what it names."""
    ruleset = rules(
        tmp_path,
        many("{graphql: {mutation: [aN]}}", "  - {name: rest, match: POST /x, resource: r}\n")
        + "read_only:\n  - {match: POST /x, when: {graphql: [query, subscription]}}\n",
    )

    assert taken(ruleset, graphql("mutation { a1 }")) == "n1"
    assert taken(ruleset, graphql("mutation { a1 a2 }")) == "rest"
    assert taken(ruleset, graphql("{ a1 other }")) == "read"
    assert taken(ruleset, graphql("subscription { a1 }")) == "read"


def test_a_mutation_that_no_rule_allows_is_named(tmp_path: Path) -> None:
    """The agent sees which root fields stood together."""
    refused = rules(tmp_path, many("{graphql: {mutation: [aN]}}")).match(graphql("mutation { a1 a2 }"), CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is NO_POLICY
    assert "mutation { a1, a2 }" in refused.detail


@pytest.mark.parametrize(
    ("target", "search"), [("/x", "ambiguous-target"), ("/X/", "ambiguous-target"), ("/x/y", "read"), ("/y", "read")]
)
def test_a_mutation_in_the_url_of_a_read_is_refused_where_rules_read_graphql(
    tmp_path: Path, target: str, search: str
) -> None:
    """At every path: the upstream may have other endpoints. What is no GraphQL at all is a read, but for the endpoint
    itself, of which neither case nor a slash at the end makes another one."""
    ruleset = rules(tmp_path, many("{graphql: {mutation: [aN]}}"))

    assert taken(ruleset, request("GET", target)) == "read"
    assert taken(ruleset, request("GET", f"{target}?query=%7Ba%7D")) == "read"
    assert taken(ruleset, request("GET", f"{target}?query=mutation%7Ba%7D")) == "ambiguous-target"
    assert taken(ruleset, request("GET", f"{target}?query=mutation")) == search


def chosen(entries: list[Placed], asked: Request, at_once: int) -> object:
    return Choice(entries, at_once).taker(asked, *split_slash(asked.target), Body(asked))


def one_by_one(entries: list[Placed], asked: Request) -> Placed | None:
    """The first that takes the request: from the left text before a placeholder before the rest, then conditions, then
    what is closed."""

    def order(one: Placed) -> tuple[list[int], bool, bool]:
        own = one.pattern.segments
        places = range(len(split_slash(asked.target)[0]))
        openness = [2 if at >= len(own) else own[at] is None for at in places]
        return openness, not one.entry.matcher.conditions, not isinstance(one.entry, Closed)

    fitting = [one for one in entries if asked.method in one.pattern.methods and one.pattern.takes(asked.target)]
    met = [one for one in fitting if first_unmet(one.entry.matcher.conditions, asked, Body(asked)) is None]
    return min(met, key=order, default=None)


@given(
    st.lists(st.tuples(patterns, conditions, st.booleans()), min_size=4, max_size=16),
    targets,
    headers,
    st.sampled_from((1, 3, 100)),
)
def test_the_same_entry_is_found_as_one_by_one(
    drawn: list[tuple[Pattern, tuple[Condition, ...], bool]], target: str, sent: dict[str, str], at_once: int
) -> None:
    """Bits and batches change how long it takes, and not which entry takes a request; nor whether to a server that
    tells neither case nor a slash at the end it were a more specific one's."""
    entries = [placed(own, *wanted, closes=closes) for own, wanted, closes in drawn]
    asked = request("PUT", target, *sent.items())

    folded = request("PUT", target.lower().rstrip("/") or "/", *sent.items())

    found, alone = chosen(entries, asked, at_once), one_by_one(entries, asked)

    if alone is not None and is_of_another(alone, entries, folded):
        assert isinstance(found, Refused)
        assert found.decision is AMBIGUOUS_TARGET
    else:
        assert found is alone


def is_of_another(taker: Placed, entries: list[Placed], folded: Request) -> bool:
    lenient = one_by_one([replace(one, pattern=one.pattern.lenient) for one in entries], folded)
    return lenient is not None and lenient.pattern.precedence < taker.pattern.precedence


@pytest.mark.parametrize(("k", "name"), [(1, "one"), (2, "ambiguous-target"), (3, "all")])
def test_what_an_entry_would_have_looked_at_makes_no_difference_once_it_is_out(
    tmp_path: Path, k: int, name: str
) -> None:
    """Of two headers either may be believed, where the entry that looks at them wants another query anyway."""
    ruleset = rules(
        tmp_path,
        f"{HEAD}writes:\n"
        "  - {name: one, match: POST /x, resource: r, when: {query: {k: 1}}}\n"
        "  - {name: two, match: POST /x, resource: r, when: {header: {h: a}, query: {k: 2}}}\n"
        "  - {name: all, match: POST /x, resource: r}\n",
    )

    assert taken(ruleset, request("POST", f"/x?k={k}", ("H", "a"), ("H", "b"))) == name


def test_thousands_of_crossing_patterns_are_told_in_microseconds() -> None:
    """No path has a way back: neither the one that the first takes, nor the one that the last does, nor a lost one."""
    ways = ("/".join(way) for way in product(*(("a", f"{{p{at}}}") for at in range(12))))
    choice = Choice([placed(pattern(f"/{way}")) for way in ways])
    best = 1.0
    for target in ("/a" * 12, "/b" * 12, "/A" * 12, "/a" * 13):
        asked = request("PUT", target)
        for _ in range(20):
            began = time.perf_counter()
            choice.taker(asked, *split_slash(asked.target), Body(asked))
            best = min(best, time.perf_counter() - began)

        # Two microseconds here; a millisecond and a half where each way is tried.
        assert best < 0.0005
