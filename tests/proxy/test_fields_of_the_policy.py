"""Fields that the policy sets or looks at: no spelling of an agent's own takes their place or hides what decided."""

import base64
from pathlib import Path

import pytest

from tests.raw import ask
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs, bodies: [json]}}
timeouts: {{connect: 1s, total: 5s}}
credentials: [{{header: X-Api-Key, value: ours}}, {{header: Authorization, value: Bearer ours}}]
token_from: [fencing-token, bearer, basic]
capabilities: {{fencing_token: X-Fence, idempotency_key: X-Intent}}
defaults: {{intent: {{mode: optional}}}}
writes:
  - {{name: write, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
  - name: soft
    match: POST /docs/{{id}}
    resource: doc/{{path.id}}
    when: {{header: {{x-mode: soft}}}}
    only: {{json: [/title], header: [X-Mode]}}
"""
# What the agent calls by the name of a field that the gateway sets itself, or that is another hop's to say.
DROPPED = [
    *("X_Api_Key: theirs", "x.api.key: theirs", "X-Api-Key: theirs", "X-API_KEY: theirs", "authorization: theirs"),
    *("X_Fence: 99", "X-Fence: 99", "x.fence: 99", "X_Intent: theirs", "X-Intent: theirs"),
    *("Content_Length: 0", "content.length: 0", "Transfer_Encoding: chunked", "Remote_User: root", "remote.user: root"),
    *("Fencing_Token: 99", "Fencing_Holder: theirs", "fencing.sequence: 9", "Fencing-X: 1", "Fencegate_Key: theirs"),
    *("HTTP2-Settings: AAAA", "Proxy: http://theirs", "Keep-Alive: x", "Proxy-Connection: close", "TE: trailers"),
    *("Trailer: X", "X-Original-URI: /x", "X-Forwarded-Uri: /x", "X-Forwarded-Prefix: /x", "X-Accel-Redirect: /x"),
    *("X-Forwarded-For: 1.1.1.1", "Forwarded: for=1", "X-Real-IP: 1", "Prefer: respond-async", "Sudo: root"),
    *("X~Api~Key: theirs", "X!Api!Key: theirs", "X!Intent: theirs", "X~Fence: 9", "X.Fence: 9", "X_Intent: theirs"),
    *("Range: bytes=0-1", "If-Range: x", "If_Range: x", "l5d-timeout: 1", "l5d-response-timeout: 1"),
    *("X-Envoy-Upstream-Rq-Timeout-Ms: 1", "X-Amz-Invocation-Type: event", 'Prefer: "respond-async"'),
    *("X-Middleware-Rewrite: /x", "X-Middleware-Subrequest: x", "X-Middleware-Override-Headers: x"),
    *("X-Sendfile-Type: x", "Connection: X-Api-Key, X-Fence", "Connection: upgrade, x-intent"),
]
REWRITING = [
    *("X-HTTP-Method-Override", "X_HTTP_METHOD_OVERRIDE", "X-Method-Override", "X-HTTP-Method", "X-Tunneled-Method"),
    *("X-Original-URL", "X-Rewrite-URL", "X-Original-Method", "X-Script-Name", "Script-Name", "X-Service-Method"),
    *("X-HTTP-Verb", "Next-Action", "X-October-Request-Handler", "X-Winter-Request-Handler", "SCRIPT_NAME"),
    *("x.http.method.override", "X_Original_Url", "Path_Info"),
]


def head(gate: Stack) -> list[str]:
    """The lines of the last head that the API saw, without its place and the body's length."""
    lines = gate.upstream.seen[-1].head.decode("latin-1").split("\r\n")[1:-2]
    return [line for line in lines if not line.startswith(("Host:", "Content-Length:"))]


async def test_what_the_gateway_sets_itself_has_no_other_spelling(store_url: str, tmp_path: Path) -> None:
    """The API sees what it sees without the field."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        json = "Content-Type: application/json"
        await gate.write("/docs/7", json)
        plain = head(gate)
        seen = {}
        for field in DROPPED:
            answer = await gate.write("/docs/7", json, field)
            seen[field] = (answer.decision, head(gate))

        assert plain == [
            json,
            "X-Api-Key: ours",
            "Authorization: Bearer ours",
            f"X-Fence: {await gate.highest('doc/7')}",
        ]
        assert seen == dict.fromkeys(DROPPED, ("forwarded", plain))
        assert [one.body for one in gate.upstream.seen] == [b"{}"] * (len(DROPPED) + 1)


@pytest.mark.parametrize("field", ["X-Fence", "X_Fence", "X.Fence", "X~Fence", "X-Intent", "X!Intent", "X_Api_Key"])
async def test_nor_has_it_one_with_a_read(store_url: str, tmp_path: Path, field: str) -> None:
    """An API that keeps the highest epoch would take the agent's word for it."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        answers = [await ask(gate.port, "GET", "/docs/7", *more) for more in ((), (f"{field}: 9",))]
        one, other = (seen.head for seen in gate.upstream.seen)

        assert [answer.decision for answer in answers] == ["passed", "passed"]
        assert one == other


async def test_no_field_makes_another_request_of_a_write(store_url: str, tmp_path: Path) -> None:
    """A method or a path that some server takes instead of the request's."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        told = {name: (await gate.write("/docs/7", f"{name}: DELETE")).decision for name in REWRITING}

        assert told == dict.fromkeys(REWRITING, "ambiguous-target")
        assert gate.upstream.seen == []


async def test_a_connection_line_hides_no_key_and_no_field_that_decides(store_url: str, tmp_path: Path) -> None:
    """A key that it names is the intent's still; a field of a condition would not arrive, nor what frames a body."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        fields = ("Content-Type: application/json", "X-Mode: soft")
        keyed = [(*fields[:1], "Idempotency-Key: k", *more) for more in (("Connection: Idempotency-Key",), ())]
        hidden = [await gate.write("/docs/7", *each) for each in keyed]
        odd = {
            **dict.fromkeys((("Connection: x-mode",), ("X-Mode: hard",), ("X_Mode: soft",)), "ambiguous-target"),
            **dict.fromkeys(
                ((f"Connection: {name}",) for name in ("Content-Type", "Content-Length", "Host")), "bad-request"
            ),
        }
        told = {more: (await gate.write("/docs/7", *fields, *more, method="POST")).decision for more in odd}
        plain = await gate.write("/docs/7", *fields, method="POST")

        assert [answer.decision for answer in hidden] == ["forwarded", "replayed"]
        assert told == odd
        assert (plain.decision, len(gate.upstream.seen)) == ("forwarded", 2)


async def test_a_token_reaches_the_api_in_no_field_and_no_url(store_url: str, tmp_path: Path) -> None:
    """Wherever it came from: a field for keys or cookies that repeats it is dropped, a URL with it refused."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        token = gate.tokens["agent-a"]
        secret = token.partition(".")[2]
        escaped = "".join(f"%{ord(letter):02x}" for letter in secret)
        coded = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
        basic = base64.b64encode(f"u:{token}".encode()).decode()
        ways = [f"Fencing-Token: {token}"]
        ways += [f"Authorization: {value}" for value in (f"Bearer {token}", f"Basic {basic}", token, f"token {token}")]
        copies = [f"{name}: {value}" for name in ("X-Auth-Token", "X-Token", "X-Key") for value in (token, secret)]
        copies += [f"Cookie: t={token}", f"Cookie: s={escaped}", f"Proxy-Authorization: Bearer {token}"]
        beside, in_urls = set(), set()
        for way in ways:
            for method in ("PUT", "GET"):
                for copy in copies:
                    beside.add((await ask(gate.port, method, "/docs/7", way, copy, body=b"")).decision)
                for value in (token, secret, escaped, coded):
                    in_urls.add((await ask(gate.port, method, f"/docs/7?k={value}", way, body=b"")).decision)

        assert (beside, in_urls) == ({"forwarded", "passed"}, {"token-malformed"})
        assert [
            seen.head
            for seen in gate.upstream.seen
            if any(word.encode() in seen.raw for word in (secret, escaped, coded, basic))
        ] == []


async def test_two_proofs_are_none(store_url: str, tmp_path: Path) -> None:
    """`Fencing-Token` comes before `Authorization`; two lines of that are no token."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7", "a")
        await gate.lease("doc/7", "b", takeover=True)
        old, new = (f"Bearer {gate.tokens[name]}" for name in "ab")
        both = await gate.write("/docs/7", f"Authorization: {new}", holder="a", body=b"")
        twice = await ask(gate.port, "PUT", "/docs/7", f"Authorization: {new}", f"Authorization: {old}", body=b"")
        plain = await gate.write("/docs/7", f"Authorization: {old}", holder="b", body=b"")

        assert [answer.decision for answer in (both, twice, plain)] == ["stale-epoch", "token-required", "forwarded"]
        assert len(gate.upstream.seen) == 1
