"""A path that is another rule's to a server that runs the index of what that rule names."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.policy.lenient.index_path import directories
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /m, encoded_slash: opaque}
read_only: [{match: "POST /m/search/{what}"}, {match: POST /m/search}]
writes:
  - {name: create, match: POST /m/docs, resource: docs}
  - {name: doc, match: "POST,PUT /m/docs/{id}", resource: "doc/{path.id}", values: any}
  - {name: part, match: "POST /m/docs/{id}/{part}", resource: "doc/{path.id}", values: any}
  - {name: bucket, match: "POST /m/{bucket}", resource: "b/{path.bucket}"}
  - {name: key, match: "POST /m/{bucket}/{key...}", resource: "b/{path.bucket}"}
  - {name: home, match: POST /m/home, resource: home}
  - {name: index, match: POST /m/home/index, resource: home}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("indices"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        ("POST", "/m/docs", "create"),
        ("POST", "/m/docs/index", "ambiguous-target"),
        ("POST", "/m/docs/INDEX", "ambiguous-target"),
        ("POST", "/m/docs/index.html", "ambiguous-target"),
        ("POST", "/m/docs/default.aspx", "ambiguous-target"),
        ("POST", "/m/docs%2Findex", "ambiguous-target"),
        ("POST", "/m/docs/default", "doc"),
        ("POST", "/m/docs/index/x", "part"),
        ("POST", "/m/docs/index-7", "doc"),
        ("POST", "/m/docs/7/index", "part"),
        ("POST", "/m/data/index.html", "key"),
        ("POST", "/m/home/index", "index"),
        ("POST", "/m/search/index", "ambiguous-target"),
        ("PUT", "/m/docs/index", "doc"),
        ("GET", "/m/docs/index", "read"),
    ],
)
def test_a_write_is_of_one_index(ruleset: RuleSet, method: str, target: str, found: str) -> None:
    """What a rule names in text is meant as it is, and what ends in a placeholder is no action with an index."""
    assert name_of(ruleset.match(request(method, target), Caller())) == found


def test_a_mount_itself_has_an_index(tmp_path: Path) -> None:
    """A server finds its first page there."""
    more = "mount: {path: /}\nclosed: [{match: GET /}]\n"

    taken = [
        name_of(rules(tmp_path, HEAD + more).match(request("GET", target), Caller()))
        for target in ("/", "/index.html", "/docs", "/docs/index")
    ]

    assert taken == ["reads-denied", "ambiguous-target", "read", "read"]


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        (("docs", "index"), [("docs",)]),
        (("docs", "Index.PHP", "x"), [("docs",)]),
        (("docs", "default"), [("docs",)]),
        (("default", "docs"), []),
        (("index", "index"), [(), ("index",)]),
        ((), []),
    ],
)
def test_the_directories_of_a_path(segments: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    """Each of which some server may run the index of; `default` is one at the end alone."""
    assert list(directories(segments)) == found
