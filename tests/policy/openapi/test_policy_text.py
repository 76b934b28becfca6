"""The text of a proposed policy: it loads, whatever the document says, and asks what it does not say."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.load import load_policies
from gateway.policy.match import Matched
from gateway.policy.openapi.policy_text import policy_text
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import name_of, request
from tests.policy.openapi.documents import document

PETS: dict[str, Any] = {
    "/pets": {
        "get": {},
        "post": {
            "operationId": "createPet",
            "summary": "Create a pet",
            "parameters": [{"name": "Idempotency-Key", "in": "header", "required": True}],
        },
    },
    "/pets/search": {"post": {"operationId": "searchPets"}},
    "/pets/{petId}": {"put": {"operationId": "replacePet", "parameters": [{"name": "If-Match", "in": "header"}]}},
    "/pets/{petId}:feed": {"post": {"operationId": "feedPet"}},
}
SPELLED = (
    "how is `{petId}` spelled? It is text, of which the document says no more; where the API takes several "
    "spellings of one value (`7` and `07`, capitals), or an id has more than letters, digits and `-._~`, write `values`"
)
WHOLE = """\
# Proposed by `fencegate import-openapi` from pets.json (Pet Store), 4 writing operations.
# What the document does not say is marked DECIDE. An operation without a rule stays closed (`no-policy`).

upstream: pets
url: "https://api.example/v1"
# Agents call /pets/...; the API gets what is behind it.
mount: {path: /pets, strip: true}

# DECIDE: SPELLED
# DECIDE: keep the API's credential here, and take it from the agents: who has it writes past the gateway.
# credentials:
#   - {header: "Authorization", value: "Bearer ${env:PETS_TOKEN}"}

capabilities:
  # The API takes idempotency keys in Idempotency-Key: a repeat is sent on under the same key, and refused there.
  # DECIDE: how long does the API remember a key? 24 hours are assumed; nothing is sent again after it.
  idempotency_key: {header: "Idempotency-Key", retain: 24h}
  # Some operations take If-Match; it is forwarded, and the API's 412 comes back untouched.
  conditional: true

# DECIDE: these look like reads. Where one changes nothing, uncomment its line, and remove all else that is
# said of it below.
# read_only:
#   - match: POST /pets/pets/search  # `search` in its name

writes:
  # Create a pet
  # A create or an action without an id of its own: it belongs to what stands before it in the path.
  - name: createPet
    match: POST /pets/pets
    resource: pets/pets
    intent: {mode: required, on_unknown: retry}
  # DECIDE: is it a read? (`search` in its name) It is a write until you say otherwise
  # A create or an action without an id of its own: it belongs to what stands before it in the path.
  - name: searchPets
    match: POST /pets/pets/search
    resource: pets/pets/search
    # intent: {mode: required}  # where a second execution would do harm
  # Takes If-Match.
  - name: replacePet
    match: "PUT /pets/pets/{pet_id}"
    resource: "pets/pets/{path.pet_id}"
  # DECIDE: no rule: a segment of its path is text and a placeholder in one, which no match can say exactly
  # Closed: POST /pets/pets/{petId}:feed
"""


def loaded(text: str) -> RuleSet:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "policy.yaml").write_text(text, encoding="utf-8")
        found = load_policies(Path(directory), {})
    assert isinstance(found, RuleSet), "\n".join(map(str, found)) + "\n" + text
    return found


def test_the_whole_text(tmp_path: Path) -> None:
    """Every decision and every question stands beside its rule."""
    scheme = {"securitySchemes": {"a": {"type": "http", "scheme": "bearer"}}}

    policy = policy_text(document(tmp_path, PETS, components=scheme), "pets.json", "pets")

    assert policy.text == WHOLE.replace("SPELLED", SPELLED)
    assert policy.rules == 3
    assert policy.open == (
        SPELLED,
        "keep the API's credential here, and take it from the agents: who has it writes past the gateway",
        "how long does the API remember a key? 24 hours are assumed; nothing is sent again after it",
        "searchPets (POST /pets/search): is it a read? (`search` in its name) It is a write until you say otherwise",
        "feedPet (POST /pets/{petId}:feed): no rule: a segment of its path is text and a placeholder in one, which no "
        "match can say exactly",
    )


def test_the_text_is_a_policy(tmp_path: Path) -> None:
    """Its rules take the document's operations, and nothing is a read that nobody confirmed."""
    ruleset = loaded(policy_text(document(tmp_path, PETS), "pets.json", "pets").text)

    found = ruleset.match(request("POST", "/pets/pets/search"), Caller())

    assert isinstance(found, Matched)
    assert found.entry.rule.name == "searchPets"
    assert ruleset.upstreams[0].base_path == "/v1"
    assert ruleset.upstreams[0].native_key is not None


def test_a_key_in_another_header_is_read_there(tmp_path: Path) -> None:
    """Agents of the API go on sending it as they do."""
    key = {"name": "X-Idempotency-Key", "in": "header"}

    text = policy_text(document(tmp_path, {"/a": {"post": {"parameters": [key]}}}), "a.json", "up").text

    assert 'key: ["{header.idempotency-key}", "{header.x-idempotency-key}"], on_unknown: retry' in text
    loaded(text)


@pytest.mark.parametrize(
    ("servers", "url", "asks"),
    [
        ([{"url": "https://a.example"}], "https://a.example", False),
        ([{"url": "/v2"}], "https://api.example.com/v2", True),
        ([], "https://api.example.com", True),
        ([{"url": "ftp://a\nwrites: []"}], "https://api.example.com", True),
        ([{"url": "https://u:p@a.example"}], "https://api.example.com", True),
    ],
    ids=["known", "a path", "none", "hostile", "with a password"],
)
def test_an_unknown_server_is_a_question(tmp_path: Path, servers: object, url: str, asks: bool) -> None:
    """The policy names a place that is none, and says so."""
    policy = policy_text(document(tmp_path, {}, servers=servers), "a.json", "up")

    assert f'url: "{url}"' in policy.text
    assert any("correct `url`" in question for question in policy.open) is asks
    loaded(policy.text)


def test_the_types_that_are_json_are_named(tmp_path: Path) -> None:
    """All of them at the upstream, once; without any the field is left out."""
    body: dict[str, Any] = {"requestBody": {"content": {"application/vnd.api+json": {}, "application/json": {}}}}
    patch: dict[str, Any] = {
        "requestBody": {"content": {"application/vnd.api+json": {}, "application/merge-patch+json": {}}}
    }

    policy = policy_text(document(tmp_path, {"/a": {"post": body, "patch": patch}}), "a.json", "up")

    assert 'json_types: ["application/merge-patch+json", "application/vnd.api+json"]\n' in policy.text
    named = {b"application/json", b"application/vnd.api+json", b"application/merge-patch+json"}
    assert loaded(policy.text).upstreams[0].json_types == named
    assert "json_types" not in policy_text(document(tmp_path, {"/a": {"post": {}}}), "a.json", "up").text


@pytest.mark.parametrize("path", ["/items/+archive", "/items/%2Barchive", "/items/{rest+}"])
def test_a_plus_in_the_apis_own_paths_is_one_to_it(tmp_path: Path, path: str) -> None:
    """A server that takes it for a blank could not have such a path."""
    policy = policy_text(document(tmp_path, {path: {"put": {}}}), "a.json", "up")

    assert loaded(policy.text).upstreams[0].mount.plus == ("opaque" if "/+" in path else "refuse")


@pytest.mark.parametrize(
    ("path", "slash", "count"),
    [("/queues/%2F/{queue}", "opaque", 1), ("/queues/a%2Fb", "opaque", 1), ("/queues/a%2F", "refuse", 0)],
)
def test_an_encoded_slash_in_the_apis_own_paths_is_none_to_it(
    tmp_path: Path, path: str, slash: str, count: int
) -> None:
    """As RabbitMQ's first virtual host; at the end of a text no request has it."""
    policy = policy_text(document(tmp_path, {path: {"put": {}}}), "a.json", "up")

    assert policy.rules == count
    assert loaded(policy.text).upstreams[0].mount.encoded_slash == slash


def test_ids_that_are_integers_are_written_so(tmp_path: Path) -> None:
    """Of all parts of a resource, or of single ones."""
    parameters = [{"name": "id", "in": "path", "schema": {"type": "integer"}}]
    paths = {"/pets/{id}": {"put": {"parameters": parameters}}, "/{kind}/{id}": {"put": {"parameters": parameters}}}

    rules = loaded(policy_text(document(tmp_path, paths), "pets.json", "pets").text)

    assert [[part.form for part in entry.template.parts] for entry in rules.entries] == [
        ["integer"],
        ["unreserved", "integer"],
    ]


def test_what_stays_closed_is_closed_to_other_rules_too(tmp_path: Path) -> None:
    """Where a match can name it; its rule stands commented out, and takes its place as soon as somebody decides."""
    read = document(tmp_path, {"/users/{id}": {"patch": {}}, "/users/me?x=y": {"patch": {"operationId": "me"}}})

    text = policy_text(read, "users.json", "up").text

    ruleset = loaded(text)
    assert name_of(ruleset.match(request("PATCH", "/up/users/me?x=y"), Caller())) == "no-policy"
    assert name_of(ruleset.match(request("PATCH", "/up/users/7"), Caller())) == "patch-users-id"
    entry = text.index("closed:"), text.index("\nwrites:")
    opened = (text[: entry[0]] + text[entry[1] :]).replace("  # - name", "  - name").replace("  #   ", "    ")
    assert name_of(loaded(opened).match(request("PATCH", "/up/users/me?x=y"), Caller())) == "me"


def test_no_rule_takes_an_action_of_an_id(tmp_path: Path) -> None:
    """Neither as another resource, nor by the ending of a format."""
    paths: dict[str, Any] = {
        "/users/{id}": {"post": {}, "put": {}},
        "/users/{id}:erase": {"post": {}},
        "/users/{id}.json": {"put": {}},
    }

    policy = policy_text(document(tmp_path, paths), "users.json", "up")

    ruleset = loaded(policy.text)
    assert policy.rules == 2
    for method, target, wanted in (
        ("POST", "/up/users/7", "up/users/7"),
        ("POST", "/up/users/7:erase", "ambiguous-target"),
        ("PUT", "/up/users/7.json", "ambiguous-target"),
    ):
        found = ruleset.resolve_target(method, target, Caller())
        assert (found.decision.name if isinstance(found, Refused) else found[0]) == wanted


def test_questions_stand_beside_their_rules(tmp_path: Path) -> None:
    """A value of several spellings, and a body that may name a thing that is there."""
    by_number = {"parameters": [{"name": "n", "in": "path", "schema": {"type": "number"}}]}
    body: dict[str, Any] = {"requestBody": {"content": {"application/json": {"schema": {"properties": {"id": {}}}}}}}

    policy = policy_text(document(tmp_path, {"/a/{n}": {"put": by_number}, "/a": {"post": body}}), "a.json", "up")

    assert "  # DECIDE: how is `{n}` spelled? It is a number" in policy.text
    assert "  # DECIDE: its body has `id`: does it write over what `/a/{n}` writes?" in policy.text
    assert policy.rules == 2


def test_a_question_about_values_stands_at_the_first_rule_of_a_thing(tmp_path: Path) -> None:
    """All of its rules have one answer."""
    by_mail = {"parameters": [{"name": "u", "in": "path", "schema": {"type": "string", "format": "email"}}]}
    paths = {"/users/{u}": {"put": by_mail, "delete": by_mail}, "/users/{u}/photo": {"put": by_mail}}

    policy = policy_text(document(tmp_path, paths), "users.json", "up")

    [asked] = [line for line in policy.open if "spelled" in line]
    assert asked.startswith("put-users-u (PUT /users/{u}): how is `{u}` spelled? It is a mail address")


def test_ids_of_which_nothing_is_said_are_one_question(tmp_path: Path) -> None:
    """Whatever their number; those that have a form, or a question of their own, are not named."""
    said = [{"name": "a", "in": "path", "schema": {"type": "string", "pattern": "^[0-9]+$"}}]
    paths: dict[str, Any] = {f"/things{at}/{{t{at}}}": {"put": {}, "delete": {}} for at in range(7)}

    policy = policy_text(document(tmp_path, {"/a/{a}": {"put": {"parameters": said}}, **paths}), "a.json", "up")

    [asked] = [line for line in policy.open if "spelled" in line]
    assert asked.startswith("how are `{t0}`, `{t1}`, `{t2}`, `{t3}`, `{t4}` and 2 more spelled? They are text")
    assert f"# DECIDE: {asked}\n" in policy.text
    assert policy.text.count("values: integer\n") == 1


@pytest.mark.parametrize(
    ("paths", "asks"),
    [
        (["/docs/{id}/"], True),
        (["/docs.json", "/docs/{id}"], True),
        (["/docs/{id}", "/docs/{id}.{format}"], True),
        (["/docs/{id}", "/docs/{id}.json"], False),
        (["/docs/{id}", "/docs/"], False),
    ],
    ids=["Django's", "Rails'", "any format", "one that is told", "none"],
)
def test_paths_that_take_formats_are_one_question(tmp_path: Path, paths: list[str], asks: bool) -> None:
    """Where the document tells them itself, the mount refuses them already."""
    policy = policy_text(document(tmp_path, {path: {"put": {}} for path in paths}), "a.json", "up")

    assert sum("`format_endings: refuse`" in line for line in policy.open) == asks
    assert ("format_endings: refuse}" in policy.text) is (paths[-1] == "/docs/{id}.json")


def test_the_second_path_of_a_thing_is_closed(tmp_path: Path) -> None:
    """Its rule stands commented out; with the resource of the first one both are one thing."""
    number = [{"name": "c", "in": "path", "schema": {"type": "integer"}}]
    paths = {path: {"put": {"parameters": number}} for path in ("/cards/{c}", "/users/{u}/cards/{c}")}

    policy = policy_text(document(tmp_path, paths), "a.json", "up")

    ruleset = loaded(policy.text)
    assert name_of(ruleset.match(request("PUT", "/up/users/7/cards/8"), Caller())) == "no-policy"
    entry = policy.text.index("closed:"), policy.text.index("\nwrites:")
    opened = policy.text[: entry[0]] + policy.text[entry[1] :]
    for commented, open_ in (("  # - name", "  - name"), ("  #   ", "    "), ("up/users/{path.u}/cards", "up/cards")):
        opened = opened.replace(commented, open_)
    for target in ("/up/cards/8", "/up/users/7/cards/8"):
        found = loaded(opened).resolve_target("PUT", target, Caller())
        assert not isinstance(found, Refused)
        assert found[0] == "up/cards/8"


def test_a_list_in_a_path_is_one_thing_alone(tmp_path: Path) -> None:
    """The holders of the others would not be asked."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    by_ids = {"parameters": [{"name": "ids", "in": "path", "schema": numbers}]}

    policy = policy_text(document(tmp_path, {"/docs/{ids}": {"delete": by_ids}}), "a.json", "up")

    assert any("It is a list (`7,8` may write two things" in line for line in policy.open)
    ruleset = loaded(policy.text)
    assert isinstance(ruleset.resolve_target("DELETE", "/up/docs/7,8", Caller()), Refused)
    assert not isinstance(ruleset.resolve_target("DELETE", "/up/docs/7", Caller()), Refused)


def test_five_thousand_operations_load(tmp_path: Path) -> None:
    """In about the time that their rules take to be checked."""
    paths: dict[str, Any] = {f"/things{at}/{{id}}": {"put": {}, "delete": {}} for at in range(2500)}

    policy = policy_text(document(tmp_path, paths), "big.json", "big")

    assert policy.rules == 5000
    assert policy.text.count("\n  - name: ") == 5000


def test_a_read_that_the_query_of_its_path_names_is_no_other(tmp_path: Path) -> None:
    """Uncommented it passes what its operation is, and nothing else at the path."""
    paths = {f"/docs?do={word}": {"post": {"operationId": f"{word}Docs"}} for word in ("search", "purge")}
    text = policy_text(document(tmp_path, paths), "o.json", "up").text
    head, begin, rest = text.partition("# read_only:\n")
    entry, _, rules = rest.partition("\n\n")
    uncommented = begin[2:] + "\n".join(line.removeprefix("# ") for line in entry.splitlines())
    own = rules[rules.index("  # A create", rules.index("searchDocs")) :]

    ruleset = loaded(f"{head}{uncommented}\nwrites:\n{own}")

    asked = (f"/up/docs{query}" for query in ("?do=search", "?do=purge", "?do=erase", ""))
    assert [name_of(ruleset.match(request("POST", target), Caller())) for target in asked] == [
        "read",
        "purgeDocs",
        "no-policy",
        "no-policy",
    ]


@pytest.mark.parametrize(("upstream", "name"), [("pet-store", "PET_STORE_TOKEN"), ("3d", "API_3D_TOKEN")])
def test_a_credentials_variable_is_one_that_shells_can_set(tmp_path: Path, upstream: str, name: str) -> None:
    """None of them begins with a digit."""
    schemes = {"securitySchemes": {"b": {"type": "http", "scheme": "bearer"}}}

    text = policy_text(document(tmp_path, {}, components=schemes), "o.json", upstream).text

    assert f'value: "Bearer ${{env:{name}}}"' in text
