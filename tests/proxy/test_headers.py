"""Header fields: which pass, which never do, and that nothing a caller says about them can change that."""

import base64
from pathlib import Path

import pytest

from tests.raw import ask
from tests.recording import RecordingUpstream, answering
from tests.stack import POLICY, Stack, stack

GATED = (
    POLICY
    + """
credentials:
  - {{header: Authorization, value: Bearer upstream-secret}}
  - {{header: X-Tenant, value: ours}}
capabilities: {{fencing_token: X-Fencing-Token}}
"""
)
BEARER = POLICY + "token_from: [fencing-token, bearer, basic]\n"
RULE_BEARER = POLICY + "    authority: header\n    token_from: [fencing-token, bearer]\n"


def _sent(gate: Stack) -> list[str]:
    """The field lines that the upstream saw, without its Host and the body's length."""
    lines = gate.upstream.seen[-1].head.decode("latin-1").split("\r\n")[1:-2]
    return [line for line in lines if not line.startswith(("Host:", "Content-Length:"))]


async def test_end_to_end_fields_pass_in_order_and_spelling(store_url: str, tmp_path: Path) -> None:
    """Case, repetition and order are the caller's; Host is the upstream's own."""
    fields = ["X-b: 1", "x-A: 2", "X-b: 3", "Cookie: a=1; b=2", 'If-Match: "7"', "Accept-Encoding: br", "X-empty: "]
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        await gate.write("/reports/7", *fields)

        assert _sent(gate) == fields
        assert gate.upstream.seen[0].values("Host") == [f"localhost:{gate.upstream.port}"]


@pytest.mark.parametrize(
    "field",
    [
        "TE: trailers",
        "Trailer: X",
        "Keep-Alive: timeout=5",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic eDp5",
        "Proxy-Authenticate: Basic",
        "HTTP2-Settings: AAM",
        "Fencing-Anything: 1",
        "Fencing_Token: 9",
        "fencing_holder: x",
        "Fencing.Token: 9",
        "Fencegate~Key: k",
        "Fencegate_Key: k",
        "Fencegate-Key: k",
        "Fencing-Sequence: 1",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_hop_by_hop_and_control_fields_never_pass(
    store_url: str, tmp_path: Path, method: str, field: str
) -> None:
    """With or without a Connection line that names them."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        plain = await gate.write("/reports/7", field, method=method)
        named = await gate.write("/reports/7", f"Connection: {field.partition(':')[0]}", field, method=method)

        assert (plain.status, named.status) == (200, 200)
        assert [_sent(gate)] * 2 == [[], []]
        assert all(seen.values(field.partition(":")[0]) == [] for seen in gate.upstream.seen)


@pytest.mark.parametrize(
    "lines",
    [
        ("Connection: X-Hop",),
        ("Connection: ", "Connection: X-Hop"),
        ("Connection: X-Hop", "Connection: "),
        ("Connection: close, x-hop",),
        ("Connection: ,, X-HOP ,",),
        ("Connection: keep-alive", "Connection: x-hop"),
    ],
)
async def test_what_a_connection_line_names_does_not_pass(
    store_url: str, tmp_path: Path, lines: tuple[str, ...]
) -> None:
    """Every Connection line counts."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", "X-Hop: 1", *lines, "X-End: 2")

        assert (answer.status, _sent(gate)) == (200, ["X-End: 2"])


@pytest.mark.parametrize("line", ["Connection: close, Fencing-Token", "Connection: Fencing-Token"])
async def test_a_connection_line_cannot_hide_the_token(store_url: str, tmp_path: Path, line: str) -> None:
    """Control headers are read before hop-by-hop ones are removed: the stale token is seen, and is stale."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        await gate.lease("report/7", "b", takeover=True)
        before = await gate.highest("report/7")
        answer = await gate.write("/reports/7", line, holder="a")

        assert (answer.status, answer.decision, gate.upstream.seen) == (412, "stale-epoch", [])
        assert await gate.highest("report/7") == before


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("Fencing-Token", "token-malformed"),
        ("Fencing-Holder", "header-malformed"),
        ("Fencing-Sequence", "header-malformed"),
        ("Fencing-If-Revision", "header-malformed"),
        ("Idempotency-Key", "header-malformed"),
        ("Fencegate-Key", "header-malformed"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_control_header_sent_twice_is_refused(
    store_url: str, tmp_path: Path, method: str, name: str, decision: str
) -> None:
    """In both orders and with equal values: never one value checked and another one forwarded."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        good = gate.tokens["agent-a"] if name == "Fencing-Token" else "1"
        for first, second in ((good, "2"), ("2", good), (good, good)):
            answer = await ask(
                gate.port, method, "/reports/7", f"{name}: {first}", f"{name.lower()}: {second}", body=b"{}"
            )
            assert (answer.status, answer.decision) == (400, decision)

        assert gate.upstream.seen == []
        assert await gate.highest("report/7") == before


async def test_a_list_of_tokens_is_malformed(store_url: str, tmp_path: Path) -> None:
    """A comma list is what some proxies make of two headers."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        token = gate.tokens["agent-a"]
        for value in (f"{token}, {token}", f"{token},1", f"1,{token}", f'"{token}"'):
            answer = await ask(gate.port, "PUT", "/reports/7", f"Fencing-Token: {value}", body=b"{}")
            assert (answer.status, answer.decision) == (400, "token-malformed")

        assert gate.upstream.seen == []


@pytest.mark.parametrize(
    "fields",
    [
        (),
        ("Authorization: Bearer agent", "X-Tenant: theirs", "X-Fencing-Token: 99"),
        ("Connection: Authorization, X-Tenant, X-Fencing-Token",),
        ("authorization: Basic eDp5", "AUTHORIZATION: Bearer two", "x-fencing-token: 1"),
    ],
)
async def test_what_the_gateway_adds_arrives_once(store_url: str, tmp_path: Path, fields: tuple[str, ...]) -> None:
    """Credentials replace the agent's on reads and writes; the epoch goes in the upstream's own header, on writes."""
    async with stack(store_url, tmp_path, GATED) as gate:
        await gate.lease("report/7")
        epoch = await gate.highest("report/7")
        await gate.write("/reports/7", *fields)
        await ask(gate.port, "GET", "/reports/7", *fields)

        write, read = gate.upstream.seen
        for seen in (write, read):
            assert seen.values("Authorization") == ["Bearer upstream-secret"]
            assert seen.values("X-Tenant") == ["ours"]
        assert (write.values("X-Fencing-Token"), read.values("X-Fencing-Token")) == ([epoch], [])


async def test_a_token_in_authorization_is_taken_and_goes_no_further(store_url: str, tmp_path: Path) -> None:
    """As a bearer (GitHub calls it a token) or basic's password, where `token_from` says so; upstream never."""
    async with stack(store_url, tmp_path, BEARER) as gate:
        await gate.lease("report/7")
        token = gate.tokens["agent-a"]
        basic = base64.b64encode(f"agent:{token}".encode()).decode()
        for field in (
            f"Authorization: Bearer {token}",
            f"authorization: bearer  {token}",
            f"authorization: token {token}",
            f"Authorization: Basic {basic}",
        ):
            write = await ask(gate.port, "PUT", "/reports/7", field, body=b"{}")
            read = await ask(gate.port, "GET", "/reports/7", field)
            assert (write.status, write.decision, read.status) == (200, "forwarded", 200)

        assert len(gate.upstream.seen) == 8
        assert all(token.encode() not in seen.raw and basic.encode() not in seen.raw for seen in gate.upstream.seen)


@pytest.mark.parametrize("first", ["old", "new"])
async def test_of_two_tokens_the_one_in_the_field_of_its_own_is_judged(
    store_url: str, tmp_path: Path, first: str
) -> None:
    """Whichever the other is, it makes no write good or bad, and reaches nobody."""
    async with stack(store_url, tmp_path, BEARER) as gate:
        await gate.lease("report/7", "old")
        await gate.lease("report/7", "new", takeover=True)
        second = {"old": "new", "new": "old"}[first]
        told = await gate.write("/reports/7", f"Authorization: Bearer {gate.tokens[second]}", holder=first)
        secrets = [token.partition(".")[2].encode() for token in gate.tokens.values()]

        assert told.decision == {"old": "stale-epoch", "new": "forwarded"}[first]
        assert len(gate.upstream.seen) == {"old": 0, "new": 1}[first]
        assert not any(secret in seen.raw for seen in gate.upstream.seen for secret in secrets)


async def test_an_authorization_that_nobody_can_read_is_the_upstreams_to_refuse(store_url: str, tmp_path: Path) -> None:
    """A `Basic` that is no base64, nor even ASCII, has no token in it; a write beside it is sent, and its end known."""
    async with stack(store_url, tmp_path, BEARER) as gate:
        await gate.lease("report/7")
        field = "Authorization: Basic \xe9\xe9\xe9\xe9"
        read = await ask(gate.port, "GET", "/reports/7", field)
        alone = await ask(gate.port, "PUT", "/reports/7", field, body=b"{}")
        write = await gate.write("/reports/7", field)

        assert (read.decision, alone.decision) == ("passed", "token-required")
        assert (write.decision, write.value("Fencing-Outcome")) == ("forwarded", "applied")


async def test_a_lease_token_in_authorization_never_leaks(store_url: str, tmp_path: Path) -> None:
    """Where no rule takes it from there the write is refused, and a read goes on without it; other values pass."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        field = f"Authorization: Bearer {gate.tokens['agent-a']}"
        write = await ask(gate.port, "PUT", "/reports/7", field, body=b"{}")
        await ask(gate.port, "GET", "/reports/7", field)
        user = base64.b64encode(f"{gate.tokens['agent-a']}:".encode()).decode()
        await gate.write("/reports/7", f"Authorization: Basic {user}")
        await ask(gate.port, "GET", "/reports/7", "Authorization: Bearer 42")

        assert (write.status, write.decision) == (428, "token-required")
        assert [seen.values("Authorization") for seen in gate.upstream.seen] == [[], [], ["Bearer 42"]]


async def test_a_token_that_is_sent_twice_reaches_nobody(store_url: str, tmp_path: Path) -> None:
    """As an API key beside itself it is dropped; in the URL it is refused, before anything is admitted."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        token = gate.tokens["agent-a"]
        disguised = (f"X-Api-Key: {token}", f"Authorization: Bearer x.{token}", f"Cookie: t={token}")
        write = await gate.write("/reports/7", *disguised)
        read = await ask(gate.port, "GET", "/reports/7", f"Fencing-Token: {token}", *disguised)
        encoded = await ask(gate.port, "GET", "/reports/7", f"Authorization: Bearer {token.replace('.', '%2E')}")
        in_url = await gate.write(f"/reports/7?token={token}")
        in_disguise = await gate.write(f"/reports/7?token={token.replace('.', '%2E')}")

        assert [one.decision for one in (write, read, encoded)] == ["forwarded", "passed", "passed"]
        assert (in_url.status, in_url.decision) == (400, "token-malformed")
        assert (in_disguise.status, in_disguise.decision) == (400, "token-malformed")
        assert "URL" in str(in_url.problem["detail"])
        secret = token.partition(".")[2].encode()
        assert [secret in seen.raw for seen in gate.upstream.seen] == [False] * 3
        assert token not in gate.log.read_text()


async def test_a_bare_epoch_in_authorization_stays_here_where_a_rule_takes_it(store_url: str, tmp_path: Path) -> None:
    """A rule's own `token_from` counts as the upstream's does."""
    async with stack(store_url, tmp_path, RULE_BEARER) as gate:
        fields = ("Authorization: Bearer 42", "Fencing-Holder: a")
        write = await ask(gate.port, "PUT", "/reports/7", *fields, body=b"{}")
        read = await ask(gate.port, "GET", "/reports/7", *fields)

        assert (write.status, write.decision, write.value("Fencing-Epoch")) == (200, "forwarded", "42")
        assert read.status == 200
        assert [seen.values("Authorization") for seen in gate.upstream.seen] == [[], []]


async def test_the_caller_s_host_is_kept_where_the_policy_says_so(store_url: str, tmp_path: Path) -> None:
    """`host: preserve`."""
    async with stack(store_url, tmp_path, POLICY + "host: preserve\n") as gate:
        await ask(gate.port, "GET", "/reports/7")

        assert gate.upstream.seen[0].values("Host") == ["localhost"]


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_an_answer_s_fields_are_passed_or_dropped_likewise(store_url: str, tmp_path: Path, method: str) -> None:
    """Hop-by-hop and nominated fields end here; an upstream cannot speak in the gateway's name."""
    upstream = RecordingUpstream(
        answer=answering(
            b"HTTP/1.1 200 Fine\r\nConnection: \r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\n"
            b"Proxy-Authenticate: Basic\r\nTrailer: X\r\nUpgrade: h2c\r\nFencing-Decision: replayed\r\n"
            b"Fencing-Epoch: 1\r\nFencing-Outcome: applied\r\nFencing-Revision: 7\r\nIdempotent-Replayed: true\r\n"
            b"Fencing_Epoch: 1\r\nfencing.outcome: unknown\r\nIdempotent_Replayed: true\r\n"
            b'ETag: "x"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nx-LOWER: y\r\nContent-Length: 2\r\n\r\nok'
        )
    )
    async with stack(store_url, tmp_path, upstream=upstream) as gate:
        await gate.lease("report/7")
        epoch = await gate.highest("report/7")
        answer = await gate.write("/reports/7", method=method)

        added = [("Fencing-Decision", "passed")]
        if method == "PUT":
            added = [("Fencing-Decision", "forwarded"), ("Fencing-Epoch", str(epoch)), ("Fencing-Outcome", "applied")]
        assert answer.body == b"ok"
        assert answer.fields == [
            ("ETag", '"x"'),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("x-LOWER", "y"),
            ("Content-Length", "2"),
            *added,
        ]
