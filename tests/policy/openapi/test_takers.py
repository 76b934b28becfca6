"""Which rules take the requests of an operation."""

import pytest

from gateway.policy.openapi.takers import Takers, Way
from gateway.policy.openapi.translation import translate

RULES = ["/a/{x}", "/a/b", "/a/{x}/c", "/a/{x}/", "/{path+}", "/a/{x}/{y}/{rest+}"]


@pytest.mark.parametrize(
    ("path", "method", "taken"),
    [
        ("/a/b", "PUT", {"/a/b", "/a/{x}", "/{path+}"}),
        ("/a/{id}", "PUT", {"/a/b", "/a/{x}", "/{path+}"}),
        ("/a/{id}:b", "PUT", {"/a/{x}", "/{path+}"}),
        ("/a/{id}:b/c", "PUT", {"/a/{x}/c", "/{path+}"}),
        ("/a/{id}/", "PUT", {"/a/{x}/"}),
        ("/a/b/c/d", "PUT", {"/{path+}", "/a/{x}/{y}/{rest+}"}),
        ("/a/b", "POST", set()),
        ("/a", "PUT", {"/{path+}"}),
        ("/", "PUT", set()),
    ],
)
def test_a_rule_takes_what_stands_in_its_place(path: str, method: str, taken: set[str]) -> None:
    """A placeholder any segment, the last one all that follow, and text only itself."""
    read = {rule: translate(rule) for rule in RULES}
    takers = Takers(Way(rule, "PUT", found.segments, found.slash) for rule, found in read.items())
    asked = translate(path)

    found = {one.way.rule for one in takers.taking(method, asked.segments, slash=asked.slash)}

    assert found == taken


def test_what_a_placeholder_takes_whole_is_told() -> None:
    """By its place among the rule's segments; of all that follows by the last."""
    rules = {rule: translate(rule) for rule in ("/a/{x}/{y}", "/a/{rest+}")}
    takers = Takers(Way(rule, "PUT", found.segments, found.slash) for rule, found in rules.items())

    taking = takers.taking("PUT", translate("/a/{b}/{id}:c").segments, slash=False)

    assert {one.way.rule: [at for at, _ in one.parts] for one in taking} == {"/a/{x}/{y}": [2], "/a/{rest+}": [1]}


def test_a_deep_path_is_no_recursion() -> None:
    """A document's paths may be as deep as they like."""
    deep = translate("/a/{b}" * 50).segments * 100

    [found] = Takers([Way("one", "PUT", deep, slash=False)]).taking("PUT", deep, slash=False)

    assert found.way.rule == "one"
