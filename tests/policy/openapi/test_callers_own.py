"""Paths to what is the caller's own, without its id."""

from pathlib import Path

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document


def asked(directory: Path, *lines: str) -> list[str]:
    """The questions about operations such as `PUT /a/{x}`: each by its method and path, how both begin and why."""
    paths: dict[str, dict[str, object]] = {}
    for line in lines:
        method, path = line.split(" ")
        paths.setdefault(path, {})[method.lower()] = {}
    told = [line for line in policy_text(document(directory, paths), "a.json", "up").open if "paths with an id" in line]
    return [f"{line.partition('(')[2].partition(')')[0]}: {line.split('`')[1]}, {line.split('`')[3]}" for line in told]


@pytest.mark.parametrize(
    ("own", "other", "question"),
    [
        ("PATCH /me/messages/{m}", "PATCH /users/{u}/messages/{m}", "/me, /users/{u}/messages/{m}"),
        ("PATCH /me", "PATCH /users/{id}", "/me, /users/{id}"),
        ("PATCH /v1/@me", "PATCH /v1/members/{id}/name", "/v1/@me, /v1/members/{id}"),
        ("PUT /me/items/{i}", "PUT /shops/{s}/items/{i}", "/me, /shops/{s}/items/{i}"),
        ("PATCH /drive/items/{item}", "PATCH /drives/{drive}/items/{item}", "/drive, /drives/{drive}"),
        ("PATCH /me/drive/items/{i}", "PATCH /drives/{d}/things/{i}", "/me/drive, /drives/{d}"),
        ("PATCH /profile", "PATCH /profiles/{id}", "/profile, /profiles/{id}"),
        ("POST /user/keys", "PATCH /users/{id}", "/user, /users/{id}"),
        ("POST /user", "PATCH /users/{id}", None),
        ("PATCH /me", "PATCH /docs/{id}", None),
        ("POST /order/{id}/cancel", "PATCH /orders/{id}", None),
        ("PATCH /shops/{s}/owner", "PATCH /owners/{id}", None),
        ("PATCH /status", "PATCH /status/{id}/x", None),
    ],
    ids=[
        "me",
        "me alone",
        "with a mark, behind a version",
        "of any thing",
        "the one of its kind",
        "of me",
        "one alone",
        "a user's",
        "a create",
        "nobody else",
        "with an id",
        "of another thing",
        "a collection",
    ],
)
def test_what_has_no_id_may_be_what_has_one(tmp_path: Path, own: str, other: str, question: str | None) -> None:
    """Whichever of the two the document has first."""
    for lines in ((own, other), (other, own)):
        assert asked(tmp_path, *lines) == ([f"{own}: {question}"] if question else [])


def test_all_that_begins_alike_is_one_question(tmp_path: Path) -> None:
    """Its paths are compared with no others then."""
    own = [f"{method} /me/{text}/{{x}}" for text in ("mails", "files") for method in ("PUT", "DELETE")]
    lines = [*own, "PUT /users/{u}/mails/{mail_id}", "PUT /users/{u}/files/{file_id}"]

    assert asked(tmp_path, *lines) == ["PUT /me/mails/{x}: /me, /users/{u}/mails/{mail_id}"]
