"""A path of a document as a match and a resource. Which paths give which, `test_proposal.py` tells too."""

import time

import pytest

from gateway.policy.openapi.translation import translate


@pytest.mark.parametrize(
    ("path", "match", "resource", "whole", "last"),
    [
        ("/", "/", "", False, ""),
        ("/pets/{petId}", "/pets/{pet_id}", "pets/{path.pet_id}", True, "pets"),
        ("/pets/{petId}/", "/pets/{pet_id}/", "pets/{path.pet_id}", True, "pets"),
        ("/pets/{petId}/photo", "/pets/{pet_id}/photo", "pets/{path.pet_id}", False, "photo"),
        ("/f/{path+}", "/f/{path...}", "f/{path.path}", True, "f"),
        ("/%61/b", "/%61/b", "a/b", False, "b"),
        ("/café/{id}", "/caf%C3%A9/{id}", "café/{path.id}", True, "café"),
        ("/my docs", "/my%20docs", "my docs", False, "my docs"),
    ],
)
def test_the_resource_ends_with_the_last_placeholder(
    path: str, match: str, resource: str, whole: bool, last: str
) -> None:
    """What stands behind it is a collection or an action of what it names."""
    found = translate(path)

    assert (found.match, found.resource, found.whole, found.last, found.wrong) == (match, resource, whole, last, None)


@pytest.mark.parametrize(
    ("path", "query", "wrong"),
    [
        ("/a/{x}?do=b&more=c", {"do": "b", "more": "c"}, False),
        ("/a?do={b}", {}, True),
        ("/a?do=b&do=c", {}, True),
        ("/a?", {}, True),
        ("/a/{id}:b", {}, True),
        ("a", {}, True),
    ],
)
def test_a_query_is_named_where_it_is_plain(path: str, query: dict[str, str], wrong: bool) -> None:
    """All else no match can say."""
    found = translate(path)

    assert (dict(found.query), found.wrong is not None) == (query, wrong)


@pytest.mark.parametrize(
    ("path", "partial", "names_format"),
    [
        ("/a/{id}:b", True, False),
        ("/a/{id}.json", True, True),
        ("/a/{id}.json/", True, False),
        ("/a/{id};b={b}", False, False),
        ("/a/{id}", False, False),
        ("/", False, False),
    ],
)
def test_text_and_placeholder_in_one_is_kept_apart(path: str, partial: bool, names_format: bool) -> None:
    """Where requests can have it, and whether a mount's `format_endings` refuse them."""
    found = translate(path)

    assert (bool(found.partial), found.names_format) == (partial, names_format)


def test_a_long_path_takes_no_long_time() -> None:
    """A document may come from anywhere."""
    before = time.process_time()

    found = translate("/{a}" * 200_000)

    assert found.wrong == "its path has more than 100 segments; shorten it"
    assert time.process_time() - before < 1
