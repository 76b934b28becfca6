"""Deletions of what contains other resources."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.members import members_apart
from tests.policy.asking import HEAD, rules

WEBDAV = "read_only: [{match: 'PROPFIND /d/{path...}'}]\n"
WITHOUT_MOVES = "closed: [{match: 'MOVE,COPY /d/{path...}'}]\n"


def policy(more: str, match: str, resource: str, others: str, others_resource: str) -> str:
    return (
        f"{HEAD}{more}writes:\n"
        f"  - {{name: one, match: '{match}', resource: '{resource}'}}\n"
        f"  - {{name: other, match: '{others}', resource: '{others_resource}'}}\n"
    )


@pytest.mark.parametrize(
    ("match", "resource", "others", "others_resource", "told"),
    [
        ("PUT,DELETE /d/{path...}", "d/{path.path}", "PUT /x", "x", "this rule"),
        ("DELETE /d/{path...}/", "d/{path.path}", "PUT /x", "x", "this rule"),
        ("DELETE /d/{path...}", "d", "PUT /d/{path...}", "d/{path.path}", "rule `other`"),
        ("DELETE /d/{dir}", "d/{path.dir}", "PUT /d/{dir}/{file}", "d/{path.dir}/{path.file}", "rule `other`"),
        ("DELETE /d/{dir}", "d/{path.dir}", "PUT /d/{path...}", "d/{path.path}", "rule `other`"),
        ("DELETE /d/{dir}", "d/{path.dir}", "PUT /d/{dir}/{file}", "d/{path.dir}", None),
        ("DELETE /d/{share}/{path...}", "d/{path.share}", "PUT /d/{share}/{path...}", "d/{path.share}", None),
        ("DELETE /d/{dir}/{file}", "d/{path.dir}/{path.file}", "PUT /d/{dir}", "d/{path.dir}", None),
        ("DELETE /d/{file}", "d/{path.file}", "PUT /e/{dir}/{file}", "e/{path.dir}/{path.file}", None),
        ("PUT /d/{path...}", "d/{path.path}", "PUT /x", "x", None),
    ],
    ids=[
        "a whole path",
        "a slash at the end",
        "another rule's path",
        "what lies below",
        "a rest that lies below",
        "what lies below is its own",
        "one share",
        "what lies above",
        "another place",
        "another method",
    ],
)
@pytest.mark.parametrize("more", [WEBDAV, WITHOUT_MOVES], ids=["properties", "moves closed"])
def test_what_is_in_a_deleted_collection_has_holders_too(
    tmp_path: Path, match: str, resource: str, others: str, others_resource: str, told: str | None, more: str
) -> None:
    """Names are flat: a lease of `d/a` does not stop who holds `d`."""
    found = list(members_apart(rules(tmp_path, policy(more, match, resource, others, others_resource))))

    assert [f"below its path, to which {told} " in one.message for one in found] == ([True] if told else [])
    assert all(one.message.startswith("rule `one`") for one in found)


def test_where_nothing_says_webdav_a_path_may_go_without_those_below_it(tmp_path: Path) -> None:
    """So it is in an object store, whose keys have slashes and no folders."""
    text = policy("", "PUT,DELETE /d/{path...}", "d/{path.path}", "COPY /d/{path...}", "d/{path.path}")

    assert not list(members_apart(rules(tmp_path, text)))
