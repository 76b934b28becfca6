"""A reload that names other resources of the same requests is told from every other change."""

from pathlib import Path

import pytest

from gateway.policy.renamed import renamed_resources
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
