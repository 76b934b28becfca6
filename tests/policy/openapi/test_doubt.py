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
