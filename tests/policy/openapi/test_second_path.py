"""Things that two paths of a document most likely name."""

from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import Operation, read_operations
from gateway.policy.openapi.second_path import SecondPaths, Thing, written_thing
from gateway.policy.openapi.translation import translate
from gateway.policy.openapi.tree import Tree


def operations(paths: Any) -> tuple[Operation, ...]:
    read = read_operations(Tree({"paths": paths}))
    assert not isinstance(read, Wrong)
    return read.operations


def written(*lines: str, schema: Any = None) -> list[Thing | None]:
    """What operations such as `PUT /a/{x}` write."""
    parameters = [{"name": "id", "in": "path", "schema": schema}]
    paths: dict[str, dict[str, Any]] = {}
    for line in lines:
        method, path = line.split(" ")
        paths.setdefault(path, {})[method.lower()] = {"parameters": parameters}
    by_line = {str(each): each for each in operations(paths)}
    return [written_thing(by_line[line], translate(by_line[line].path)) for line in lines]


def told(things: list[Thing | None]) -> list[str]:
    """Of each operation `closed` or `asked`, and of what."""
    paths = SecondPaths(thing for thing in things if thing is not None)
    found = []
    for thing in things:
        kind = "closed" if (why := paths.closes(thing)) else "asked" if (why := paths.asks(thing)) else ""
        found.append(f"{kind} {why.split('`')[1]}" if why else "")
    return found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["PUT /apis/a/v1/b/{name}", "PUT /apis/a/v2/b/{name}"], ["closed /apis/a/v2/b/{name}", ""]),
        (["PUT /v1beta1/b/{name}", "PUT /v1/b/{x}"], ["closed /v1/b/{x}", ""]),
        (
            ["PUT /v1alpha3/b/{x}", "PUT /v1beta2/b/{x}", "PUT /v1beta1/b/{x}"],
            ["closed /v1beta2/b/{x}", "", "closed /v1beta2/b/{x}"],
        ),
        (["PUT /v10/b/{name}", "PUT /v9/b/{x}", "PUT /b/{x}"], ["", "closed /v10/b/{name}", "closed /v10/b/{name}"]),
        (["PUT /v1/b/{x}/c", "PUT /v2/b/{x}/c"], ["closed /v2/b/{x}", ""]),
        (["PUT /v1/b/{x}", "POST /v2/b/{x}/run"], ["asked /v2/b/{x}", ""]),
        (["PUT /v1/settings", "PUT /v2/settings"], ["closed /v2/settings", ""]),
        (["POST /v1/docs", "POST /v2/docs"], ["", ""]),
        (["PUT /variants/{x}", "PUT /vouchers/{x}"], ["", ""]),
    ],
    ids=[
        "two versions",
        "a beta",
        "betas",
        "numbers, not texts",
        "of a part",
        "of other writes",
        "without a placeholder",
        "creates",
        "no versions",
    ],
)
def test_another_version_of_a_path_is_closed(lines: list[str], found: list[str]) -> None:
    """The newest stays; what each version writes in its own way is asked about."""
    assert told(written(*lines)) == found


@pytest.mark.parametrize(
    ("longer", "shorter", "found"),
    [
        ("POST /v1/customers/{c}/subscriptions/{s}", "POST /v1/subscriptions/{s}", "closed"),
        ("PATCH /orgs/{org}/teams/{slug}", "PATCH /teams/{id}", "closed"),
        ("PUT /a/{x}/b/{y}/c/{z}", "PUT /a/{x}/c/{z}", "closed"),
        ("POST /customers/{c}/subscriptions/{s}/end", "POST /subscriptions/{s}/end", "closed"),
        ("DELETE /groups/{g}/users/{u}", "DELETE /users/{u}", "asked"),
        ("PUT /groups/{g}/users/{u}", "PATCH /users/{u}", "asked"),
        ("PATCH /issues/comments/{c}", "PATCH /comments/{c}", "asked"),
        ("PUT /groups/{g}/users", "PUT /users/{u}", ""),
    ],
    ids=[
        "below another",
        "of another name",
        "in the middle",
        "an action",
        "taken from a group",
        "put into a group",
        "of another kind",
        "no end of its own",
    ],
)
def test_a_longer_way_to_one_thing(longer: str, shorter: str, found: str) -> None:
    """It is closed where both change the thing alike, and asked about where it may tie one thing to another."""
    for lines in ((longer, shorter), (shorter, longer)):
        [one] = [told(written(*lines))[lines.index(longer)]]
        assert one.partition(" ")[0] == found


@pytest.mark.parametrize(
    ("lines", "is_asked"),
    [
        (["PUT /accounts/{a}/people/{person}", "PUT /accounts/{a}/persons/{person}"], True),
        (["PUT /orgs/{org}", "PUT /organizations/{org}"], True),
        (["PUT /users/{user_id}", "POST /admin/ban/{userId}"], True),
        (["POST /ban/{user_id}", "POST /mute/{user_id}"], True),
        (["PUT /users/{u}", "POST /ban/{u}"], False),
        (["PUT /paths/{path}", "PUT /things/{t}/proxy/{path}"], False),
        (["PUT /teams/{t}/members/{username}", "PUT /teams/{t}/blocks/{username}"], False),
        (["PUT /docs/{id}", "PUT /notes/{id}"], False),
        (["PUT /users/{u}/posts/{post}", "PUT /blogs/{b}/posts/{post}"], True),
        (["PUT /users/{u}/posts/{id}", "PUT /blogs/{b}/posts/{id}"], False),
        (["PUT /api/v1/spaces/{s}/events/{name}", "PUT /apis/events/v1/spaces/{s}/events/{name}"], True),
    ],
    ids=[
        "side by side",
        "at the top",
        "by the same name elsewhere",
        "of what no path is called",
        "by a letter",
        "by a name of many things",
        "of a third thing",
        "any id",
        "under two parents",
        "any id under two parents",
        "one end of two pairs",
    ],
)
def test_what_may_be_one_thing_is_asked_about(lines: list[str], is_asked: bool) -> None:
    """At the second path, by names that say what is named."""
    assert [bool(one) for one in told(written(*lines))] == [False, is_asked]


@pytest.mark.parametrize(
    ("others", "is_asked"),
    [(["PUT /c/{c}", "PUT /d/{d_id}", "PUT /e/{e}", "PUT /f/{f}", "PUT /g/{g}", "PUT /h/{h}"], True), ([], False)],
    ids=["where names tell", "where none does"],
)
def test_a_name_that_tells_nothing_counts_where_the_others_tell(others: list[str], is_asked: bool) -> None:
    """Both are then most likely called so because they are one thing; at the top they are not compared."""
    lines = ["PUT /customers/{c}/cards/{id}", "PUT /customers/{c}/sources/{id}"]

    assert [bool(one) for one in told(written(*lines, *others))[:2]] == [False, is_asked]


def test_ids_that_are_unique_everywhere_need_no_parent() -> None:
    """Whatever they are called."""
    lines = "PUT /users/{u}/posts/{id}", "PUT /blogs/{b}/posts/{id}"

    assert told(written(*lines, schema={"type": "string", "format": "uuid"})) == ["", "asked /users/{u}/posts/{id}"]


def test_many_paths_are_one_question() -> None:
    """It says how many they are, and stands at the first rule of the second path."""
    things = written(*(f"{method} /p{at}/{{x}}/posts/{{post}}" for at in range(4) for method in ("PUT", "DELETE")))
    paths = SecondPaths(thing for thing in things if thing is not None)

    asked = [paths.asks(thing) for thing in things]

    assert [at for at, one in enumerate(asked) if one] == [2]
    assert "does it write what `/p0/{x}/posts/{post}` (or one of 2 other paths) writes? If so" in str(asked[2])


def test_a_name_is_one_question() -> None:
    """Whatever stands before it."""
    asked = told(written("PUT /users/{user_id}", "PUT /ban/{user_id}", "PUT /a/{a}/mute/{user_id}", "PUT /b/{user_id}"))

    assert asked == ["", "asked /users/{user_id}", "", ""]


def test_what_a_body_names_is_compared_as_a_path() -> None:
    """It writes what the paths of single things write."""
    [operation] = operations({"/v1/docs": {"put": {}}})

    thing = written_thing(operation, translate("/v1/docs"), "id")

    assert thing is not None
    assert (thing.place, thing.path) == (("v1", "docs", None), "/v1/docs/{id}")


def test_thousands_of_paths_are_compared_in_a_moment() -> None:
    """Pairs are not what is counted; very long paths are compared by their ends."""
    many = [f"PUT /a{at}/{{x}}/b/{{y}}/c/{{z}}" for at in range(5000)]
    long = "PUT " + "/a/{x}" * 40 + "/c/{z}"

    found = told(written(*many, long, "PUT /c/{z}"))

    assert found == ["closed /c/{z}"] * 5001 + [""]
