"""What a lease call may say: its members, its key, its target, and the forms that are refused."""

import json
from pathlib import Path

import pytest

from tests.proxy.lease_calls import ASKED, lease_call, lookup
from tests.raw import ask
from tests.stack import stack


@pytest.mark.parametrize("key", ["", '""', "a" * 256, "\xe9", "a b", '"a b"', '"a', '"a"b'])
async def test_a_grant_s_key_is_visible_or_malformed(store_url: str, tmp_path: Path, key: str) -> None:
    """1 to 255 visible characters; nothing is granted for another."""
    async with stack(store_url, tmp_path) as gate:
        answer = await lease_call(gate, "leases", f"Idempotency-Key: {key}", holder="a", ttl_s=60)

        assert (answer.status, answer.decision) == (400, "header-malformed")
        assert (await lookup(gate)).status == 404


@pytest.mark.parametrize(
    ("target", "status", "resource"),
    [
        ("PUT /reports/7", 201, "report/7"),
        ("DELETE /reports/%37?x=1", 201, "report/7"),
        ("GET /reports/7", 404, None),
        ("PUT /reports/7/parts", 404, None),
        ("PUT /elsewhere", 404, None),
        ("PUT /reports//7", 400, None),
        ("PUT /reports/%2e%2e/reports/7", 400, None),
        ("PUT", 400, None),
        ("put /reports/7", 404, None),
        ("", 400, None),
    ],
)
async def test_a_target_stands_for_its_resource(
    store_url: str, tmp_path: Path, target: str, status: int, resource: str | None
) -> None:
    """The rules resolve it as they would the write."""
    async with stack(store_url, tmp_path) as gate:
        body = json.dumps({"target": target, "holder": "a", "ttl_s": 60}).encode()
        answer = await ask(gate.port, "POST", "/-/fence/leases", body=body)

        assert answer.status == status
        assert json.loads(answer.body).get("resource") == resource


@pytest.mark.parametrize(
    "members",
    [
        {"resource": None},
        {"resource": ""},
        {"resource": 7},
        {"resource": ["report/7"]},
        {"target": "PUT /reports/7"},
        {"holder": None},
        {"holder": ""},
        {"holder": 7},
        {"holder": "a\nb"},
        {"holder": "a\0"},
        {"holder": "a\ud800"},
        {"holder": ["a"]},
        {"holder": "x" * 256},
        {"ttl_s": None},
        {"ttl_s": "60"},
        {"ttl_s": True},
        {"ttl_s": 0},
        {"ttl_s": 0.5},
        {"ttl_s": -1},
        {"ttl_s": 86_401},
        {"ttl_s": 1e308},
        {"ttl_s": 10**20},
        {"ttl_s": 0.000001},
        {"wait_s": -1},
        {"wait_s": 56},
        {"wait_s": 1e9},
        {"wait_s": 1e308},
        {"wait_s": "1"},
        {"takeover": 1},
        {"takeover": "yes"},
        {"tll_s": 60},
        {"force": True},
        {"epoch": "99999999999999"},
    ],
)
async def test_a_member_that_is_not_understood_is_refused(
    store_url: str, tmp_path: Path, members: dict[str, object]
) -> None:
    """Missing, of another type, out of bounds or unknown: nothing is granted."""
    asked = {name: value for name, value in (ASKED | members).items() if value is not None}
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())

        assert (answer.status, answer.decision, answer.problem["action"]) == (400, "bad-request", "fix-request")
        assert (await lookup(gate)).status == 404


@pytest.mark.parametrize("ttl_s", [1, 1.5, 86_400])
async def test_a_term_within_bounds_is_granted(store_url: str, tmp_path: Path, ttl_s: float) -> None:
    """From a second to a day, fractions too."""
    async with stack(store_url, tmp_path) as gate:
        answer = await gate.lease("report/7", "a", ttl_s=ttl_s)

        assert (answer.status, json.loads(answer.body)["ttl_s"]) == (201, ttl_s)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b"[]", 400),
        (b'"report/7"', 400),
        (b'{"resource": "report/7", "resource": "report/8", "holder": "a", "ttl_s": 60}', 400),
        (b'{"resource": "report/7", "holder": "a", "ttl_s": NaN}', 400),
        (b'{"resource": "report/7", "holder": "a", "ttl_s": Infinity}', 400),
        (b'{"resource": "report/7", "holder": "a", "ttl_s": 1e400}', 400),
        (b'{"resource": "report/7", "holder": "a", "ttl_s": 60, "ttl_s": 1}', 400),
        (b'\xef\xbb\xbf{"resource": "report/7", "holder": "a", "ttl_s": 60}', 400),
        (b'{"resource": "report/7", "holder": "a", "ttl_s": 60}' + b" " * (64 << 10), 413),
    ],
)
@pytest.mark.parametrize("call", ["leases", "leases/renew", "leases/release", "epochs"])
async def test_a_body_that_is_no_plain_object_is_refused(
    store_url: str, tmp_path: Path, call: str, body: bytes, status: int
) -> None:
    """And one over 64 KiB."""
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "POST", f"/-/fence/{call}", body=body)

        assert answer.status == status
        assert answer.decision == ("body-too-large" if status == 413 else "bad-request")
        assert (await lookup(gate)).status == 404


@pytest.mark.parametrize("call", ["leases", "leases/renew", "leases/release", "epochs"])
@pytest.mark.parametrize(
    "resource",
    [
        *("report/", "report/7/8", "report//7", "report/7/", "reports/7", "REPORT/7", "None", "report/%37", "x"),
        *("report/7 ", "report/a b", "report/7%20", "report/7\0", "report/+7", "report/\u0667"),
    ],
)
async def test_a_resource_that_no_rule_can_make_is_not_known(
    store_url: str, tmp_path: Path, call: str, resource: str
) -> None:
    """Nobody could ever write it: the name is misspelled."""
    async with stack(store_url, tmp_path) as gate:
        more = {"holder": "a", "ttl_s": 60} if call == "leases" else {}
        answer = await lease_call(gate, call, "Fencing-Token: 5." + "x" * 32, resource=resource, **more)

        assert (answer.status, answer.decision) == (404, "no-such-resource")
        assert answer.problem["resource"] == resource


@pytest.mark.parametrize("query", ["", "?resource=", "?resource=report/7&resource=report/8", "?other=report/7"])
async def test_a_lookup_names_one_resource(store_url: str, tmp_path: Path, query: str) -> None:
    """Percent-encoded or not."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        answer = await ask(gate.port, "GET", f"/-/fence/leases{query}")
        encoded = await lookup(gate, "report%2F7")

        assert (answer.status, answer.decision) == (400, "bad-request")
        assert (encoded.status, json.loads(encoded.body)["resource"]) == (200, "report/7")
