"""Whatever a document says, drawn at random: the policy that is proposed of it loads."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import read_operations
from gateway.policy.openapi.policy_text import policy_text
from gateway.policy.openapi.tree import Tree
from gateway.policy.openapi.wording import upstream_name
from tests.policy.openapi.test_policy_text import loaded

words = st.text(max_size=12) | st.sampled_from(
    [
        "{id}",
        "{a-b}",
        "{x+}",
        "{id}:a",
        "{id}.json",
        "?a=b",
        "?c=d",
        "a",
        "v1",
        "v2",
        "{item}",
        "me",
        "batch",
        "move",
        "delete",
        "run",
        "{",
        "..",
        "%2F",
        "%zz",
        ";",
        "true",
        "a: b",
        "#",
        "\n- x",
    ]
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
)
schemas = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "array"]) | anything},
    optional={"pattern": words, "format": words, "anyOf": anything, "allOf": anything, "items": anything},
)
parameters = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["id", "item"]), "in": st.just("path"), "schema": schemas})
    | st.fixed_dictionaries(
        {"name": st.sampled_from(["Idempotency-Key", "X-Idempotency-é", "If-Match"]) | words, "in": st.just("header")}
    )
    | st.fixed_dictionaries(
        {"name": words, "in": st.just("query"), "schema": schemas},
        optional={"style": st.sampled_from(["deepObject", "form"]), "explode": st.booleans()},
    )
    | st.fixed_dictionaries({"$ref": words})
    | anything,
    max_size=3,
)
bodies = st.dictionaries(
    st.sampled_from(["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]),
    st.fixed_dictionaries({"schema": st.fixed_dictionaries({"properties": st.dictionaries(words, schemas)}) | anything})
    | anything,
    max_size=2,
)
operations = st.dictionaries(
    st.sampled_from(["operationId", "summary", "description", "x-read-only"]), anything, max_size=4
).flatmap(lambda fields: parameters.map(lambda listed: {**fields, "parameters": listed}))
operations |= operations.flatmap(
    lambda fields: bodies.map(lambda content: {**fields, "requestBody": {"content": content}})
)
items = st.dictionaries(
    st.sampled_from(["get", "post", "put", "patch", "delete", "$ref"]), operations | anything, max_size=4
)
paths = st.dictionaries(
    st.lists(words, max_size=4).map(lambda parts: "/" + "/".join(parts)) | words, items | anything, max_size=5
)


@given(paths, words, anything, anything, st.booleans())
def test_the_text_loads_whatever_the_document_says(
    paths: Any, title: str, servers: Any, schemes: Any, names_all: bool
) -> None:
    """Names, summaries and paths are a stranger's; none of them becomes a part of the policy's grammar."""
    root = {"paths": paths, "info": {"title": title}, "servers": servers, "components": {"securitySchemes": schemes}}
    read = read_operations(Tree(json.loads(json.dumps(root))), names_all=names_all)
    assert not isinstance(read, Wrong)

    policy = policy_text(read, f"{title}.json", upstream_name(title))

    assert len(loaded(policy.text).entries) == policy.rules
    assert all(line.isprintable() for line in policy.open)
