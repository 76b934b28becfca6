"""What some readers see in a value and others do not, over the wire: nothing of it is sent, and no epoch moves."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /r}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{authority: header}}
writes:
  - {{name: path, match: "PUT /r/path/{{id}}", resource: "report/{{path.id}}"}}
  - {{name: rest, match: "PUT /r/rest/{{id...}}", resource: "report/{{path.id}}"}}
  - {{name: query, match: PUT /r/query, resource: "report/{{query.id}}"}}
  - {{name: form, match: PUT /r/form, resource: "report/{{form.id}}"}}
  - {{name: json, match: PUT /r/json, resource: "report/{{json:/id}}"}}
  - {{name: header, match: PUT /r/header, resource: "report/{{header.x-id}}"}}
  - name: keyed
    match: PUT /r/keyed
    resource: report/7
    intent: {{mode: required, key: "{{json:/id}}-{{json:/at}}"}}
"""
LEASED = POLICY.replace("authority: header", "authority: lease")


async def put(gate: Stack, where: str, value: str, epoch: int) -> RawAnswer:
    """A write of `report/VALUE`, which stands in one part of the request."""
    target, fields, body = f"/r/{where}", ["Content-Type: application/json"], b"{}"
    match where:
        case "path" | "rest":
            target += f"/{quote(value)}"
        case "query":
            target += f"?id={quote(value)}"
        case "form":
            fields, body = ["Content-Type: application/x-www-form-urlencoded"], f"id={quote(value)}".encode()
        case "header":
            fields.append(f"X-Id: {value.encode().decode('latin-1')}")
        case _:
            body = json.dumps({"id": value, "at": 1}).encode()
    return await ask(gate.port, "PUT", target, f"Fencing-Token: {epoch}", "Fencing-Holder: a", *fields, body=body)


HIDDEN = {"NUL": "7\0", "NUL and more": "7\0x", "line end": "7\n", "next line": "7\x85", "no width": "7\u200b"}
HIDDEN |= {"blank": "7 ", "byte order mark": "\ufeff7", "line separator": "7\u2028"}
HIDDEN |= {"selector": "7\u00e9\ufe0f", "selector of ideographs": "7\u00e9\U000e0100"}
# The parser of HTTP refuses the others, or cuts them off.
IN_A_HEADER = ("next line", "no width", "byte order mark", "line separator", "selector")


@pytest.mark.parametrize("where", ["path", "rest", "query", "form", "json", "header", "keyed"])
async def test_a_resource_has_no_second_name(store_url: str, tmp_path: Path, where: str) -> None:
    """An overtaken holder cannot write under a name that its upstream reads as the same; nor does a newer one rule."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        first = await put(gate, where, "7", 50)
        names = IN_A_HEADER if where == "header" else HIDDEN
        refused = [await put(gate, where, HIDDEN[name], epoch) for name in names for epoch in (5, 60)]
        still = await put(gate, where, "7", 50)

        assert (first.decision, still.status) == ("forwarded", 200)
        assert {(one.status, one.decision) for one in refused} == {(400, "ambiguous-target")}
        assert len(gate.upstream.seen) == (1 if where == "keyed" else 2)


async def test_no_lease_is_granted_of_a_second_name(store_url: str, tmp_path: Path) -> None:
    """No request can have it: by its name it is no resource, and as a target it is refused."""
    async with stack(store_url, tmp_path, LEASED) as gate:
        await gate.lease("report/7")
        spelled = ("%00", "%00x", "%0A", "%C2%85", " ", "\u200b", "\u2028", "/b%0A")
        named = [await gate.lease(f"report/7{hidden}", "agent-b") for hidden in spelled]
        asked = json.dumps({"target": "PUT /r/query?id=7%00", "holder": "agent-b", "ttl_s": 60}).encode()
        target = await ask(gate.port, "POST", "/-/fence/leases", body=asked)

        assert {(one.status, one.decision) for one in named} == {(404, "no-such-resource")}
        assert (target.status, target.decision) == (400, "ambiguous-target")
        assert await gate.highest("report/7") is not None


@pytest.mark.parametrize("line", ["X-Id", "x_id", "X-ID, close", "X.Id"])
async def test_what_a_connection_line_takes_away_names_nothing(store_url: str, tmp_path: Path, line: str) -> None:
    """The upstream would not see it; of a read it is nobody's business."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        fields = ("Fencing-Token: 7", "Fencing-Holder: a", "X-Id: 7", f"Connection: {line}")
        write = await ask(gate.port, "PUT", "/r/header", *fields, body=b"{}")
        read = await ask(gate.port, "GET", "/r/header", *fields)

        assert (write.status, write.decision, read.decision) == (400, "ambiguous-target", "passed")
        assert [seen.line[:3] for seen in gate.upstream.seen] == ["GET"]
