"""Stores behind TLS: certificates of both sides, alone, behind sentinels and as a cluster."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey
from tests.certificates import Authority
from tests.store.fences import bare, ended, opened
from tests.store.topology.cluster import start_cluster
from tests.store.topology.guarded import SERVICE, start_guarded
from tests.store.topology.node import Node, Tls


def _with_tls() -> str | None:
    """A server that was built with TLS, if this machine has one; the bundled one was not."""
    lists_libraries = shutil.which("ldd")
    for binary in filter(None, map(shutil.which, ("valkey-server", "redis-server"))):
        command = [lists_libraries or "false", binary]
        if "libssl" in subprocess.run(command, check=False, capture_output=True, text=True).stdout:
            return binary
    return None


BINARY = _with_tls()
pytestmark = pytest.mark.skipif(BINARY is None, reason="no redis-server or valkey-server with TLS on PATH")


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    authority = Authority(tmp_path / "authority")
    return Tls(authority.ca, *authority.issue("store"))


@pytest.fixture
def server(tmp_path: Path, tls: Tls) -> Iterator[Node]:
    server = Node(tmp_path / "server", "--save", "", binary=BINARY, tls=tls)
    server.start()
    yield server
    server.stop()


async def test_a_server_is_reached_with_a_certificate(server: Node, tls: Tls) -> None:
    """Under the authority that the URL names, by the name that it has there."""
    async with opened(f"rediss://localhost:{server.port}?{tls.query}") as store:
        await ended(store, bare(42), "applied")


@pytest.mark.slow
async def test_no_certificate_is_shown(server: Node, tls: Tls) -> None:
    """The server hangs up."""
    with pytest.raises(StoreUnavailable):
        async with opened(f"rediss://localhost:{server.port}?ssl_ca_certs={tls.ca}", timeout_s=2.0):
            pass


@pytest.mark.slow
async def test_another_authority_is_not_trusted(server: Node, tls: Tls, tmp_path: Path) -> None:
    """Nothing is said to whoever it is."""
    other = Authority(tmp_path / "other")
    with pytest.raises(StoreUnavailable, match="certificate verify failed"):
        async with opened(f"rediss://localhost:{server.port}?ssl_ca_certs={other.ca}", timeout_s=2.0):
            pass


@pytest.mark.slow
async def test_a_server_without_tls_is_told(server: Node) -> None:
    """By what its connection says."""
    with pytest.raises(StoreUnavailable):
        async with opened(f"redis://localhost:{server.port}", timeout_s=2.0):
            pass


@pytest.mark.slow
async def test_a_cluster(tmp_path: Path, tls: Tls) -> None:
    """Every node is reached as the first one was."""
    cluster = start_cluster(tmp_path / "cluster", binary=BINARY, tls=tls)
    try:
        async with opened(f"rediss+cluster://{cluster.primaries[0].address}?{tls.query}") as store:
            for number in range(20):
                await ended(store, replace(bare(42), resource=ResourceKey(f"report/{number}")), "applied")
            assert len(store.link.servers) == 3 and store.healthy
    finally:
        cluster.stop()


@pytest.mark.slow
async def test_sentinels(tmp_path: Path, tls: Tls) -> None:
    """They and what they name are spoken to alike."""
    guarded = start_guarded(tmp_path / "guarded", 1, 3, binary=BINARY, tls=tls)
    try:
        hosts = ",".join(node.address for node in guarded.sentinels)
        async with opened(f"rediss+sentinel://{hosts}/{SERVICE}?{tls.query}") as store:
            await ended(store, bare(42), "applied")
    finally:
        guarded.stop()
