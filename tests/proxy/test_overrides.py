"""A request that servers or proxies behind the gateway would make another one of, in whatever place it says so."""

from pathlib import Path

import pytest

from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.stack import stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /docs/look, when: {{json: {{/dry: true}}}}}}
writes:
  - {{name: note, match: "POST /docs/{{id}}", when: {{json: {{/kind: note}}}}, resource: "doc/{{path.id}}"}}
  - {{name: form, match: "PUT /docs/{{id}}", when: {{form: {{kind: note}}}}, resource: "doc/{{path.id}}"}}
"""
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
QUERIES = (
    *("_method=DELETE", "a=1&_Method=DELETE", "%5Fmethod=DELETE", ".method=DELETE", "a;_method=DELETE"),
    *(
        "_METHOD[]=DELETE",
        "%5Bmethod=DELETE",
        "_metho%64=DELETE",
        "_methoD=DELETE",
        "ps_method=DELETE",
        "$httpHeaders=x",
    ),
    *("alf.method=DELETE", "alf_method=DELETE", "X-HTTP-Method-Override=DELETE", "%24httpMethod=DELETE"),
    *("_HttpMethod=DELETE", "x-tunneled-method=DELETE", "X-HTTP-Method=DELETE", "rest_route=/wp/v2/posts/8"),
    *("delete:method=1&ids:list=7", "%3Amethod=delete", ":action=delete", ":default_method=delete", "_action_delete=x"),
)
PATHS = (
    "/docs/7%26_method=DELETE",
    "/docs/7&a=1&_method=DELETE",
    "/docs/x%3Frest_route=%2Fwp%2Fv2%2Fposts%2F8",
    "/docs/7&x:method=1",
)
HARMLESS = ("payment_method=card", "method=DELETE", "q=_method", "action=edit", "q=is:action", "ids:list=7")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_a_read_names_no_other_method_or_path_in_its_query(store_url: str, tmp_path: Path, method: str) -> None:
    """WordPress would delete at a GET: it needs no token, so that nothing of it is sent."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        refused = [await ask(gate.port, method, f"/docs/7?{query}") for query in QUERIES]
        passed = [await ask(gate.port, method, f"/docs/7?{query}") for query in HARMLESS]

        assert [(answer.status, answer.decision) for answer in refused] == [(400, "ambiguous-target")] * len(QUERIES)
        assert [answer.decision for answer in passed] == ["passed"] * len(HARMLESS)
        assert [seen.line.split()[1] for seen in gate.upstream.seen] == [f"/docs/7?{query}" for query in HARMLESS]


async def test_a_read_names_none_in_what_a_proxy_makes_a_query_of(store_url: str, tmp_path: Path) -> None:
    """nginx puts its path into the query for PHP, or sends it on without escapes."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        refused = [await ask(gate.port, "GET", path) for path in PATHS]
        passed = await ask(gate.port, "GET", "/docs/R%26D")

        assert [(answer.status, answer.decision) for answer in refused] == [(400, "ambiguous-target")] * len(PATHS)
        assert passed.decision == "passed"
        assert [seen.line for seen in gate.upstream.seen] == ["GET /docs/R%26D HTTP/1.1"]


async def test_a_body_that_a_rule_reads_names_no_other_method(store_url: str, tmp_path: Path) -> None:
    """Laravel and Koa take `_method` from JSON as from a form; the epoch is not moved, and a deeper one is a value."""
    bodies = [
        ("POST", JSON, b'{"kind": "note", "_method": "DELETE"}'),
        ("POST", JSON, b'{"kind": "note", "\\u005fMethod": "DELETE"}'),
        ("POST", JSON, b'{"kind": "note", "X-HTTP-Method-Override": "DELETE"}'),
        ("PUT", FORM, b"kind=note&_method=DELETE"),
        ("PUT", FORM, b"kind=note&x-http-method=DELETE"),
        ("PUT", FORM, b"kind=note&rest_route=/wp/v2/posts/8"),
        ("PUT", FORM, b"kind=note&delete:method=1"),
        ("PUT", FORM, b"kind=note&_action_delete=x"),
    ]
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        before = await gate.highest("doc/7")
        refused = [await gate.write("/docs/7", field, method=method, body=body) for method, field, body in bodies]
        looked = await ask(gate.port, "POST", "/docs/look", JSON, body=b'{"dry": true, "_method": "DELETE"}')
        plain = await gate.write("/docs/7", JSON, method="POST", body=b'{"kind": "note", "method": {"_method": 1}}')

        assert [(answer.status, answer.decision) for answer in (*refused, looked)] == [(400, "ambiguous-target")] * 9
        assert await gate.highest("doc/7") == before
        assert plain.decision == "forwarded"
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("proxies", "passed"), [((), []), (("127.0.0.1",), [["true"], ["root"]])], ids=["an agent", "a trusted proxy"]
)
async def test_nobody_tells_the_apis_proxy_to_send_it_again(
    store_url: str, tmp_path: Path, proxies: tuple[str, ...], passed: list[list[str]]
) -> None:
    """With these fields Envoy and linkerd send one write several times; of a trusted proxy's they are dropped too."""
    rerouting = ("X-Envoy-Retry-On: 5xx", "x-envoy-max-retries: 4", "L5d-Retry-Http: 5xx", "X_Envoy_Retry_On: 5xx")
    claims = ("X-Envoy-Internal: true", "Impersonate-User: root")
    async with stack(store_url, tmp_path, POLICY, trusted_proxies=proxies) as gate:
        await gate.lease("doc/7")
        await gate.write("/docs/7", JSON, *rerouting, *claims, method="POST", body=b'{"kind": "note"}')

        (seen,) = gate.upstream.seen
        assert b"retr" not in seen.raw.lower()
        named = [seen.values(name) for name in ("x-envoy-internal", "impersonate-user")]
        assert [values for values in named if values] == passed


DENYING = """
upstream: admin
url: http://localhost:{port}
mount: {{path: /docs/admin}}
reads: deny
writes: []
"""


async def test_an_encoded_slash_leads_around_no_mount_that_denies_reads(store_url: str, tmp_path: Path) -> None:
    """A server that decodes it, once or behind a proxy, would act as it does at a GET there."""
    paths = ("admin%2Fpurge", "admin%2fpurge", "ADMIN%2Fpurge", "admin%252Fpurge", "admin%255Cpurge", "%2561dmin/purge")
    (tmp_path / "policies").mkdir()
    async with RecordingUpstream() as admin:
        (tmp_path / "policies" / "admin.yaml").write_text(DENYING.format(port=admin.port))
        async with stack(store_url, tmp_path, POLICY) as gate:
            refused = [await ask(gate.port, "GET", f"/docs/{path}") for path in paths]
            denied = await ask(gate.port, "GET", "/docs/admin/purge")
            passed = await ask(gate.port, "GET", "/docs/administrators%2F7")

            assert [(answer.status, answer.decision) for answer in refused] == [(400, "ambiguous-target")] * len(paths)
            assert (denied.decision, passed.decision) == ("reads-denied", "passed")
            assert (len(gate.upstream.seen), admin.seen) == (1, [])
