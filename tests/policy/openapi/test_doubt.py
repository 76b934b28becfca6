"""Operations whose path most likely does not name what they write."""

from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.doubt import Items
from gateway.policy.openapi.operation import Operation, read_operations
from gateway.policy.openapi.translation import translate
from gateway.policy.openapi.tree import Tree

INTEGER = [{"name": "id", "in": "path", "schema": {"type": "integer"}}]
ITEM = {"delete": {"parameters": INTEGER}}


def body(*types: str, **members: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {name: {"schema": {"properties": members}} for name in types}}}


BY_ID = body("application/json", id={"type": "integer"})


def operations(paths: Any) -> list[Operation]:
    read = read_operations(Tree({"paths": paths}))
    assert not isinstance(read, Wrong)
    return list(read.operations)


@pytest.mark.parametrize(
    ("method", "path", "operation", "told"),
    [
        ("put", "/docs", {}, "closes: it writes what `/docs/{id}` writes too"),
        ("delete", "/docs", BY_ID, "closes: it writes what"),
        ("put", "/docs", BY_ID, "exact: id"),
        ("put", "/docs", body("application/json", "application/xml", id={"type": "integer"}), "closes: it writes what"),
        ("put", "/docs", body("application/json", id={"type": "string"}), "closes: it writes what"),
        ("put", "/docs", body("application/json", docId={"type": "integer"}), "closes: it writes what"),
        ("post", "/docs", {}, None),
        ("post", "/docs", BY_ID, "asks: its body has `id`"),
        ("patch", "/docs/latest", {}, "closes: `latest` may be another name"),
        ("patch", "/docs/settings", {}, "closes: `settings` may be another name"),
        ("post", "/docs/me/photo", {}, "closes: `me` may be another name"),
        ("post", "/docs/@me/photo", {}, "closes: `@me` may be another name"),
        ("post", "/docs/~/keys", {}, "closes: `~` may be another name"),
        ("post", "/docs/-/keys", {}, "closes: `-` may be another name"),
        ("post", "/docs/@original/keys", {}, "closes: `@original` may be another name"),
        ("post", "/docs/root/children", {}, "closes: `root` may be another name"),
        ("post", "/docs/all/close", {}, "closes: `all` may be another name"),
        ("patch", "/docs/by-name/{name}", {}, "closes: `by-name` may find what `/docs/{id}` writes by another key"),
        ("patch", "/docs/name/{name}", {}, "asks: does `name` find what `/docs/{id}` writes by another key?"),
        ("patch", "/docs/email/{email}/title", {}, "asks: does `email` find what"),
        ("patch", "/docs/notes/{id}", {}, "asks: does `notes` find what"),
        ("patch", "/docs/notes/{note_id}", {}, None),
        (
            "post",
            "/docs/{id}/{action}",
            {},
            "asks: does `{path.action}` say what is done? If so let `resource` end with",
        ),
        ("put", "/docs/{id}/{eventName}/", {}, "asks: does `{path.event_name}` say what is done?"),
        (
            "post",
            "/other/{command}",
            {},
            "asks: does `{path.command}` say what is done? If so let `resource` end before",
        ),
        ("post", "/docs/{id}/events/{event}", {}, None),
        ("put", "/docs/{id}/actions/{action}", {}, None),
        ("post", "/docs/{id}/{event_id}", {}, "asks: is `{path.event_id}` only what is said of `{path.id}`?"),
        ("post", "/docs/{id}/merge-into/{other}", {}, "closes: it may write two things"),
        ("post", "/docs/{id}/moveTo/{other}", {}, "closes: it may write two things"),
        ("post", "/docs/{id}/swap-order/{other}", {}, "asks: does `swap-order` write two things?"),
        ("post", "/swap-order/{other}", {}, None),
        ("post", "/docs/publish", {}, "asks: does it write what `/docs/{id}` writes?"),
        ("post", "/docs:purge", {}, "asks: does it write what `/docs/{id}` writes?"),
        ("delete", "/docs:old", {}, "closes: `docs:old` may be another name"),
        ("post", "/others:purge", {}, None),
        ("post", "/docs/{id}/publish", {}, None),
        ("put", "/docs/{id}/title", {}, None),
        ("put", "/docs/{id}/", {}, None),
        ("put", "/others", {}, None),
        ("post", "/docs/{id}/move/{other}", {}, "closes: it may write two things"),
        ("post", "/pairs/{from}/{to}", {}, "closes: it may write two things"),
        ("post", "/move/{id}", {}, None),
        ("post", "/batch", {}, "closes: one call may write many things"),
        ("post", "/others", {"operationId": "bulkCreate"}, "closes: one call may write many things"),
        ("delete", "/users/{user}/docs", {}, "asks: does it write what `/docs/{id}` writes? If so close it"),
        ("post", "/users/{user}/docs", {}, None),
    ],
    ids=[
        "a collection",
        "its DELETE",
        "by an id in its body",
        "in XML too",
        "of another type",
        "of another name",
        "a create",
        "a create with an id",
        "the latest",
        "text for an id",
        "me",
        "me with a mark",
        "a tilde",
        "a dash",
        "the original",
        "the root",
        "all",
        "by another key",
        "by a key of that name",
        "a part by a key",
        "by any id",
        "other things",
        "what is done",
        "what happens",
        "what is done to no thing",
        "a thing that happens",
        "an action with a name",
        "an id of one",
        "of two in words",
        "of two in humps",
        "of two, perhaps",
        "of one, perhaps",
        "an action",
        "a method beside it",
        "its DELETE beside it",
        "beside another",
        "an action of one",
        "a part",
        "a slash",
        "no items",
        "from one to another",
        "of two names",
        "of one",
        "a batch",
        "in bulk",
        "all of an owner",
        "one more of an owner",
    ],
)
def test_what_may_be_one_thing_of_two_names(
    method: str, path: str, operation: dict[str, Any], told: str | None
) -> None:
    """It is closed, asked about, or named by its body where that is exact."""
    ruled = operations({"/docs/{id}": ITEM, path: {method: operation}})
    items = Items((each, translate(each.path)) for each in ruled)

    doubt = items.doubt(ruled[-1], translate(path))

    found = {"closes": doubt.closes, "asks": doubt.asks, "exact": doubt.exact and doubt.exact.name}
    assert [f"{kind}: {what}".startswith(told or "-") for kind, what in found.items() if what] == [True] * bool(told)


def test_things_that_nothing_writes_are_no_items() -> None:
    """A collection is written as a whole then."""
    [alone] = operations({"/docs": {"put": {}}, "/docs/{id}": {"get": {}}})

    assert Items([(alone, translate("/docs"))]).doubt(alone, translate("/docs")).closes is None


WORDS = [{"name": "level", "in": "path", "schema": {"type": "string", "enum": ["low", "high"]}}]
TRUTH = [{"name": "flag", "in": "path", "schema": {"type": "boolean"}}]


@pytest.mark.parametrize(
    ("path", "operation", "is_asked"),
    [
        ("/docs/{id}/level/{level}", {}, True),
        ("/docs/{id}/levels/{level}", {"parameters": WORDS}, True),
        ("/docs/{id}/{level}", {"parameters": WORDS}, True),
        ("/docs/{id}/{flag}", {"parameters": TRUTH}, True),
        ("/docs/{id}/status/{n}", {}, True),
        ("/docs/{id}/notes/{n}", {}, False),
        ("/docs/{id}/{part}", {}, True),
        ("/notes/{id}/{part}", {}, False),
        ("/level/{level}", {"parameters": WORDS}, False),
        ("/docs/{id}/level/{level}/steps", {}, False),
        ("/docs/{id}/label/{name}", {}, False),
    ],
)
def test_what_is_said_of_a_thing_is_asked_about(path: str, operation: dict[str, Any], *, is_asked: bool) -> None:
    """A level is none that another holder could have; what is called by a collection, or is deleted, is a thing."""
    ruled = operations({path: {"put": operation}, "/docs/{id}/label/{label}": ITEM, "/notes/{a}/{b}": {"patch": {}}})
    items = Items((each, translate(each.path)) for each in ruled)

    asks = items.doubt(ruled[0], translate(path)).asks or ""

    assert ("only what is said of `{path.id}`?" in asks) == is_asked


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("post", "/docs/{id}/checkpoints/{checkpoint_id}", "does it write `{path.id}` too"),
        ("put", "/docs/{id}/versions/{v}", "does it write `{path.id}` too"),
        ("post", "/docs/{id}/docRevisions/{r}/restore", "does it write `{path.id}` too"),
        ("post", "/docs/{id}/comments/{c}/accept-and-apply", "does it write `{path.id}` too"),
        ("post", "/a/{a}/docs/{id}/notes/{n}:publish", None),
        ("post", "/backups/{backup}/_restore", "does it write what this is a state of too"),
        ("delete", "/docs/{id}/versions/{v}", None),
        ("post", "/docs/{id}/comments/{c}", None),
        ("post", "/docs/{id}/comments/{c}/like", None),
        ("post", "/docs/{id}/publish", None),
        ("post", "/versions", None),
    ],
)
def test_what_was_a_thing_may_become_it_again(method: str, path: str, asked: str | None) -> None:
    """Who restores an older version writes the document, whose holder is another. A version that is deleted is gone."""
    ruled = operations({path: {method: {}}})

    asks = Items((each, translate(each.path)) for each in ruled).doubt(ruled[0], translate(path)).asks

    assert (asks or "").startswith(asked or "-") if asked else asks is None
