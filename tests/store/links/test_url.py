"""What a store's URL says: tables."""

import pytest
from redis.asyncio.connection import SSLConnection, UnixDomainSocketConnection

from gateway.core.address import Address
from gateway.store.links.url import Guarded, OneServer, Sharded, read_url

_A, _B = Address("a", 1), Address("b", 26379)
_TLS = {"connection_class": SSLConnection}


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("redis://a:1/2", OneServer({"host": "a", "port": 1, "db": 2})),
        ("redis://a/", OneServer({"host": "a"})),
        ("redis://a?db=2", OneServer({"host": "a", "db": 2})),
        ("unix:///run/s?db=1", OneServer({"path": "/run/s", "db": 1, "connection_class": UnixDomainSocketConnection})),
        ("rediss://a", OneServer({"host": "a", **_TLS})),
        ("redis+sentinel://a:1,b/fence", Guarded((_A, _B), "fence", {}, {})),
        ("redis+sentinel://a:1/my%20fence/3", Guarded((_A,), "my fence", {"db": 3}, {})),
        (
            "rediss+sentinel://u:p%2Fw@[::1]:5/fence?ssl_ca_certs=ca.pem&sentinel_password=q",
            Guarded(
                (Address("::1", 5),),
                "fence",
                {"username": "u", "password": "p/w", "ssl_ca_certs": "ca.pem", **_TLS},
                {"password": "q", "ssl_ca_certs": "ca.pem", **_TLS},
            ),
        ),
        ("redis+cluster://a:1,b", Sharded((_A, Address("b", 6379)), {})),
        ("redis+cluster://a:1/", Sharded((_A,), {})),
        (
            "rediss+cluster://:p@a:1?ssl_cert_reqs=none",
            Sharded((_A,), {"password": "p", "ssl_cert_reqs": "none", **_TLS}),
        ),
    ],
    ids=[
        "one server",
        "one server, a slash at the end",
        "one server, the database in the query",
        "a unix socket",
        "one server over TLS",
        "sentinels, a port left out",
        "a service with a blank, and a database",
        "sentinels over TLS with users of their own",
        "a cluster, a port left out",
        "a cluster, a slash at the end",
        "a cluster over TLS",
    ],
)
def test_a_url_is_read(url: str, read: object) -> None:
    """Users and what the query says are the servers', but for what names the sentinels."""
    assert read_url(url) == read


@pytest.mark.parametrize(
    "url",
    [
        "http://secret@a",
        "unix+cluster:///secret",
        "redis+replica://secret@a",
        "redis+sentinel://secret@a:1",
        "redis+sentinel://secret@a:1/fence/one",
        "redis+sentinel://secret@a:1/fence/1/2",
        "redis+sentinel://secret@a:one/fence",
        "redis+sentinel://secret@a:1,/fence",
        "redis+sentinel://secret@/fence",
        "redis+cluster://secret@a:1/1",
        "redis+cluster://secret@a:1?db=1",
        "redis+cluster://secret@a:70000",
        "redis+cluster://a:1?sentinel_password=secret",
        "redis://u:secret/w@a:1",
        "rediss://u:[secret]@a:1",
        "redis+sentinel://u:[secret]@a:1/fence",
        "redis://u:secret\N{ACCOUNT OF}@a:1",
    ],
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    """The error says what to write, and repeats nothing that may be a password."""
    with pytest.raises(ValueError, match="write redis://") as raised:
        read_url(url)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("path", ["/secret", "/1/2", "/-1", "/1.0", "/\N{ARABIC-INDIC DIGIT ONE}", "/%31"])
def test_a_path_that_is_no_database_is_refused(path: str) -> None:
    """Two stores would share the first one."""
    with pytest.raises(ValueError, match="number of its database") as raised:
        read_url(f"redis://a:1{path}")

    assert "secret" not in str(raised.value)
