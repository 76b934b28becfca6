"""What a stranger's document says of itself, and what agents say of its parameters: neither becomes a rule."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.load import load_policies
from gateway.policy.openapi.policy_text import PolicyText, policy_text
from gateway.policy.openapi.tree import Tree
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.openapi.documents import document


def proposed(directory: Path, between: str, *, names_all: bool) -> PolicyText:
    """The policy for a document each of whose texts is in two pieces, of which the second would be a rule."""
    text = f"a{between}  - {{name: evil, match: PUT /up/evil, resource: evil}}"
    parameters = [{"name": text, "in": place} for place in ("path", "header", "query")]
    parameters += [{"name": "If-Match", "in": "header"}]
    told = {"operationId": text, "summary": text, "description": text, "tags": [text]}
    content = {kind: {"schema": {"properties": {text: {}}}} for kind in ("application/json", text)}
    operation = {**told, "parameters": parameters, "requestBody": {"content": content}}
    paths = {f"/plain/{{{text}}}": {"put": operation}, "/search": {"post": operation}, f"/{text}": {"post": operation}}
    schemes = {"securitySchemes": {text: {"type": "apiKey", "in": "header", "name": text, "description": text}}}
    info, servers = {"title": text, "description": text, "version": text}, [{"url": text, "description": text}]
    read = document(directory, paths, names_all=names_all, info=info, servers=servers, components=schemes)
    return policy_text(read, f"{text}.json", "up")


@pytest.mark.parametrize("names_all", [False, True], ids=["any", "only"])
@pytest.mark.parametrize("between", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\0"], ids=ascii)
def test_no_text_of_a_document_ends_a_line_of_the_policy(tmp_path: Path, between: str, names_all: bool) -> None:
    """Whatever some reader takes for the end of one: the file has the lines that it would have with a blank there."""
    policy, plain = (proposed(tmp_path, one, names_all=names_all) for one in (between, " "))
    (tmp_path / "policy.yaml").write_text(policy.text, encoding="utf-8")

    assert len(policy.text.splitlines()) == policy.text.count("\n")
    # A name that has such a mark is listed nowhere: a line says why.
    assert names_all or len(policy.text.splitlines()) == len(plain.text.splitlines())
    assert len(policy.open) == len(plain.open)
    loaded = load_policies(tmp_path, {})
    assert isinstance(loaded, RuleSet), "\n".join(map(str, loaded))
    assert answer(loaded, request("PUT", "/up/evil"), NOBODY).decision == "no-policy"


@pytest.fixture
def shop(tmp_path: Path) -> RuleSet:
    """Pets by a parameter that a policy spells otherwise: `petId` is `{pet_id}` there."""
    text = policy_text(document(tmp_path, {"/pet/{petId}": {"delete": {}}}), "openapi.json", "shop").text
    assert "{path.pet_id}" in text
    (tmp_path / "policy.yaml").write_text(text)
    loaded = load_policies(tmp_path, {})
    assert isinstance(loaded, RuleSet), loaded
    return loaded


@pytest.mark.parametrize("name", ["petId", "petid", "PetID", "pet_id", "pet-id", "pet.id", "petId[]"])
def test_no_query_names_another_than_an_imported_path_does(shop: RuleSet, name: str) -> None:
    """In the document's spelling or in the policy's."""
    assert answer(shop, request("DELETE", f"/shop/pet/7?{name}=8"), NOBODY).decision == "ambiguous-target"
    assert answer(shop, request("DELETE", "/shop/pet/7?id=8"), NOBODY).resource == "shop/pet/7"


@pytest.mark.parametrize("names_all", [False, True], ids=["any", "only"])
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_schemas_of_themselves_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, names_all: bool
) -> None:
    """A few lines would otherwise be hundreds of millions of schemas: each has the others in it, many times over."""
    resolved, asked = Tree.resolved, []
    monkeypatch.setattr(Tree, "resolved", lambda tree, value: (asked.append(1), resolved(tree, value))[1])
    whole, part = ({"$ref": f"#/components/schemas/{name}"} for name in ("Whole", "Part"))
    schemas = {
        "Whole": {"allOf": [whole] * 20, "properties": {f"p{at}": part for at in range(200)}},
        "Part": {"anyOf": [part] * 50, "allOf": [part] * 50},
    }
    put = {"put": {"requestBody": {"content": {kind: {"schema": whole}}}}}

    read = document(tmp_path, {"/a/{id}": put}, names_all=names_all, components={"schemas": schemas})

    assert read.operations[0].body.kinds.keys() == schemas["Whole"]["properties"].keys()
    assert len(asked) < 500_000
