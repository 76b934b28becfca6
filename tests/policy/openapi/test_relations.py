"""What ties two things is written from either of them."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document


def asked(directory: Path, *lines: str) -> list[str]:
    """The questions about relations, each by its operation and what it is about."""
    paths: dict[str, Any] = {}
    for line in lines:
        method, path = line.split(" ")
        paths.setdefault(path, {})[method.lower()] = {"operationId": f"it-{len(paths)}"}
    told = policy_text(document(directory, paths), "a.json", "up").open
    about = ("writes from the other end", "of one kind")
    found = [line.partition("(")[2] for line in told if any(one in line for one in about)]
    return [f"{line.partition(')')[0]}: {line.split('`')[1]}" for line in found]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            ("PUT /groups/{groupId}/users/{userId}", "DELETE /users/{userId}/groups/{groupId}"),
            ["DELETE /users/{userId}/groups/{groupId}: /groups/{groupId}/users/{userId}"],
        ),
        (
            ("POST /users/{id}/roles", "DELETE /users/{id}/roles", "POST /roles/{id}/users"),
            ["POST /roles/{id}/users: /users/{id}/roles"],
        ),
        (
            ("POST /v1/users/{id}/roles", "PUT /v1/roles/{role}/users/{user}"),
            ["PUT /v1/roles/{role}/users/{user}: /v1/users/{id}/roles"],
        ),
        (("PUT /groups/{g}/users/{u}", "DELETE /groups/{g}/users/{u}"), []),
        (("POST /templates/{t}/instantiateProject", "POST /projects/{p}/saveAsTemplate"), []),
        (("POST /users/{id}/roles",), []),
        (("POST /users/{id}", "POST /roles/{id}"), []),
    ],
    ids=["by both ids", "the other in the body", "one of each", "one end", "actions", "one", "things"],
)
def test_the_second_end_of_a_relation_is_asked_about(tmp_path: Path, lines: tuple[str, ...], wanted: list[str]) -> None:
    """Once, with the path of the first."""
    assert asked(tmp_path, *lines) == wanted


@pytest.mark.parametrize(
    ("path", "ends"),
    [
        ("/users/{id}/friends/{friendId}", "{id}"),
        ("/users/{userId}/pin/{pinnedUserId}", "{user_id}"),
        ("/users/{a_id}/users/{b_id}", "{a_id}"),
        ("/tasks/{task}/dependencies/{dependency}", "{task}"),
        ("/swap/{a}/{b}", "{a}"),
        ("/dms/{user_id_1}/{user_id_2}/topic", "{user_id_1}"),
        ("/teams/{team}/members/{team_member_id}", None),
        ("/repos/{owner}/{repo}", None),
        ("/webhooks/{id}/{token}", None),
        ("/users/{id}/photos/{photo_id}", None),
        ("/docs/{id}/pages/draft/{page}", None),
    ],
)
def test_two_things_of_one_kind_are_asked_about(tmp_path: Path, path: str, ends: str | None) -> None:
    """Once for all methods: who follows whom is one relation in either order of the ids."""
    found = asked(tmp_path, f"PUT {path}", f"DELETE {path}")

    assert found == ([f"PUT {path}: {ends}"] if ends else [])
