"""One operation as a rule."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.proposal import Proposal, native_key, propose, unread_keys
from tests.policy.openapi.documents import document

KEY = {"name": "Idempotency-Key", "in": "header"}
OTHER_KEY = {"name": "X-Idempotency-Token", "in": "header", "required": True}


def proposed(directory: Path, method: str, path: str, **operation: object) -> Proposal:
    (one,) = propose(document(directory, {path: {method: operation}}), "up")
    return one


@pytest.mark.parametrize(
    ("method", "path", "match", "resource", "parent"),
    [
        ("put", "/pets/{petId}", "PUT /up/pets/{pet_id}", "up/pets/{path.pet_id}", False),
        ("post", "/pets", "POST /up/pets", "up/pets", True),
        ("post", "/pets/{id}/photos", "POST /up/pets/{id}/photos", "up/pets/{path.id}", True),
        ("put", "/pets/{id}/photo", "PUT /up/pets/{id}/photo", "up/pets/{path.id}", False),
        ("put", "/a/{id}/b/{id}", "PUT /up/a/{id}/b/{id_2}", "up/a/{path.id}/b/{path.id_2}", False),
        ("delete", "/{pet-id}/", "DELETE /up/{pet_id}/", "up/{path.pet_id}", False),
        ("post", "/", "POST /up/", "up", True),
        ("put", "/f/{path+}", "PUT /up/f/{path...}", "up/f/{path.path}", False),
        ("put", "/%61/{x}", "PUT /up/%61/{x}", "up/a/{path.x}", False),
        ("put", "/{}", "PUT /up/{part}", "up/{path.part}", False),
    ],
    ids=["id", "create", "create below", "part", "twice", "slash", "root", "greedy", "escape", "nameless"],
)
def test_a_path_becomes_a_match_and_a_resource(
    tmp_path: Path, method: str, path: str, match: str, resource: str, parent: bool
) -> None:
    """The resource ends with the last placeholder; what is created has no id yet and takes its parent."""
    one = proposed(tmp_path, method, path)

    assert (one.match, one.resource, one.parent, one.closed) == (match, resource, parent, None)


@pytest.mark.parametrize(
    "path",
    [
        "/pets/{id}:cancel",
        "/pets/{id}.json",
        "/pets/{a}-{b}",
        "/a//b",
        "/../b",
        "/a;v=1",
        "/a?b={c}",
        "/{a+}/b",
        "a/b",
        "/{a",
        "/a\tb",
    ],
)
def test_what_a_match_cannot_say_exactly_stays_closed(tmp_path: Path, path: str) -> None:
    """A rule that takes more than its operation would fence the wrong resource."""
    assert proposed(tmp_path, "put", path).closed


def test_another_server_is_another_upstream(tmp_path: Path) -> None:
    """Its operations must not be sent to this one."""
    assert "server of its own" in (proposed(tmp_path, "put", "/a", servers=[{"url": "https://b.example"}]).closed or "")
    assert proposed(tmp_path, "put", "/a", servers=[{"url": "https://api.example/v1/"}]).closed is None


def test_the_second_of_two_equal_paths_stays_closed(tmp_path: Path) -> None:
    """Placeholders' names do not tell requests apart."""
    first, other, second = propose(
        document(tmp_path, {"/a/{x}": {"put": {"operationId": "one"}, "delete": {}}, "/a/{y}": {"put": {}}}), "up"
    )

    assert (first.closed, other.closed) == (None, None)
    assert second.closed == "it has the same requests as one; keep one of the two"


def test_idempotency_keys_are_recognised(tmp_path: Path) -> None:
    """The most frequent header is the capability; an operation with another one is told."""
    paths = {
        "/a": {"post": {"parameters": [KEY]}},
        "/b": {"post": {"parameters": [{**KEY, "name": "idempotency-key"}]}},
        "/c": {"post": {"parameters": [OTHER_KEY], "operationId": "c"}},
        "/d": {"post": {"parameters": [{"name": "Idempotency_Key", "in": "header"}]}},
    }
    read = document(tmp_path, {**paths, "/e": paths["/a"]})

    proposals = propose(read, "up")

    assert native_key(read) == "Idempotency-Key"
    assert [each.key is not None for each in proposals] == [True, True, False, False, True]
    assert unread_keys(proposals) == ("c (POST /c): takes its key in X-Idempotency-Token",)


def test_if_match_is_recognised(tmp_path: Path) -> None:
    """In any spelling."""
    assert proposed(tmp_path, "put", "/a", parameters=[{"name": "if-match", "in": "header"}]).conditional


@pytest.mark.parametrize(
    ("method", "path", "operation", "reads_like"),
    [
        ("post", "/pets/search", {}, "`search` in its name"),
        ("post", "/pets", {"operationId": "listPets"}, "`list` in its name"),
        ("put", "/search", {}, None),
        ("delete", "/a", {"x-read-only": True}, "a hint in the document"),
        ("post", "/pets", {"operationId": "createPet"}, None),
    ],
    ids=["path", "id", "no POST", "hint", "create"],
)
def test_a_likely_read_is_a_question(
    tmp_path: Path, method: str, path: str, operation: dict[str, object], reads_like: str | None
) -> None:
    """By its name, where it is a POST, or by a hint."""
    assert proposed(tmp_path, method, path, **operation).reads_like == reads_like


@pytest.mark.parametrize(
    ("path", "integers", "forms"),
    [
        ("/pets/{petId}", ["petId"], {"path.pet_id": "integer"}),
        ("/pets/{petId}/photos/{n}", ["petId", "n"], {"path.pet_id": "integer", "path.n": "integer"}),
        ("/owners/{name}/pets/{petId}", ["petId"], {"path.pet_id": "integer"}),
        ("/pets", ["petId"], {}),
    ],
    ids=["all", "both", "one of two", "none"],
)
def test_each_id_has_the_form_that_the_document_says(
    tmp_path: Path, path: str, integers: list[str], forms: dict[str, str]
) -> None:
    """What the document says of one says nothing of another."""
    parameters = [{"name": name, "in": "path", "schema": {"type": "integer"}} for name in integers]

    assert proposed(tmp_path, "put", path, parameters=parameters).forms == forms


@pytest.mark.parametrize(
    ("paths", "closed"),
    [
        (["/a/{x}?do=b", "/a/{x}"], [False, False]),
        (["/a/{x}?do=b", "/a/{x}?do=c"], [False, False]),
        (["/a/{x}?do=b", "/a/{y}?do=b"], [False, True]),
        (["/a/{x}?do=b", "/a/{x}?b=do", "/a/{x}"], [False, True, False]),
    ],
    ids=["beside the path alone", "values of one name", "the same", "another name"],
)
def test_a_query_in_a_path_is_a_condition(tmp_path: Path, paths: list[str], closed: list[bool]) -> None:
    """The resource is that of the path; what no condition tells apart stays closed."""
    found = propose(document(tmp_path, {path: {"post": {}} for path in paths}), "up")

    assert [one.closed is not None for one in found] == closed
    assert found[0].resource == "up/a/{path.x}"


def test_an_id_in_the_body_names_the_item(tmp_path: Path) -> None:
    """Where it is exactly what the path of the item has: both are one resource then."""
    integer = {"type": "integer"}
    body = {"content": {"application/json": {"schema": {"properties": {"id": integer}}}}}
    parameters = [{"name": "id", "in": "path", "schema": integer}]
    paths = {"/a/docs": {"put": {"requestBody": body}}, "/a/docs/{id}": {"delete": {"parameters": parameters}}}

    whole, item = propose(document(tmp_path, paths), "up")

    assert (whole.resource, whole.forms) == ("up/a/docs/{json:/id}", {"json:/id": "integer"})
    assert (item.resource, item.forms) == ("up/a/docs/{path.id}", {"path.id": "integer"})


def test_the_second_path_of_a_thing_has_no_rule(tmp_path: Path) -> None:
    """Nor has what looks like a read of it; a read alone makes no second path."""
    put: dict[str, Any] = {"put": {}}
    search: dict[str, Any] = {"post": {}}
    twice = {"/cards/{c}": put, "/users/{u}/cards/{c}": put, "/users/{u}/cards/{c}/search": search}
    once = {"/cards/{c}/search": search, "/users/{u}/cards/{c}/search": search}

    assert [one.closed is not None for one in propose(document(tmp_path, twice), "up")] == [False, True, True]
    assert [one.closed is not None for one in propose(document(tmp_path, once), "up")] == [False, False]


def test_a_question_stands_at_a_rule_that_is_there(tmp_path: Path) -> None:
    """The first one of a thing that stays open."""
    paths = {
        "/persons/{person}": {"put": {}},
        "/people/{person}": {"post": {"parameters": [{"name": "person", "in": "path", "schema": {"type": "number"}}]}},
        "/people/{person}~erase": {"post": {}},
        "/people/{person}/name": {"put": {}},
    }

    first, closed, _, second = propose(document(tmp_path, paths), "up")

    assert closed.closed
    assert [sum("fenced apart" in ask for ask in one.asks) for one in (first, closed, second)] == [0, 0, 1]


ERASE = {"/users/{id}~erase": {"post": {"operationId": "erase"}}}


def user(schema: Any) -> Any:
    return {"/users/{id}": {"post": {"parameters": [{"name": "id", "in": "path", "schema": schema}]}}}


@pytest.mark.parametrize(
    ("user", "closed", "form"),
    [
        (user({}), False, "word"),
        (user({"type": "integer"}), False, "integer"),
        (user({"type": "number"}), True, None),
        ({"/{path+}": {"post": {}}}, True, None),
        ({"/users/{id}": {"put": {}}}, False, None),
    ],
    ids=["text", "an integer", "a number", "all that follows", "another method"],
)
def test_no_rule_takes_what_no_match_can_name(tmp_path: Path, user: Any, closed: bool, form: str | None) -> None:
    """Its ids become words where that keeps the other operation out; else it is closed too."""
    one, erase = propose(document(tmp_path, {**user, **ERASE}), "up")

    assert erase.closed
    assert (one.closed is not None, next(iter(one.forms.values()), None)) == (closed, form)
    assert any("erase" in note for note in one.notes) is (form == "word")


@pytest.mark.parametrize(("other", "form"), [("/docs", None), ("/a+b", "word")], ids=["alone", "beside a plus"])
def test_text_has_no_colon_as_long_as_no_path_has_a_plus(tmp_path: Path, other: str, form: str | None) -> None:
    """No form is needed then: what a rule says nothing of takes unreserved characters alone."""
    paths: dict[str, Any] = {"/users/{id}": {"post": {}}, "/users/{id}:erase": {"post": {}}, other: {"post": {}}}

    one, _, _ = propose(document(tmp_path, paths), "up")

    assert (one.closed, one.forms.get("path.id")) == (None, form)


def test_a_form_counts_for_all_rules_of_a_thing(tmp_path: Path) -> None:
    """Or one of them would make a resource that the others refuse."""
    paths = {"/users/{id}": {"post": {}, "delete": {}}, "/users/{user}/name": {"put": {}}, **ERASE}

    *rules, _ = propose(document(tmp_path, paths), "up")

    assert [list(one.forms.values()) for one in rules] == [["word"]] * 3


def test_what_may_be_several_segments_takes_all_that_follows(tmp_path: Path) -> None:
    """At the end of a path: a match cannot say it elsewhere."""
    several = [{"name": "file", "in": "path", "x-multi-segment": True}]

    end, middle = propose(
        document(tmp_path, {f"/files/{{file}}{more}": {"put": {"parameters": several}} for more in ("", "/name")}), "up"
    )

    assert (end.match, end.resource) == ("PUT /up/files/{file...}", "up/files/{path.file}")
    assert middle.match == "PUT /up/files/{file}/name"


def test_what_counts_for_a_place_is_asked_once(tmp_path: Path) -> None:
    """At its first rule that is no likely read."""
    key = "/users/email/{email}"
    paths: dict[str, Any] = {f"{key}/find": {"post": {}}, key: {"put": {}, "delete": {}}, "/users/{id}": {"put": {}}}

    every = propose(document(tmp_path, paths), "up")

    assert [sum("another key" in ask for ask in one.asks) for one in every] == [0, 1, 0, 0]


def test_what_counts_for_a_place_is_asked_where_a_rule_is(tmp_path: Path) -> None:
    """Also if what would be asked first stays closed."""
    parameters = [{"name": "action", "in": "path", "schema": {"format": "byte"}}]
    either = {"parameters": parameters}
    paths: dict[str, Any] = {
        "/docs/{id}/{action}": {"post": either, "put": either},
        "/docs/{id}/{x}=erase": {"post": {}},
    }

    post, put, _ = propose(document(tmp_path, paths), "up")

    assert (post.closed is None, post.asks) == (False, ())
    assert put.asks[0].startswith("does `{path.action}` say what is done?")


def test_a_format_at_a_paths_end_is_the_mounts(tmp_path: Path) -> None:
    """No form is needed: the mount refuses the ending to every rule."""
    user, as_json = propose(document(tmp_path, {"/users/{id}": {"put": {}}, "/users/{id}.json": {"put": {}}}), "up")

    assert (user.closed, user.forms) == (None, {})
    assert as_json.path.names_format
