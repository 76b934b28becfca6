"""What the words of names tell."""

from itertools import combinations

import pytest

from gateway.policy.openapi.vocabulary import (
    NOUNS_TOO,
    READING,
    WRITING,
    reading_word,
    singular,
    snake_name,
    words,
)


@pytest.mark.parametrize(
    ("name", "told"),
    [("petId", ["pet", "id"]), ("Pet-ID2", ["pet", "i", "d"]), ("x_v2beta", ["x", "v", "beta"]), ("7", []), ("", [])],
)
def test_a_name_is_made_of_words(name: str, told: list[str]) -> None:
    """Humps, marks and digits stand between them; capitals in a row are letters."""
    assert words(name) == told


@pytest.mark.parametrize("name", ["petId", "pet-id", "pet_id", "PetId", "_pet.id"])
def test_names_of_one_thing_are_one(name: str) -> None:
    """However a document spells its placeholders and members."""
    assert snake_name(name) == "pet_id"


@pytest.mark.parametrize(
    ("several", "one"),
    [
        *(("pets", "pet"), ("categories", "category"), ("apis", "api"), ("menus", "menu"), ("keys", "key")),
        *(("statuses", "status"), ("addresses", "address"), ("buses", "bus"), ("processes", "process")),
        *(("databases", "database"), ("releases", "release"), ("houses", "house"), ("causes", "cause")),
        *(("licenses", "license"), ("responses", "response"), ("aliases", "alias"), ("analyses", "analysis")),
        *(("boxes", "box"), ("branches", "branch"), ("caches", "cache"), ("movies", "movie"), ("ties", "tie")),
        *(("people", "person"), ("children", "child"), ("indices", "index"), ("salespeople", "salespeople")),
        *(("user_people", "user_person"), ("user-statuses", "user-status"), ("news", "news"), ("v2", "v2"), ("", "")),
    ],
)
def test_a_plural_is_told_by_its_end(several: str, one: str) -> None:
    """As far as that goes in English; what is one stays so."""
    assert singular(several) == one
    assert singular(one) == one


def test_a_verb_says_one_thing() -> None:
    """No word stands in two of the lists that tell writes from reads."""
    assert not any(one & other for one, other in combinations((WRITING, NOUNS_TOO, READING), 2))


@pytest.mark.parametrize(
    ("operation_id", "segment", "word"),
    [
        ("searchPets", "pets", "search"),
        ("pets_create", "query", "query"),
        ("bulkFetch", "bulkFetch", "fetch"),
        ("deleteByQuery", "_delete_by_query", None),
        ("queryAndPurge", "purge_query", None),
        ("addToList", "items", None),
        ("createPet", "pets", None),
        ("", "", None),
    ],
)
def test_a_read_is_known_by_its_verb(operation_id: str, segment: str, word: str | None) -> None:
    """The first word of the id, or any of the path's last segment."""
    assert reading_word(operation_id, segment) == word
