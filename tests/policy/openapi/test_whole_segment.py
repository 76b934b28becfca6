"""Rules that take a segment whole which is text and a placeholder in one."""

from pathlib import Path

import pytest

from gateway.policy.openapi.whole_segment import WholeSegment, WholeSegments
from tests.policy.asking import rules
from tests.policy.openapi.documents import document

HEAD = "upstream: api\nurl: https://api.example/v1\nmount: {path: /m, strip: true, format_endings: [json]}\n"
UNTAKEN, TAKEN = WholeSegment(is_taken=False), WholeSegment(is_taken=True)


@pytest.mark.parametrize(
    ("more", "path", "wanted"),
    [
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}', values: any", "/a/{id}:b", "named"),
        ("match: 'PUT /m/a/{x...}', resource: 'x/{path.x}', values: any", "/a/{id}:b", "named"),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}'", "/a/{id}:b", UNTAKEN),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}'", "/a/{id}~b", "named"),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}', values: word", "/a/{id}:b", UNTAKEN),
        ("match: 'PUT /m/a/{x}', resource: x", "/a/{id}:b", TAKEN),
        ("match: 'PUT /m/b/{x}', resource: 'x/{path.x}'", "/a/{id}:b", UNTAKEN),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}'", "/a/{id}.json", UNTAKEN),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}'", "/a/{id};v={v}", UNTAKEN),
        ("match: 'PUT /m/a/{x}', resource: 'x/{path.x}'", "/a/{id}", None),
    ],
    ids=[
        "one",
        "all that follows",
        "nothing said",
        "nothing said, and a character that passes",
        "a form",
        "no part of the name",
        "another",
        "a format",
        "refused",
        "no such segment",
    ],
)
def test_what_becomes_of_text_and_id_in_one(
    tmp_path: Path, more: str, path: str, wanted: WholeSegment | str | None
) -> None:
    """As the API sees the path: the mount is dropped, and the base path is put before it."""
    ruleset = rules(tmp_path, f"{HEAD}writes:\n  - {{name: one, {more}}}\n")
    [operation] = document(tmp_path, {path: {"put": {}}}).operations

    found = WholeSegments(ruleset.entries, ruleset.upstreams[0]).of(operation, ("v1",))

    assert found == (WholeSegment(True, ruleset.entries[0]) if wanted == "named" else wanted)


def test_what_is_read_or_closed_has_no_name(tmp_path: Path) -> None:
    """It is decided about."""
    ruleset = rules(tmp_path, f"{HEAD}read_only: [{{match: 'PUT /m/a/{{x}}'}}]\n")
    [operation] = document(tmp_path, {"/a/{id}:b": {"put": {}}}).operations

    assert WholeSegments(ruleset.read_only, ruleset.upstreams[0]).of(operation, ("v1",)) == TAKEN
