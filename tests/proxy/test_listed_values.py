"""A document's enums, as `import-openapi` writes them: nobody holds or says one value in another spelling of it."""

from pathlib import Path

from tests.proxy.test_imported_policies import imported, lease, token
from tests.raw import RawAnswer, ask
from tests.stack import stack

COLOR = {"type": "string", "enum": ["red", "green"]}
KIND = {"type": "string", "enum": ["preview", "publish"], "nullable": True}
MODE = {"type": "integer", "enum": [1, 2]}
BODY = {"type": "object", "properties": {"kind": KIND, "colors": {"type": "array", "items": COLOR}, "text": {}}}
PATHS = {
    "/docs/{id}/tags/{tag}": {
        "put": {
            "operationId": "tag",
            "parameters": [
                {"name": "id", "in": "path", "schema": {"type": "integer"}},
                {"name": "tag", "in": "path", "schema": COLOR},
                {"name": "mode", "in": "query", "schema": MODE},
            ],
            "requestBody": {"content": {"application/json": {"schema": BODY}}},
        }
    },
    "/docs/{id}": {
        "post": {
            "operationId": "edit",
            "parameters": [
                {"name": "id", "in": "path", "schema": {"type": "integer"}},
                {"name": "X-Kind", "in": "header", "schema": COLOR},
            ],
            "requestBody": {
                "content": {
                    "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"color": COLOR}}}
                }
            },
        }
    },
}
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"


async def test_an_enum_is_one_thing_under_one_name(store_url: str, tmp_path: Path) -> None:
    """In the path no other spelling has a lease, or a write; in query, body, form and headers none is forwarded, and
    none of it moves an epoch. What is listed arrives as it was sent."""
    async with stack(store_url, tmp_path, imported(tmp_path, PATHS, names_all=True)) as gate:
        held = token(await lease(gate, "PUT /shop/docs/7/tags/red", "ada"))
        others = [await lease(gate, f"PUT /shop/docs/7/tags/{tag}", "bob") for tag in ("RED", "0", "r%65D", "re-d")]
        by_name = await lease(gate, "shop/docs/7/tags/RED", "bob", by="resource")
        assert [one.decision for one in (*others, by_name)] == ["ambiguous-target"] * 4 + ["no-such-resource"]

        async def put(target: str, body: bytes, *fields: str) -> RawAnswer:
            return await ask(gate.port, "PUT", f"/shop/docs/7/tags/{target}", JSON, held, *fields, body=body)

        spelled = [await put(tag, b"{}") for tag in ("RED", "0", "blue")]
        asked = [await put(f"red?mode={mode}", b"{}") for mode in ("3", "01", "1&mode=3", "one")]
        said = [await put("red", b'{"kind": %b}' % kind) for kind in (b'"purge"', b'"Preview"', b"1", b'["preview"]')]
        items = await put("red", b'{"colors": ["red", "Green"]}')
        assert [one.decision for one in spelled] == ["ambiguous-target"] * 3
        assert [one.decision for one in (*asked, *said, items)] == ["no-policy"] * 9
        assert b"is none of `green`, `red`, which the policy lists" in spelled[0].body
        assert gate.upstream.seen == []

        whole = b'{"kind": null, "colors": ["red", "green"], "text": "Purge"}'
        assert [(await put("red?mode=1&mode=2", whole)).decision, (await put("%72ed", b"{}")).decision] == [
            "forwarded"
        ] * 2
        assert [(seen.line, seen.body) for seen in gate.upstream.seen] == [
            ("PUT /docs/7/tags/red?mode=1&mode=2 HTTP/1.1", whole),
            ("PUT /docs/7/tags/%72ed HTTP/1.1", b"{}"),
        ]


async def test_a_field_and_a_header_are_held_to_their_values(store_url: str, tmp_path: Path) -> None:
    """As a document lists them."""
    async with stack(store_url, tmp_path, imported(tmp_path, PATHS, names_all=True)) as gate:
        held = token(await lease(gate, "POST /shop/docs/7", "ada"))

        async def post(body: bytes, *fields: str) -> str | None:
            return (await ask(gate.port, "POST", "/shop/docs/7", FORM, held, *fields, body=body)).decision

        refused = [await post(b"color=RED"), await post(b"color=red,green"), await post(b"color=red", "X-Kind: 0")]
        assert [*refused, await post(b"color=red&color=green")] == ["no-policy"] * 3 + ["ambiguous-target"]
        assert await post(b"color=red", "X-Kind: green") == "forwarded"
        assert len(gate.upstream.seen) == 1
