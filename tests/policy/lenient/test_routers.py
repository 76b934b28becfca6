"""No path that passes is a closed one to a framework's own router: drawn paths, of reads and of writes."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.core.target import Target, read_target
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules
from tests.policy.lenient.routers import NUMBERS, ROUTERS

POLICY = """\
closed: [{match: "GET,POST /docs/secret"}, {match: POST /users/3}]
writes:
  - {name: doc, match: "POST /docs/{id}", resource: "doc/{path.id}", values: any}
  - {name: user, match: "POST /users/{id}", resource: "user/{path.id}", values: integer}
  - {name: below, match: "POST /docs/{id}/{rest...}", resource: "doc/{path.id}", values: any}
"""
OPAQUE = "mount: {path: /, delimiters: opaque, plus: opaque, encoded_slash: opaque}\n"
PIECES = [
    *("secret", "secret", "%73ecret", "s", "ecret", "SECRET", "docs", "%2F", "%2f", "/", ".", "..", "%2E", "%2e%2e"),
    *("%5C", "\\", "%252F", "%2573", "%25", "%00", "%20", "%09", "%0A", "%0D", "%1F", "%7F", "%85", "%C2%85", "%C2%A0"),
    *("%E2%80%8B", "%E2%80%A8", "%CC%80", "%EF%BC%8F", "%EF%BD%93", "%C5%BF", "%E2%84%AA", "%C0%AF", "%FF", "%u0073"),
    *(
        "~",
        "+",
        "-",
        "_",
        ":",
        "@",
        "!",
        "'",
        "(",
        ")",
        "*",
        ",",
        "%2C",
        "=",
        "$",
        "&",
        "%26",
        ";",
        "%3B",
        "%3F",
        "%23",
    ),
    *("?", "?x=1", ".json", "index", "|", "{", "%7B", "^", "`", "<", "[", '"', ":id", "#", "%A0", "%2525", "%2526"),
    *("%D1%95ecret", "%F0%9D%90%ACecret", "%E2%93%A2ecret"),
]


@pytest.fixture(scope="module", params=["", OPAQUE], ids=["refused", "opaque"])
def ruleset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Whatever the mount says of marks that servers read in two ways."""
    return rules(tmp_path_factory.mktemp("routers"), HEAD + request.param + POLICY)


@st.composite
def paths(draw: st.DrawFn) -> str:
    """Around the closed one."""
    start = draw(st.sampled_from(["/docs/", "/docs/", "/docs/", "/docs%2F", "/%64ocs/", "/"]))
    return start + draw(st.sampled_from(["", "secret"])) + "".join(draw(st.lists(st.sampled_from(PIECES), max_size=4)))


@given(paths())
@settings(max_examples=250)
@example("/docs/secret")
@example("/docs/%73ecret")
def test_no_router_finds_what_is_closed(ruleset: RuleSet, drawn: str) -> None:
    """However often it undoes escapes, and whatever it drops."""
    if not isinstance(read_target(drawn), Target):
        return
    passing = [
        method for method in ("GET", "POST") if not isinstance(ruleset.match(request(method, drawn), NOBODY), Refused)
    ]
    if passing:
        path = drawn.partition("?")[0]
        assert [router.__name__ for router in ROUTERS if router(path)] == []


def test_the_routers_find_it_plainly_spelled() -> None:
    """Else the drawn ones would show nothing."""
    assert [router("/docs/secret") for router in ROUTERS] == [True] * len(ROUTERS)
    assert [router("/docs/%73ecret") for router in ROUTERS] == [True] * len(ROUTERS)
    assert [router("/docs/other") for router in ROUTERS] == [False] * len(ROUTERS)


SEGMENTS = st.lists(
    st.sampled_from(["3", "3", "0", "%33", "+", "-", ".0", "_", "%20", "%EF%BC%93", "%D9%A3", "e0", "/"])
)


@given(SEGMENTS.map("".join))
@settings(max_examples=200)
@example("3")
@example("03")
@example("%D9%A3")
def test_no_router_finds_a_closed_number(ruleset: RuleSet, segment: str) -> None:
    """Among ids that are said to be numbers; and an id that passes is one number to all."""
    target = f"/users/{segment}"
    if not isinstance(read_target(target), Target):
        return
    asked = request("POST", target)
    matched = ruleset.match(asked, NOBODY)
    resource = ruleset.resolve(matched, asked, NOBODY) if isinstance(matched, Matched) else matched

    if isinstance(resource, str):
        found = {number(target) for number in NUMBERS}
        assert found != {3} and found == {int(resource.removeprefix("user/"))}


def test_the_routers_find_a_number_plainly_spelled() -> None:
    """Some in other digits, too."""
    assert [number("/users/3") for number in NUMBERS] == [3] * len(NUMBERS)
    assert [number("/users/03") for number in NUMBERS] == [3] * len(NUMBERS)
