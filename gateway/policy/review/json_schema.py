"""The JSON Schema of a policy file, for editors. It is looser than `check`, never stricter."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from gateway.policy.schema import Policy

_DESCRIPTIONS = {
    "When": "Further conditions, all of which must hold; of a list of values any one. What is not there meets none.",
    "When.json": "JSON pointer (RFC 6901) into the body: the value that must stand there. The body is read for it.",
    "When.header": "Name of a request header: its value.",
    "When.query": "Name of a query parameter: its value.",
    "When.form": "Name of a field of a form body: its value. The body is read for it.",
    "When.graphql": "Types of GraphQL operations, and the root fields that they may have.",
    "When.tool": "Name of a tool that an MCP call names.",
    "When.answer": "`true`: an MCP client's answer to what the server asked, for which a call of a tool may wait.",
    "ReadOnly": "Requests that change nothing although their method is a writing one: they pass without a token.",
    "Closed": "Requests that are refused, reads too, although a looser rule would take them.",
    "Closed.match": "As a rule's, reads too; without it every path of the other entries, and reads.",
    "Presence": "Under `closed` only: that the name is there at all, whatever its value.",
    "ReadOnly.only": "As a rule's; beside one of `query`, `json` and `form`, those that are left out allow nothing.",
    "Only": "All that a request may say; what says more is refused. `{NAME: [...]}` lists what a name may say, too.",
    "Only.query": "Names of query parameters; `[]`, or nothing beside `json` or `form`, allows none.",
    "Only.json": "JSON pointers into the body: members at, below or on the way to one of them. `[]` allows none.",
    "Only.form": "Names of a form's fields, urlencoded or multipart. Beside `json` a body may be either.",
    "Only.header": "Names of request headers, beyond those that clients and proxies send by themselves; no `Cookie`.",
    "Mount": "Which requests are this upstream's, by path and host.",
    "Mount.strip": "Whether the mount's path is dropped before forwarding.",
    "Mount.encoded_slash": "`opaque`: an encoded slash (%2F) is a character of its segment, as in GitLab's API.",
    "Mount.delimiters": "`opaque`: `&`, an escaped `?`, `#` or `&` and an escaped escape belong to their segment.",
    "Mount.plus": "`opaque`: a `+` in a path is a plus to the API, and no blank.",
    "Mount.format_endings": "`refuse`, or a list such as `[json, xml]`: endings that the API takes for a format.",
    "Mount.names": "`merged`: the API keeps the names of path, query and body in one map, as WordPress and Laravel do.",
    "Mount.form_in_json": "`opaque`: the API reads a body by its Content-Type, so that JSON is never a form to it.",
    "Mount.coded_bodies": "`undone`: the API undoes a body's `Content-Encoding: gzip`: rules may read it, forms apart.",
    "Mount.locations": "`opaque`: the API itself names places as agents know them, under the mount's path.",
    "Mount.bodies": "All it is sent: `any`, `json`, `form`, `multipart`, types such as `text/csv`; `[]`: no body.",
    "Rule": "One kind of write: which requests it takes, the resource that they write, and how they are fenced.",
    "Rule.match": "`METHOD[,METHOD] /path/{name}/{rest...}`, or a list of them. The path is the one that agents use.",
    "Rule.upgrade": "`websocket`: the rule takes WebSocket handshakes, and only those; `match` is then a GET.",
    "Limits.sessions": "WebSocket sessions at one time, for each worker.",
    "Rule.resource": "What is written, such as `report/{path.id}`; also {query.X}, {header.x}, {json:/p}, {tenant}.",
    "Rule.values": "How what names the resource is spelled, or a list of all there are; or of each part, such as "
    "`{path.number: integer}`. "
    "Where it is left out, `unreserved` (RFC 3986) of what comes from the path or a header and `any` of all else.",
    "RuleFields": "Laid under every rule of the file.",
    "Credential": "A header that the gateway puts on every forwarded request; `${env:NAME}` or `${file:/path}` in it.",
    "Query": "How the upstream is asked what became of an intent.",
    "Evidence": "What an answer must look like to prove it.",
    "Evidence.json": "JSON pointer into the answer: a value, or a comparison such as `>1`.",
    "Capabilities": "What the upstream does by itself.",
    "Intent": "One action with an idempotency key: how it is named, compared and kept.",
    "Fence": "How writes of one resource wait for each other.",
    "Effect": "What a write does to the world; `risk: high` wants a guard against a second execution.",
    "Outcomes": "Which statuses prove that nothing was written, and which prove nothing; 2xx and 3xx are applied.",
}


class _Written(GenerateJsonSchema):
    """The schema of what people write: a list of one may be written as its only item."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        described = super().function_before_schema(schema)
        if described.get("type") == "array" and "items" in described:
            return {"anyOf": [described["items"], described]}
        return described


def policy_json_schema() -> dict[str, Any]:
    """A new document (draft 2020-12)."""
    document = Policy.model_json_schema(by_alias=True, schema_generator=_Written)
    document["$schema"] = _Written.schema_dialect
    document["title"] = "A policy of fencegate: one upstream and its write rules"
    models = document["$defs"]
    # `defaults` may hold what a rule leaves out.
    models["Rule"]["required"] = ["name"]
    for model in (document, *models.values()):
        model.pop("description", None)
        for field in model.get("properties", {}).values():
            _tidy(field)
    for name, text in _DESCRIPTIONS.items():
        model, _, field = name.partition(".")
        (models[model]["properties"][field] if field else models[model])["description"] = text
    return document


def _tidy(field: dict[str, Any]) -> None:
    """Defaults of durations and sizes are numbers inside, which nobody may write; titles only repeat the names."""
    field.pop("title", None)
    if not isinstance(field.get("default"), str | bool):
        field.pop("default", None)
