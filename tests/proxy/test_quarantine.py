"""Rules with `on_stale: quarantine`: A was paused, B took over, and what A sends then is kept and changes nothing."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.kept_request import KeptRequest
from gateway.core.late import Quarantined
from gateway.store.views.quarantine import Sought, late_result, late_results
from tests.proxy.principals import PRINCIPALS, key_of
from tests.raw import RawAnswer, RawClient, ask, request
from tests.stack import Stack, stack
from tests.store.fences import opened
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{body: 1MiB}}
credentials: [{{header: X-Pass, value: of-the-gateway}}]
defaults: {{on_stale: quarantine}}
writes:
  - name: write
    match: PUT,DELETE /reports/{{id}}
    resource: report/{{path.id}}
    token_from: [fencing-token, bearer, basic]
  - name: mail
    match: POST /mail/{{id}}
    resource: mail/{{path.id}}
    authority: header
    intent: {{mode: required}}
  - name: call
    match: POST /call
    when: {{json: {{/method: write}}}}
    resource: call/{{json:/params/id}}
    authority: header
    errors: jsonrpc
  - name: once
    match: PUT /once/{{id}}
    resource: once/{{path.id}}
    authority: header
    fence: {{order: strict}}
  - name: reject
    match: PUT /rejected/{{id}}
    resource: rejected/{{path.id}}
    authority: header
    on_stale: reject
"""
OLD = b'{"text": "the old result of A \xff\x00"}'
LARGE = bytes(range(256)) * 2048
KEYED = ("Idempotency-Key: k-1", "Content-Type: application/octet-stream")


async def overtaken(gate: Stack, resource: str = "report/7") -> None:
    """A has a lease, and then B has it."""
    await gate.lease(resource, "a")
    await gate.lease(resource, "b", takeover=True)


def told(epoch: int, holder: str = "a") -> tuple[str, str]:
    return f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}"


async def everything_kept(store_url: str) -> list[tuple[Quarantined, KeptRequest]]:
    async with opened(store_url) as store:
        found = [await late_result(store, item.id) for item in (await late_results(store, Sought(), None)).items]
    return [one for one in found if one is not None]


async def the_one_kept(store_url: str, answer: RawAnswer) -> tuple[Quarantined, KeptRequest]:
    """What is in quarantine, and nothing else is: the caller was told its id."""
    (found,) = await everything_kept(store_url)
    problem = json.loads(answer.body)
    assert (answer.status, problem["quarantine"]) == (412, found[0].id)
    assert "kept for an operator" in problem["detail"]
    return found


async def test_a_late_result_is_kept_and_changes_nothing(store_url: str, tmp_path: Path) -> None:
    """A is refused as ever; its bytes are there for a person, and B goes on writing."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        highest = await gate.highest("report/7")
        answer = await gate.write("/reports/7?draft=1", "Content-Type: text/plain", holder="a", body=OLD)

        late, kept = await the_one_kept(store_url, answer)
        assert (answer.decision, answer.problem["action"]) == ("stale-epoch", "stop")
        assert (kept.method, kept.target, kept.body) == ("PUT", "/reports/7?draft=1", OLD)
        assert kept.headers == ((b"Host", b"localhost"), (b"Content-Type", b"text/plain"))
        assert (late.decision, late.resource, late.rule) == ("stale-epoch", "report/7", "write")
        assert str(late.epoch) == gate.tokens["a"].partition(".")[0]
        assert str(late.highest_epoch) == highest == await gate.highest("report/7")
        assert gate.upstream.seen == []

        assert (await gate.write("/reports/7", holder="b")).status == 200
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/7 HTTP/1.1"]


async def test_a_retry_of_a_late_result_is_the_same_one(store_url: str, tmp_path: Path) -> None:
    """On the same connection, which stays open: the body was read."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['a']}"
            for _ in range(2):
                await client.send(request("PUT", "/reports/7", token, body=OLD))
                answer = await client.answer()

        await the_one_kept(store_url, answer)


@pytest.mark.parametrize("size", [10, 100_000], ids=["small", "refused before it is read"])
async def test_the_same_bytes_under_other_keys_are_other_actions(store_url: str, tmp_path: Path, size: int) -> None:
    """Each is kept, and each repeat is the same one."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", "/mail/7", *told(42), *KEYED, body=b"new")
        ids = []
        for key in ("k-2", "k-3", "k-2", "k-4"):
            fields = *told(41), f"Idempotency-Key: {key}", KEYED[1]
            answer = await ask(gate.port, "POST", "/mail/7", *fields, body=b"x" * size)
            ids.append(answer.problem["quarantine"])

    assert ids[0] == ids[2] and len(set(ids)) == 3
    assert {late.id for late, _ in await everything_kept(store_url)} == set(ids)


async def test_a_made_up_token_makes_nobody_keep_megabytes(store_url: str, tmp_path: Path) -> None:
    """The secret of an overtaken lease cannot be checked any more: in a minute, 4 MiB of bodies are kept."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        made_up = f"Fencing-Token: 1.{'x' * 32}"
        for at in range(5):
            answer = await ask(gate.port, "PUT", f"/reports/7?at={at}", made_up, body=bytes(1 << 20))
            assert (answer.decision, "without its body" in str(answer.problem["detail"])) == ("stale-epoch", at == 4)

    assert sorted(late.size or 0 for late, _ in await everything_kept(store_url)) == [0, *[1 << 20] * 4]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(("Fencing-Token: {token}",), id="in its own header"),
        pytest.param(("Authorization: Bearer {token}",), id="as a bearer"),
        pytest.param(("Authorization: Basic {basic}",), id="as a password"),
    ],
)
async def test_no_secret_is_in_the_store(store_url: str, tmp_path: Path, raw: Any, fields: tuple[str, ...]) -> None:
    """Neither the proof nor what lets anybody into an API, the agent's own credential for this one included."""
    secrets = "Cookie: s3cret", "X-Pass: s3cret", "X-Api-Key: s3cret", "Proxy-Authorization: Basic s3cret"
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        token = gate.tokens["a"]
        basic = base64.b64encode(f"agent:{token}".encode()).decode()
        proof = [field.format(token=token, basic=basic) for field in fields]
        answer = await ask(gate.port, "PUT", "/reports/7", *proof, *secrets, body=OLD)

        await the_one_kept(store_url, answer)
        held = b"".join(_contents(raw, key) for key in raw.keys("*"))
        for secret in (token.partition(".")[2], basic, "s3cret"):
            assert secret.encode() not in held


@pytest.mark.parametrize(
    ("target", "first", "then", "decision"),
    [
        pytest.param("/mail/7", told(42), told(41), "stale-epoch", id="a newer epoch was seen"),
        pytest.param("/mail/7", told(42), told(42, "b"), "holder-mismatch", id="the epoch is another's"),
    ],
)
async def test_who_lost_his_right_is_late(
    store_url: str, tmp_path: Path, target: str, first: tuple[str, str], then: tuple[str, str], decision: str
) -> None:
    """Under epochs from elsewhere too; the holder is named."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", target, *first, *KEYED, body=b"new")
        answer = await ask(gate.port, "POST", target, *then, "Idempotency-Key: k-2", *KEYED[1:], body=OLD)

        late, kept = await the_one_kept(store_url, answer)
        assert (late.decision, late.holder, kept.body) == (decision, then[1].rpartition(" ")[2], OLD)
        assert (b"Idempotency-Key", b"k-2") in kept.headers


async def test_an_expired_lease_is_late_though_nobody_has_taken_over(store_url: str, tmp_path: Path) -> None:
    """Its holder may acquire another and send it again; if it does not, nothing is lost. Who it was is known."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("report/7", "a")
        token = f"Fencing-Token: {gate.tokens['a']}"
        await ask(gate.port, "POST", "/-/fence/leases/release", token, body=b'{"resource": "report/7"}')
        answer = await gate.write("/reports/7", holder="a", body=OLD)

        late, _ = await the_one_kept(store_url, answer)
        assert (late.decision, late.holder) == ("lease-expired", "a")


@pytest.mark.parametrize(
    ("method", "target", "fields", "decision"),
    [
        ("PUT", "/reports/7", ("Fencing-Token: {epoch}.AAAAAAAAAAAAAAAAAAAAAAAAAA",), "token-invalid"),
        ("PUT", "/reports/7", (), "token-required"),
        ("PUT", "/reports/7", ("Fencing-Token: 7.x",), "token-malformed"),
        ("PUT", "/reports/7", ("Fencing-Token: 7",), "token-malformed"),
        ("POST", "/mail/7", told(41), "idempotency-key-required"),
        ("PUT", "/once/7", told(42), "stale-epoch"),
        ("PUT", "/rejected/7", told(41), "stale-epoch"),
    ],
    ids=[
        "a forged secret",
        "no token",
        "no form of a token",
        "another form",
        "malformed otherwise",
        "a second write",
        "reject",
    ],
)
async def test_what_is_not_late_is_not_kept(
    store_url: str, tmp_path: Path, method: str, target: str, fields: tuple[str, ...], decision: str
) -> None:
    """The refusal says nothing of a quarantine."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        for path in ("/once/7", "/rejected/7"):
            await ask(gate.port, "PUT", path, *told(42), body=b"{}")
        spelled = [field.format(epoch=await gate.highest("report/7")) for field in fields]
        answer = await ask(gate.port, method, target, *spelled, body=OLD)

        assert answer.decision == decision
        assert "quarantine" not in answer.problem
        assert await everything_kept(store_url) == []


async def test_what_was_done_already_is_not_kept(store_url: str, tmp_path: Path) -> None:
    """A late holder that repeats its applied intent is told so."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", "/mail/7", *told(41), *KEYED, body=OLD)
        await ask(gate.port, "POST", "/mail/7", *told(42), "Idempotency-Key: k-2", *KEYED[1:], body=b"new")
        answer = await ask(gate.port, "POST", "/mail/7", *told(41), *KEYED, body=OLD)

        assert answer.decision == "stale-epoch"
        assert answer.problem["intent"] | {"id": ""} == {"id": "", "state": "applied"}
        assert await everything_kept(store_url) == []


@pytest.mark.parametrize("target", ["/reports/7", "/mail/7"], ids=["without a key", "before its body is read"])
async def test_a_caller_that_asks_first_is_told_to_send(store_url: str, tmp_path: Path, target: str) -> None:
    """`Expect: 100-continue`: a refusal would spare it the body, and the body is what is wanted."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        await ask(gate.port, "POST", "/mail/7", *told(42), *KEYED, body=b"new")
        proof = (f"Fencing-Token: {gate.tokens['a']}",) if target == "/reports/7" else (*told(41), *KEYED)
        method = "PUT" if target == "/reports/7" else "POST"
        async with RawClient(gate.port) as client:
            await client.send(request(method, target, *proof, f"Content-Length: {len(LARGE)}", "Expect: 100-continue"))
            await _told_to_send(client)
            await client.send(LARGE)
            answer = await client.answer()

        _, kept = await the_one_kept(store_url, answer)
        assert kept.body == LARGE


async def test_a_body_that_was_read_to_the_disk_is_kept_from_there(store_url: str, tmp_path: Path) -> None:
    """In chunks, and larger than what is held in memory: nothing announced how long it would be."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", "/mail/7", *told(41), *KEYED, body=b"before")
        async with RawClient(gate.port) as client:
            await client.send(
                request("POST", "/mail/7", *told(41), "Idempotency-Key: k-2", "Transfer-Encoding: chunked")
            )
            await client.send(b"%x\r\n%b\r\n" % (len(LARGE), LARGE))
            # It passes the first look; by the time it is whole, B has written.
            await ask(gate.port, "POST", "/mail/7", *told(42), "Idempotency-Key: k-3", body=b"new")
            await client.send(b"0\r\n\r\n")
            answer = await client.answer()

        _, kept = await the_one_kept(store_url, answer)
        assert kept.body == LARGE


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "in chunks"])
async def test_of_a_body_beyond_the_limit_the_head_is_kept(store_url: str, tmp_path: Path, chunked: bool) -> None:
    """`limits.body`; the caller is answered all the same."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        huge = LARGE * 3
        framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(huge)}"
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(huge), huge) if chunked else huge
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", f"Fencing-Token: {gate.tokens['a']}", framing) + body)
            answer = await client.answer()

        late, kept = await the_one_kept(store_url, answer)
        assert (late.size, kept.body, kept.target) == (None, None, "/reports/7")


async def test_of_a_caller_that_leaves_the_head_is_kept(store_url: str, tmp_path: Path) -> None:
    """In the middle of its body."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await overtaken(gate)
        async with RawClient(gate.port) as client:
            fields = f"Fencing-Token: {gate.tokens['a']}", "Content-Length: 100", "Expect: 100-continue"
            await client.send(request("PUT", "/reports/7", *fields))
            await _told_to_send(client)
            await client.send(b"half")
        async with opened(store_url) as store:

            async def is_kept() -> bool:
                return (await late_results(store, Sought(), None)).items != ()

            await until(is_kept)

        ((late, kept),) = await everything_kept(store_url)
        assert (late.size, kept.body) == (None, None)
        assert gate.upstream.seen == []


async def test_a_json_rpc_error_names_the_quarantine_too(store_url: str, tmp_path: Path) -> None:
    """Its data is the problem; the body that a rule had read is kept as it came."""
    call = b'{"jsonrpc": "2.0", "id": 5, "method": "write", "params": {"id": "7"}}'
    fields = ("Content-Type: application/json",)
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", "/call", *told(42), *fields, body=call)
        answer = await ask(gate.port, "POST", "/call", *told(41), *fields, body=call)

        ((late, kept),) = await everything_kept(store_url)
        error = json.loads(answer.body)["error"]
        assert (answer.status, error["data"]["quarantine"], kept.body) == (200, late.id, call)


async def test_who_has_no_right_is_not_kept_and_who_has_one_is_named(store_url: str, tmp_path: Path) -> None:
    """With principals: their name and tenant are told, and a key of the gateway is not stored."""
    keys = tmp_path / "keys"
    for folder in (keys, tmp_path / "policies"):
        folder.mkdir()
    for name in ("ada", "bob", "cyd", "dan"):
        (keys / name).write_text(f"{key_of(name)}\n")
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS % {"keys": keys})
    async with stack(store_url, tmp_path, POLICY) as gate:
        for name, epoch in (("dan", 42), ("cyd", 41)):
            mail = "/mail/7", f"Fencegate-Key: {key_of(name)}", *told(epoch), *KEYED
            answer = await ask(gate.port, "POST", *mail, body=OLD)
        assert answer.decision == "forbidden"
        assert await everything_kept(store_url) == []

        late_one = "/mail/7", f"Fencegate-Key: {key_of('dan')}", *told(41), "Idempotency-Key: k-2"
        answer = await ask(gate.port, "POST", *late_one, body=OLD)

        late, _ = await the_one_kept(store_url, answer)
        assert (late.principal, late.tenant) == ("dan", "default")


async def _told_to_send(client: RawClient) -> None:
    assert (await client.line()).startswith(b"HTTP/1.1 100")
    assert await client.line() == b"\r\n"


def _contents(raw: Any, key: bytes) -> bytes:
    """What a key holds. A request this short is not deflated."""
    match raw.type(key):
        case b"string":
            return bytes(raw.get(key))
        case b"hash":
            return b"".join(name + value for name, value in raw.hgetall(key).items())
        case b"stream":
            return b"".join(b"".join(fields.values()) for _, fields in raw.xrange(key))
        case _:
            return b"".join(raw.zrange(key, 0, -1))
