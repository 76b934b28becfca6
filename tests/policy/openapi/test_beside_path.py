"""What a body, a query or a header may say beside the path of what the path names."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.load import load_policies
from gateway.policy.openapi.policy_text import PolicyText, policy_text
from gateway.policy.openapi.vocabulary import snake_name
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.openapi.documents import document

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def body(*names: str, types: tuple[str, ...] = (JSON,)) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {name: {} for name in names}}
    return {"requestBody": {"content": {one: {"schema": schema} for one in types}}}


def proposed(directory: Path, *lines: tuple[str, dict[str, Any]]) -> PolicyText:
    paths: dict[str, Any] = {}
    for line, operation in lines:
        method, path = line.split(" ")
        paths.setdefault(path, {})[method.lower()] = operation
    return policy_text(document(directory, paths), "a.json", "up")


def decided(directory: Path, text: str, method: str, target: str, sent: bytes, kind: str = JSON) -> str:
    (directory / "policy.yaml").write_text(text)
    loaded = load_policies(directory, {})
    assert isinstance(loaded, RuleSet), loaded
    return answer(loaded, request(method, target, ("Content-Type", kind), body=sent), NOBODY).decision


PUT = ("PUT /pages/{pageSlug}/", body("page_slug", "text"))
PATCH = ("PATCH /pages/{pageSlug}/", body("PageSlug", types=(JSON, "multipart/form-data")))
NAMES = "does the API write what a body names, and not the path: "


def test_a_body_that_names_what_is_written_is_looked_at(tmp_path: Path) -> None:
    """Django REST writes what it names: another value than the path's is refused, one question asks of all."""
    policy = proposed(tmp_path, PUT, PATCH)

    [asked] = [line for line in policy.open if "body" in line]
    assert asked.startswith(f"{NAMES}PUT /pages/{{pageSlug}}/ (`page_slug`), PATCH /pages/{{pageSlug}}/ (`PageSlug`)?")
    assert "mount: {path: /up, strip: true, names: merged, bodies: [json, multipart]}" in policy.text
    assert policy.text.count("  # Its body has `page_slug`, too.\n") == 1
    for sent, decision in ((b'{"page_slug":"b"}', "ambiguous-target"), (b'{"pageslug":"b"}', "ambiguous-target")):
        assert decided(tmp_path, policy.text, "PUT", "/up/pages/a/", sent) == decision
    assert decided(tmp_path, policy.text, "PUT", "/up/pages/a/", b'{"page_slug":"a"}') != "ambiguous-target"


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            ("PUT /files/{name}", body(types=("application/octet-stream",))),
            "PUT /files/{name} (no JSON, no plain form)",
        ),
        (("POST /photos", body("title", types=("multipart/form-data",))), "POST /photos (no JSON, no plain form)"),
        (("POST /boards/{name}/cards", body("name")), "POST /boards/{name}/cards (`name`)"),
        (("PUT /boards/{name}/cards/{card}", body("name")), "PUT /boards/{name}/cards/{card} (`name`)"),
    ],
    ids=["a file", "a part of a form", "a create below", "a part below"],
)
def test_bodies_are_not_looked_at_where_that_costs_others(
    tmp_path: Path, other: tuple[str, dict[str, Any]], told: str
) -> None:
    """Uploads go on, and so do bodies that call something else so; the question says which."""
    policy = proposed(tmp_path, PUT, other)

    [asked] = [line for line in policy.open if line.startswith(NAMES)]
    assert asked.endswith(f"would refuse {told}")
    assert "strip: true, bodies: [json" in policy.text


@pytest.mark.parametrize(
    ("line", "members"),
    [
        ("PUT /pages/{slug}", ["text"]),
        ("DELETE /pages/{slug}", ["slug"]),
        ("POST /pages/{slug}/comments", ["slug"]),
        ("POST /pages", ["slug"]),
        ("PUT /sites/{slug}/pages/{page}", ["slug"]),
        ("PUT /pages/{id}", ["pageId"]),
    ],
)
def test_other_bodies_are_not_asked_about(tmp_path: Path, line: str, members: list[str]) -> None:
    """A name of a part, of a parent or of nothing."""
    policy = proposed(tmp_path, (line, body(*members)))

    assert not any("a body" in asked for asked in policy.open)
    assert "names: merged" not in policy.text


@pytest.mark.parametrize(
    ("named", "sent", "kind"),
    [
        (body("username"), b'{"username":"bob"}', JSON),
        (body("username", types=(FORM,)), b"username=bob", FORM),
        (
            {"requestBody": {"content": {JSON: {"schema": {"allOf": [{"properties": {"username": {}}}, {}]}}}}},
            b'{"username":"bob"}',
            JSON,
        ),
    ],
    ids=["JSON", "a form", "in parts"],
)
def test_a_name_is_found_in_whatever_the_body_is(tmp_path: Path, named: dict[str, Any], sent: bytes, kind: str) -> None:
    """Asked about, and refused where it says something else."""
    policy = proposed(tmp_path, ("PUT /users/{username}", named))

    assert any(line.startswith(f"{NAMES}PUT /users/{{username}} (`username`)") for line in policy.open)
    assert decided(tmp_path, policy.text, "PUT", "/up/users/ada", sent, kind) == "ambiguous-target"


@pytest.mark.parametrize(
    ("placeholder", "member"),
    [("petId", "id"), ("page_slug", "slug"), ("domain_pk", "pk"), ("domain_pk", "id"), ("item-uuid", "uuid")],
)
def test_an_id_in_the_body_wants_a_placeholder_of_its_name(tmp_path: Path, placeholder: str, member: str) -> None:
    """Or the gateway would not know what it says."""
    put = f"PUT /pets/{{{placeholder}}}"
    policy = proposed(tmp_path, (put, body(member, "name")), (f"DELETE /pets/{{{placeholder}}}", body(member)))

    [asked] = [line for line in policy.open if "id in a body" in line]
    assert f"not the path: {put} (`{member}`)? If so call the placeholder as the body does" in asked
    renamed = policy.text.replace(snake_name(placeholder), member).replace("strip: true", "strip: true, names: merged")
    assert decided(tmp_path, renamed, "PUT", "/up/pets/7", f'{{"{member}":"8"}}'.encode()) == "ambiguous-target"


@pytest.mark.parametrize("member", ["slug", "page_slug"])
@pytest.mark.parametrize("schema", ["data", "list"])
def test_below_its_top_a_body_is_asked_about_too(tmp_path: Path, member: str, schema: str) -> None:
    """And not by `names: merged`, which does not look there."""
    one: dict[str, Any] = {"properties": {member: {}, "text": {}}}
    of = {"properties": {"data": one}} if schema == "data" else {"type": "array", "items": one}
    policy = proposed(tmp_path, ("PUT /pages/{page_slug}", {"requestBody": {"content": {JSON: {"schema": of}}}}))

    [asked] = [line for line in policy.open if "below its top" in line]
    assert f"PUT /pages/{{page_slug}} (`{member}`)? If so close bodies" in asked
    assert "true, names: merged" not in policy.text


def test_a_query_that_says_what_the_path_says_is_asked_about(tmp_path: Path) -> None:
    """The gateway refuses another value there."""
    listed = [{"name": name, "in": "query"} for name in ("doc-id", "page")]

    policy = proposed(tmp_path, ("PUT /docs/{docId}", {"parameters": listed}))

    [asked] = [line for line in policy.open if "in the query" in line]
    assert asked.startswith("what is in the query that is called as a part of the path: PUT /docs/{docId} (`doc-id`)?")
    assert decided(tmp_path, policy.text, "PUT", "/up/docs/7?doc-id=8", b"") == "ambiguous-target"


@pytest.mark.parametrize(
    ("name", "place", "is_told"),
    [
        ("X-HTTP-Method-Override", "header", True),
        ("x_http_method_override", "header", True),
        ("X-Original-URL", "header", True),
        ("_method", "query", True),
        ("method", "query", False),
        ("X-Request-Id", "header", False),
        ("X-é", "header", False),
    ],
)
def test_what_makes_another_request_is_told(tmp_path: Path, name: str, place: str, is_told: bool) -> None:
    """Once, however many operations take it: requests with it are refused."""
    operation = {"parameters": [{"name": name, "in": place}]}

    policy = proposed(tmp_path, *((f"POST /a{at}", operation) for at in range(9)))

    told = [line for line in policy.open if "may be another one" in line]
    assert [f"and 4 more: a request with `{name}` is refused" in line for line in told] == [True] * is_told
