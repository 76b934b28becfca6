"""What a document has and a policy does not, and the other way round."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.coverage import described_upstream, uncovered
from tests.policy.asking import rules
from tests.policy.openapi.documents import document

SERVED = "upstream: api\nurl: https://api.example/v1\nmount: {path: /m, strip: true}\n"
OTHER = "upstream: other\nurl: https://other.example\nmount: {path: /other}\n"


def compared(directory: Path, match: str, paths: Any, head: str = SERVED, **more: Any) -> list[str]:
    """Which operations are gaps, and whether the rule is idle, for a policy with one rule."""
    text = f"{head}writes:\n  - {{name: one, match: '{match}', resource: x}}\n"
    ruleset = rules(directory, text)
    read = document(directory, paths, **more)
    upstream = described_upstream(ruleset, read, None)
    assert not isinstance(upstream, Wrong)
    found = uncovered(ruleset, upstream, read, "openapi.json")
    assert {finding.severity for finding in found} <= {"warning"}
    return [finding.message.partition(":")[0].partition(" takes")[0] for finding in found]


def test_a_rule_for_sessions_is_no_idle_one(tmp_path: Path) -> None:
    """OpenAPI has no words for WebSocket; and it takes no operation either."""
    assert compared(tmp_path, "GET /m/a', upgrade: 'websocket", {"/a": {"put": {}}}) == ["PUT /a"]


@pytest.mark.parametrize(
    ("match", "path", "gaps"),
    [
        ("PUT /m/a/{x}", "/a/{id}", []),
        ("PUT /m/a/{x...}", "/a/{id}", []),
        ("PUT /m/a/{x...}", "/a/{id}/b", []),
        ("PUT /m/a/{x...}", "/a", ["PUT /a", "rule one"]),
        ("PUT /m/a/b", "/a/{id}", ["PUT /a/{id}"]),
        ("PUT /m/a/{x}", "/a/b", []),
        ("PUT /m/a/{x}", "/a/{id}/", ["PUT /a/{id}/", "rule one"]),
        ("POST /m/a/{x}", "/a/{id}", ["PUT /a/{id}", "rule one"]),
        ("PUT /m/a/{x}", "/a/{id}.json", []),
        ("PUT /m/a/{x}", "/a/{rest+}", ["PUT /a/{rest+}"]),
        ("PUT /m/a/{x...}", "/a/{rest+}", []),
        ("PUT /m/a/%62", "/a/b", []),
        ("PUT /m/{x}/b", "/a/{id}", ["PUT /a/{id}"]),
        ("PUT /m/a", "/a?do=x/y", []),
        ("PUT /m/{x}", "/a?by={id}", []),
        ("PUT /m/b", "/a?by={id}", ["PUT /a?by={id}", "rule one"]),
    ],
)
def test_a_rule_takes_all_of_an_operation_or_leaves_a_gap(
    tmp_path: Path, match: str, path: str, gaps: list[str]
) -> None:
    """A rule is idle only if no request of any operation is its own."""
    assert compared(tmp_path, match, {path: {"put": {}}}) == gaps


@pytest.mark.parametrize(
    ("head", "match", "servers"),
    [
        (SERVED, "PUT /m/a", [{"url": "https://api.example/v1"}]),
        (SERVED, "PUT /m/a", [{"url": "/v1/"}]),
        (SERVED, "PUT /m/a", []),
        ("upstream: api\nurl: https://api.example\n", "PUT /v1/a", [{"url": "https://api.example/v1"}]),
    ],
    ids=["both have a base", "a path alone", "no server", "the base is in the match"],
)
def test_paths_are_compared_as_the_api_sees_them(tmp_path: Path, head: str, match: str, servers: object) -> None:
    """Mounts that are dropped, and base paths, are taken into account."""
    assert compared(tmp_path, match, {"/a": {"put": {}}}, head, servers=servers) == []


@pytest.mark.parametrize(
    ("bodies", "types", "told"),
    [
        ("[json]", ["text/csv"], ["PUT /a"]),
        ("[form]", ["application/json", "multipart/form-data"], ["PUT /a"]),
        ("[]", ["application/json"], ["PUT /a"]),
        ("[json]", ["text/csv", "application/json"], []),
        ("[json]", ["application/json; charset=utf-8"], []),
        ("[json]", ["*/*"], []),
        ("[json]", [], []),
        ("any", ["text/csv"], []),
    ],
)
def test_an_operation_whose_bodies_are_not_sent_is_told(
    tmp_path: Path, bodies: str, types: list[str], told: list[str]
) -> None:
    """Where none of its types is listed. What is closed anyway needs no word."""
    described = {"/a": {"put": {"requestBody": {"content": {one: {} for one in types}}}}}
    head = SERVED.replace("strip: true", f"strip: true, bodies: {bodies}")

    assert compared(tmp_path, "PUT /m/a", described, head) == told
    (tmp_path / "policy0.yaml").write_text(f"{head}closed: [{{match: PUT /m/a}}]\n")
    closed = rules(tmp_path)
    assert uncovered(closed, closed.upstreams[0], document(tmp_path, described), "a.json") == ()


def test_a_read_covers_its_operation(tmp_path: Path) -> None:
    """A policy has decided about it."""
    ruleset = rules(tmp_path, SERVED + "read_only: [{match: POST /m/search}]\n")

    assert uncovered(ruleset, ruleset.upstreams[0], document(tmp_path, {"/search": {"post": {}}}), "a.json") == ()


def test_the_upstream_is_named_or_found_by_its_server(tmp_path: Path) -> None:
    """Among several, a document that fits none is a question."""
    ruleset = rules(tmp_path, SERVED, OTHER)
    read = document(tmp_path, {})
    astray = document(tmp_path, {}, servers=[{"url": "https://elsewhere.example"}])

    for name, wanted in ((None, "api"), ("other", "other")):
        upstream = described_upstream(ruleset, read, name)
        assert not isinstance(upstream, Wrong)
        assert upstream.name == wanted
    for wrong in (described_upstream(ruleset, astray, None), described_upstream(ruleset, read, "none")):
        assert isinstance(wrong, Wrong)


def test_thousands_are_compared_in_a_moment(tmp_path: Path) -> None:
    """Rules times operations is not the time it takes."""
    many = 1000
    text = "writes:\n" + "".join(
        f"  - {{name: r{at}, match: 'PUT /m/a/{{x}}/b{at}', resource: x}}\n" for at in range(many)
    )
    ruleset = rules(tmp_path, SERVED + text)
    read = document(tmp_path, {f"/a/{{id}}/b{at}": {"put": {}} for at in range(1, many + 1)})

    found = uncovered(ruleset, ruleset.upstreams[0], read, "a.json")

    assert [finding.message.partition(" ")[0] for finding in found] == ["PUT", "rule"]


@pytest.mark.parametrize(("match", "gaps"), [("PUT /m/a/{x...}", []), ("PUT /m/a/{x}", ["PUT /a/{file}"])])
def test_a_placeholder_may_be_several_segments(tmp_path: Path, match: str, gaps: list[str]) -> None:
    """`x-multi-segment`, which GitHub's document has: a rule for one segment leaves files in folders out."""
    several = [{"name": "file", "in": "path", "x-multi-segment": True}]

    assert compared(tmp_path, match, {"/a/{file}": {"put": {"parameters": several}}}) == gaps


def test_what_the_policy_closes_is_no_gap(tmp_path: Path) -> None:
    """Somebody has looked at it. Nor is an entry idle that closes reads, of which the document is not asked."""
    closed = "closed: [{match: PUT /m/b}, {match: GET /m/c}, {when: {header: {x-a: a}}}, {match: PUT /m/none}]\n"

    found = compared(tmp_path, "PUT /m/a", {"/a": {"put": {}}, "/b": {"put": {}}, "/c": {"put": {}}}, SERVED + closed)

    assert found == ["PUT /c", "closed"]


@pytest.mark.parametrize(
    ("rule", "mount", "told"),
    [
        ("resource: 'x/{path.x}', values: any", "", "names its resource by the whole segment"),
        ("resource: 'x/{path.x}'", "", "no rule of upstream api takes it"),
        ("resource: 'x/{path.x}', values: word", "", "no rule of upstream api takes it"),
        ("resource: x", "", None),
        ("resource: 'x/{path.x}', values: any", ", format_endings: [json]", "names its resource by the whole segment"),
        ("resource: 'x/{path.x}', values: any", ", format_endings: [erase]", "names its resource by the whole segment"),
    ],
    ids=[
        "of the whole segment",
        "nothing said",
        "a form keeps it out",
        "not of the segment",
        "another ending",
        "no format",
    ],
)
def test_a_rule_that_takes_text_and_id_as_one(tmp_path: Path, rule: str, mount: str, told: str | None) -> None:
    """Its resource is none that whoever writes the id would know."""
    head = SERVED.replace(", strip: true", f", strip: true{mount}")
    ruleset = rules(tmp_path, f"{head}writes:\n  - {{name: one, match: 'POST /m/a/{{x}}', {rule}}}\n")
    read = document(tmp_path, {"/a/{id}": {"post": {}}, "/a/{id}:erase": {"post": {}}})

    found = uncovered(ruleset, ruleset.upstreams[0], read, "a.json")

    assert [(told or "-") in one.message for one in found] == ([True] if told else [])
