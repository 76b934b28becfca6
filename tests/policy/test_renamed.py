"""A reload that names other resources of the same requests is told from every other change."""

from pathlib import Path

import pytest

from gateway.policy.renamed import moved_upstreams, renamed_resources
from tests.policy.asking import one_rule, rules

CHANGES = {
    "nothing": (one_rule(), ()),
    "its resource": (one_rule(resource="y/{path.id}"), ("api/one",)),
    "its resource, under other paths": (one_rule("PUT /y/{id}", "y/{path.id}"), ()),
    "its name": (one_rule(resource="y/{path.id}").replace("name: one", "name: two"), ()),
    "its upstream": (one_rule(resource="y/{path.id}").replace("upstream: api", "upstream: apj"), ()),
    "its revision": (one_rule(more="    revision: gateway\n"), ()),
}


@pytest.mark.parametrize(("text", "renamed"), CHANGES.values(), ids=CHANGES.keys())
def test_only_another_resource_of_the_same_requests_is_a_renaming(
    text: str, renamed: tuple[str, ...], tmp_path: Path
) -> None:
    """A rule of another name or path is another rule, of which nothing is under way."""
    for name in ("before", "after"):
        (tmp_path / name).mkdir()

    assert renamed_resources(rules(tmp_path / "before", one_rule()), rules(tmp_path / "after", text)) == renamed


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("mount: {path: /x}", "mount: {path: /x, host: a.example}", ("api",)),
        ("mount: {path: /x, host: a.example}", "mount: {path: /x}", ("api",)),
        ("mount: {path: /x, host: a.example}", "mount: {path: /x, host: b.example}", ("api",)),
        ("mount: {path: /x, host: a.example}", "mount: {path: /x, host: A.example}", ()),
        ("mount: {path: /x}", "mount: {path: /x, strip: true}", ()),
    ],
    ids=["one is named", "none is any more", "another one", "the same in another case", "something else"],
)
def test_another_host_makes_other_intents(before: str, after: str, moved: tuple[str, ...], tmp_path: Path) -> None:
    """Two APIs at one gateway may have one path; so an intent's target has its upstream's host."""
    found = []
    for name, mount in (("before", before), ("after", after)):
        (tmp_path / name).mkdir()
        text = one_rule("PUT /x/{id}").replace("upstream: api\n", f"upstream: api\n{mount}\n")
        found.append(rules(tmp_path / name, text))

    assert moved_upstreams(*found) == moved
