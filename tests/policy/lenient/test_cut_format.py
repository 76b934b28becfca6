"""What a server makes of a path that ends as a format does is no way around what is closed."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.lenient.cut_format import paths_without_format, without_formats
from gateway.policy.review.answer import answer
from tests.policy.asking import HEAD, request, rules

DEEPER = "upstream: deeper\nurl: http://127.0.0.1:9001\nreads: deny\nmount: {path: /docs/inner}\n"
POLICY = f"""{HEAD}
mount: {{path: /}}
closed: [{{match: "GET,POST /docs/publish"}}]
writes:
  - {{name: one, match: "POST /docs/{{id}}", resource: "doc/{{path.id}}", values: any}}
  - {{name: part, match: "POST /docs/{{id}}/{{part}}", resource: "doc/{{path.id}}", values: any}}
"""


@pytest.mark.parametrize(
    ("segment", "left"),
    [
        ("a", []),
        ("a.b", ["a"]),
        ("a.b-c.d", ["a.b-c", "a"]),
        ("a. b.", ["a. b", "a"]),
        (".b", [""]),
        ("a" + 9 * ".b", [*("a" + n * ".b" for n in range(8, 2, -1)), "a"]),
    ],
)
def test_endings_are_cut_one_after_the_other(segment: str, left: list[str]) -> None:
    """The last six, and all behind the first dot."""
    assert list(without_formats(segment)) == left


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("a/b.data", "a/b"),
        ("a/b.data.data", "a/b"),
        ("a/b.x.y_z.w", "a/b"),
        ("a/b/.data", "a/b"),
        ("a/b/..data", "a/b"),
        ("a/b/_.rsc", "a/b"),
        ("a/b/_.data.data", "a/b"),
        ("a/b/x/...data", "a/b"),
        ("a/b.data/.data", "a/b"),
        ("a/b.data/x/...data", "a/b"),
        (".data", ""),
        ("...data", ""),
    ],
)
def test_what_is_left_of_a_path_is_read_anew(path: str, left: str) -> None:
    """A segment of nothing is none, and two dots go up."""
    assert left in {"/".join(way) for way in paths_without_format(tuple(path.split("/")))}


@pytest.mark.parametrize(
    "target",
    [
        "/docs/publish.data",
        "/docs/publish.data.data",
        "/docs/publish.foo.bar-baz",
        "/docs/publish/.data",
        "/docs/publish/..data",
        "/docs/publish/%2E.data",
        "/docs/publish/_.data",
        "/docs/publish/_.rsc",
        "/docs/publish.data/.data",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_closed_stays_so(tmp_path: Path, method: str, target: str) -> None:
    """To React Router, and to Spring's suffix patterns."""
    assert answer(rules(tmp_path, POLICY), request(method, target), NOBODY).decision == "ambiguous-target"


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("/docs/publish/x/...data", "ambiguous-target"),
        ("/docs/inner.foo.bar", "ambiguous-target"),
        ("/docs/inner.x-y/7", "ambiguous-target"),
        ("/docs/published.data", "passed"),
        ("/docs/7/.data", "passed"),
        ("/docs/a.publish", "passed"),
    ],
)
def test_so_do_reads_below(tmp_path: Path, target: str, decision: str) -> None:
    """Of what is closed, and of a mount that takes none."""
    assert answer(rules(tmp_path, POLICY, DEEPER), request("GET", target), NOBODY).decision == decision
