"""What a page can make a browser do through a listener where nobody has a key."""

import hashlib
import json
from pathlib import Path

import pytest

from gateway.core.address import Address
from tests.raw import ask
from tests.sessions import HANDSHAKE
from tests.stack import POLICY, rules_from, stack

LOOPBACK = Address("127.0.0.1", 0)
HOST = "localhost:8080"
TAKEOVER = json.dumps({"resource": "report/7", "holder": "mallory", "ttl_s": 60, "takeover": True}).encode()
FOREIGN = {
    "a script's simple request": ("Origin: https://evil.example", "Sec-Fetch-Site: cross-site"),
    "a page on another port": ("Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"),
    "an older browser": ("Origin: https://evil.example",),
    "a page without an origin": ("Origin: null",),
    "an empty origin": ("Origin: ",),
    "an extension": ("Origin: chrome-extension://abc",),
    "two origins": ("Origin: http://localhost:8080, https://evil.example",),
    "an origin with a path": ("Origin: http://localhost:8080/x",),
    "an origin that begins alike": ("Origin: http://localhost:8080.evil.example",),
    "two words": ("Sec-Fetch-Site: same-origin, cross-site",),
}


@pytest.mark.parametrize("fields", FOREIGN.values(), ids=FOREIGN.keys())
async def test_no_page_of_another_site_takes_a_lease_or_writes(
    fields: tuple[str, ...], store_url: str, tmp_path: Path
) -> None:
    """The holder keeps its epoch, and nothing is forwarded; what only reads passes, and its answer stays unseen."""
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        taken = await ask(gateway.port, "POST", "/-/fence/leases", *fields, body=TAKEOVER, host=HOST)
        written = await ask(gateway.port, "PUT", "/reports/7", "Fencing-Token: 1.x", *fields, body=b"{}", host=HOST)
        session = await ask(gateway.port, "GET", "/reports/7", *HANDSHAKE, *fields, host=HOST)

        refused = [taken, written, session]
        assert [(one.status, one.decision) for one in refused] == [(403, "forbidden")] * 3
        assert gateway.upstream.seen == []
        assert (await ask(gateway.port, "GET", "/-/fence/leases?resource=report/7", host=HOST)).status == 404
        assert (await ask(gateway.port, "GET", "/reports/7", *fields, host=HOST)).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
async def test_a_name_that_was_rebound_to_loopback_is_refused(method: str, store_url: str, tmp_path: Path) -> None:
    """Reads too: under such a name a page sees their answers."""
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        browser = "User-Agent: Mozilla/5.0" if method == "GET" else "Origin: http://evil.example:8080"
        answer = await ask(gateway.port, method, "/reports/7", browser, body=b"{}", host="evil.example:8080")

        assert (answer.status, answer.decision) == (403, "forbidden")
        assert "localhost" in str(answer.problem["detail"])
        assert gateway.upstream.seen == []


# Of a page's own site the browser sends neither `Origin` nor, without TLS, `Sec-Fetch-Site`.
REBOUND = {
    "a script that names itself": ("User-Agent: x", "Accept-Language: en-US,en;q=0.5"),
    "a script without a name": ("User-Agent: ", "Accept-Language: *"),
    "a script that blanks what it can": ("User-Agent: ", "Accept-Language: "),
    "an image": ("User-Agent: x", "Referer: http://evil.example:8080/"),
    "a navigation": ("User-Agent: Mozilla/5.0",),
}


@pytest.mark.parametrize("target", ["/reports/7", "/-/fence/leases?resource=report/7"])
async def test_a_page_under_a_rebound_name_reads_nothing(target: str, store_url: str, tmp_path: Path) -> None:
    """It may set `User-Agent` and leave out `Referer`; no page takes `Accept-Language` away."""
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        for fields in REBOUND.values():
            answer = await ask(gateway.port, "GET", target, *fields, host="evil.example:8080")
            assert (answer.status, answer.decision) == (403, "forbidden")

        assert gateway.upstream.seen == []


async def test_names_that_are_nearly_the_machines_are_none(store_url: str, tmp_path: Path) -> None:
    """Nor is an empty one: whoever owns the name of a page chooses it."""
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        for host in ("localhost.", "0.0.0.0", "0.0.0.0:8080", "127.1", ""):
            answer = await ask(gateway.port, "GET", "/reports/7", "User-Agent: Mozilla/5.0", host=host)
            assert (host, answer.status) == (host, 403)

        assert gateway.upstream.seen == []


async def test_clients_that_are_no_browsers_are_served(store_url: str, tmp_path: Path) -> None:
    """Under any name: a proxy on the machine passes its own on. A form's type of content is curl's own too."""
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        for host in ("localhost", "127.0.0.1:8080", "[::1]:8080", "fence.internal"):
            form = "Content-Type: application/x-www-form-urlencoded"
            answer = await ask(gateway.port, "POST", "/-/fence/leases", form, body=TAKEOVER, host=host)
            assert answer.status == 201
        node = ("User-Agent: node", "Accept-Language: *", "Sec-Fetch-Mode: cors")
        assert (await ask(gateway.port, "GET", "/reports/7", *node, host="fence.internal")).status == 200


@pytest.mark.parametrize("name", ["fence.internal:8080", "192.0.2.1:8080"])
async def test_a_page_does_nothing_wherever_the_gateway_listens(name: str, store_url: str, tmp_path: Path) -> None:
    """Whoever reaches an anonymous listener may look at such a page; a page of its own site, or no page, may write."""
    async with stack(store_url, tmp_path) as gateway:
        for fields in FOREIGN.values():
            answer = await ask(gateway.port, "POST", "/-/fence/leases", *fields, body=TAKEOVER, host=name)
            assert (answer.status, answer.decision) == (403, "forbidden")
        for own in ((f"Origin: http://{name}",), ("User-Agent: curl/8",)):
            answer = await ask(gateway.port, "POST", "/-/fence/leases", *own, body=TAKEOVER, host=name)
            assert answer.status == 201


async def test_a_host_that_a_policy_names_is_known(store_url: str, tmp_path: Path) -> None:
    """Whatever its port; another one is not."""
    policy = POLICY.replace("path: /reports", "path: /reports, host: api.test")
    async with stack(store_url, tmp_path, policy, listen=LOOPBACK) as gateway:
        browser = "User-Agent: Mozilla/5.0"
        assert (await ask(gateway.port, "GET", "/reports/7", browser, host="API.test:99")).status == 200
        assert (await ask(gateway.port, "GET", "/reports/7", browser, host="other.test")).status == 403


async def test_a_trusted_proxy_uses_any_name(store_url: str, tmp_path: Path) -> None:
    """What it passes on for a page of another site is refused all the same."""
    async with stack(store_url, tmp_path, listen=LOOPBACK, trusted_proxies=("127.0.0.1/32",)) as gateway:
        passed = await ask(gateway.port, "GET", "/reports/7", "User-Agent: Mozilla/5.0", host="fence.internal")
        foreign = ("Origin: https://evil.example",)
        refused = await ask(gateway.port, "POST", "/-/fence/leases", *foreign, body=TAKEOVER, host="fence.internal")

        assert (passed.status, refused.status) == (200, 403)


async def test_whoever_has_a_key_is_no_page(store_url: str, tmp_path: Path) -> None:
    """No page knows one: where principals are configured, the name that a request was sent to says nothing."""
    (tmp_path / "policies").mkdir()
    key = f"key: 'sha256:{hashlib.sha256(b'ada').hexdigest()}'"
    (tmp_path / "policies" / "principals.yaml").write_text(f"principals: [{{name: ada, {key}, resources: ['**']}}]")
    assert rules_from(tmp_path / "policies", POLICY.format(port=1)).principals
    async with stack(store_url, tmp_path, listen=LOOPBACK) as gateway:
        answer = await ask(gateway.port, "GET", "/reports/7", "Fencegate-Key: ada", host="fence.internal")
        nobody = await ask(gateway.port, "GET", "/reports/7", host="fence.internal")

        assert (answer.status, nobody.status) == (200, 401)


async def test_an_mcp_server_is_for_no_page_wherever_it_listens(store_url: str, tmp_path: Path) -> None:
    """The protocol demands that a foreign `Origin` is refused, on every method (Streamable HTTP)."""
    policy = POLICY.replace("upstream: reports", "upstream: reports\nprotocol: mcp")
    async with stack(store_url, tmp_path, policy) as gateway:
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            answer = await ask(gateway.port, method, "/reports", "Origin: https://evil.example", body=b"{}")
            assert (answer.status, answer.decision) == (403, "forbidden")
        assert (await ask(gateway.port, "GET", "/reports", "Origin: http://localhost")).status == 200
        assert len(gateway.upstream.seen) == 1
