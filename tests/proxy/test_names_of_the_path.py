"""A name that the path has means the path's value to the API too: nothing else is sent."""

import json
from pathlib import Path

from tests.raw import RawClient, ask, request
from tests.stack import POLICY, stack

MERGED = POLICY.replace("path: /reports", "path: /reports, names: merged")
SEARCH = "read_only:\n  - match: POST /reports/search\n"
NEW = "  - name: new\n    match: POST /reports\n    resource: reports\n"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
PARTS = "Content-Type: multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="id"\r\n\r\n8\r\n--b--\r\n'


async def test_another_value_reaches_no_api_that_would_take_it(store_url: str, tmp_path: Path) -> None:
    """In the query at any mount; in a body, small, large or in chunks, where the API keeps all names in one map."""
    large = json.dumps({"text": "x" * (100 << 10), "id": 8}).encode()
    refused = [
        ("/reports/7?id=8", JSON, b"{}"),
        ("/reports/7?ID[]=8", JSON, b"{}"),
        ("/reports/7", JSON, b'{"id": 8}'),
        ("/reports/7", JSON, large),
        ("/reports/7", FORM, b"id=8"),
        ("/reports/7", PARTS, PART),
        ("/reports/7", "Content-Type: text/plain", b"id=8"),
        ("/reports/7", "X-Type: none", b'{"id": 8}'),
    ]
    async with stack(store_url, tmp_path, MERGED) as gate:
        await gate.lease("report/7")
        answers = [await gate.write(target, field, body=body) for target, field, body in refused]
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", token, JSON, "Transfer-Encoding: chunked"))
            await client.send(b'9\r\n{"id": 8}\r\n0\r\n\r\n')
            chunked = await client.answer("PUT")

        assert [answer.decision for answer in (*answers, chunked)] == ["ambiguous-target"] * 9
        assert gate.upstream.seen == []


async def test_a_body_of_a_deletion_names_no_other(store_url: str, tmp_path: Path) -> None:
    """Many servers read it: what it says is judged as of any other method, and what passes arrives."""
    told = {
        (JSON, b'{"id": 8}'): "ambiguous-target",
        (JSON, b'{"id": null}'): "ambiguous-target",
        (JSON, b'{"ID": 8}'): "ambiguous-target",
        (JSON, b'{"id": 7, "id": 8}'): "ambiguous-target",
        (FORM, b"id=8"): "ambiguous-target",
        (PARTS, PART): "ambiguous-target",
        ("X-Type: none", b'{"id": 8}'): "ambiguous-target",
        (JSON, b'{"id": 7}'): "forwarded",
        (JSON, b'{"why": "spam"}'): "forwarded",
        ("X-Type: none", b""): "forwarded",
    }
    async with stack(store_url, tmp_path, MERGED) as gate:
        await gate.lease("report/7")
        answers = {
            (field, body): (await gate.write("/reports/7", field, method="DELETE", body=body)).decision
            for field, body in told
        }

        assert answers == told
        assert [seen.body for seen in gate.upstream.seen] == [b'{"id": 7}', b'{"why": "spam"}', b""]


async def test_no_body_makes_another_request_of_a_new_one_or_of_a_search(store_url: str, tmp_path: Path) -> None:
    """Neither a rule without placeholders nor a read-only entry lets a form through that names another path."""
    policy = MERGED.replace("writes:\n", SEARCH + "writes:\n" + NEW)
    async with stack(store_url, tmp_path, policy) as gate:
        await gate.lease("reports")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        for target, decision in (("/reports", "forwarded"), ("/reports/search", "passed")):
            refused = await ask(gate.port, "POST", target, token, FORM, body=b"rest_route=/reports/8&x=1")
            passed = await ask(gate.port, "POST", target, token, FORM, body=b"x=1")
            assert (refused.decision, passed.decision) == ("ambiguous-target", decision)

        assert [seen.body for seen in gate.upstream.seen] == [b"x=1", b"x=1"]


async def test_the_same_value_and_other_names_arrive(store_url: str, tmp_path: Path) -> None:
    """Byte for byte."""
    sent = [
        ("/reports/7?id=7&x=8", JSON, b'{"id": 7, "x": 8}'),
        ("/reports/7", JSON, json.dumps({"text": "x" * (100 << 10), "id": "7"}).encode()),
        ("/reports/7", FORM, b"id=7&x=8"),
        ("/reports/7", PARTS, PART.replace(b'"id"', b'"file"')),
        ("/reports/7", "X-Type: none", b""),
    ]
    async with stack(store_url, tmp_path, MERGED) as gate:
        await gate.lease("report/7")
        answers = [await gate.write(target, field, body=body) for target, field, body in sent]

        assert [answer.decision for answer in answers] == ["forwarded"] * len(sent)
        assert [seen.body for seen in gate.upstream.seen] == [body for _, _, body in sent]


async def test_a_refused_id_moves_no_epoch(store_url: str, tmp_path: Path) -> None:
    """Neither under the path's resource nor under the one that the other spelling would have made."""
    policy = POLICY + "    values: integer\n    authority: header\n"
    async with stack(store_url, tmp_path, policy) as gate:
        for target in ("/reports/07", "/reports/7:archive", "/reports/7?id=8"):
            field = ("Fencing-Token: 50", "Fencing-Holder: agent-b")
            answer = await ask(gate.port, "PUT", target, *field, JSON, body=b"{}")
            assert (answer.status, answer.decision) == (400, "ambiguous-target")
        field = ("Fencing-Token: 49", "Fencing-Holder: agent-a")
        answer = await ask(gate.port, "PUT", "/reports/7", *field, JSON, body=b"{}")

        assert answer.decision == "forwarded"
        assert len(gate.upstream.seen) == 1
