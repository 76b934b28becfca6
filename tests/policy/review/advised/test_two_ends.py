"""Writes with two ends, of which the resource names one."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.two_ends import other_ends, other_items
from tests.policy.asking import HEAD, one_rule, rules


def two_rules(match: str, resource: str, others: str, others_resource: str) -> str:
    """One that is asked about, and one that writes beside it."""
    return (
        f"{HEAD}writes:\n"
        f"  - {{name: one, match: '{match}', resource: '{resource}'}}\n"
        f"  - {{name: other, match: '{others}', resource: '{others_resource}'}}\n"
    )


@pytest.mark.parametrize(
    ("match", "resource", "others", "others_resource", "told"),
    [
        ("MOVE /d/{path...}", "d/{path.path}", "PUT /x", "x", "this rule"),
        ("COPY /db/{doc}", "doc/{path.doc}", "PUT /x", "x", "this rule"),
        ("MOVE,COPY /d/{share}/{path...}", "d/{path.share}", "PUT /x", "x", "this rule"),
        ("MOVE /d/{path...}/", "d/{path.path}", "PUT /x", "x", "this rule"),
        ("MOVE /d/{path...}", "d", "PUT /d/{path...}", "d/{path.path}", "rule `other`"),
        ("MOVE /d/{path...}", "d", "PUT /d/{dir}/{file}", "d/{path.dir}", "rule `other`"),
        ("MOVE /d/{path...}/", "d", "PUT /d/{path...}", "d/{path.path}", "rule `other`"),
        ("MOVE /d/{file}", "d", "PUT /d/{dir}/{file}", "d/{path.dir}/{path.file}", "rule `other`"),
        ("MOVE /d/{file}", "d", "PUT /d/{path...}", "d/{path.path}", "rule `other`"),
        ("MOVE /d/{path...}", "d", "PUT /d/{path...}", "d", None),
        ("MOVE /d/{path...}", "d", "PUT /e/{path...}", "e/{path.path}", None),
        ("MOVE /d/team/{path...}", "d/team", "PUT /d/{share}/{path...}", "d/{path.share}", None),
        ("MOVE /d/{dir}/{file}", "d", "PUT /d/{dir}", "d/{path.dir}", None),
        ("COPY /d/{path...}", "d/{header.x-share}", "PUT /x", "x", None),
        ("PUT,DELETE /d/{path...}", "d/{path.path}", "PUT /x", "x", None),
    ],
    ids=[
        "a whole path",
        "one segment",
        "a part, in which the ends may differ",
        "a slash at the end",
        "another rule's path",
        "another rule's part",
        "another rule's, without the slash",
        "what lies below",
        "a rest that lies below",
        "one resource",
        "paths that are no end",
        "a part that is text in the path",
        "what lies above",
        "no part of the path",
        "another method",
    ],
)
def test_the_other_end_of_a_move_has_a_holder_too(
    tmp_path: Path, match: str, resource: str, others: str, others_resource: str, told: str | None
) -> None:
    """What `Destination` names is written over, and a lease of another path does not stop it."""
    found = list(other_ends(rules(tmp_path, two_rules(match, resource, others, others_resource))))

    assert [f"names, to which {told} " in one.message for one in found] == ([True] if told else [])
    assert all(one.message.startswith("rule `one`") for one in found)


def test_it_is_told_once_for_an_upstream(tmp_path: Path) -> None:
    text = two_rules("MOVE /d/{path...}", "d/{path.path}", "COPY /d/{path...}", "d/{path.path}")

    (found,) = other_ends(rules(tmp_path, text))

    assert found.message.startswith("rule `one` (and 1 other of its upstream) moves or copies")


@pytest.mark.parametrize(
    ("resource", "warned"),
    [
        *(
            (f"x/{{json:{pointer}}}", True)
            for pointer in ("/ids/0", "/items/0/id", "/0", "/params/args/0/0", "/a/b/12")
        ),
        *((f"x/{{json:{pointer}}}", False) for pointer in ("/id", "/params/0", "/params/args/1", "/a/b0")),
        ("x/{path.id}", False),
    ],
)
def test_a_resource_that_is_one_item_of_a_list(tmp_path: Path, resource: str, warned: bool) -> None:
    """The API writes the others too. A call's arguments in their order are no list of things."""
    found = list(other_items(rules(tmp_path, one_rule(resource=resource))))

    assert [one.message.startswith("rule `one` names its resource by one item") for one in found] == [True] * warned


@pytest.mark.parametrize(
    ("kind", "when", "warned"),
    [
        *(("read_only", when, True) for when in ("/ops/0/kind: a", "/0: a")),
        *(("closed", when, True) for when in ("/ops/0/kind: a", "/ops/0: {present: true}")),
        *((kind, when, False) for kind in ("read_only", "closed") for when in ("/params/0: a", "/kind: a")),
    ],
)
def test_a_condition_on_one_item_of_a_list(tmp_path: Path, kind: str, when: str, warned: bool) -> None:
    """Whatever the others say, what is told by it passes."""
    entry = f"{kind}: [{{match: POST /x, when: {{json: {{{when}}}}}}}]\n"
    found = list(other_items(rules(tmp_path, f"{HEAD}{entry}writes: [{{name: w, match: POST /x, resource: x}}]\n")))

    assert ["one item of a list says" in one.message for one in found] == [True] * warned
