"""What a store's URL says: one server, a service that sentinels guard, or some nodes of a cluster."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio.connection import parse_url

from gateway.core.address import Address

# What a connection of redis-py is made with; its own types for that and for a URL's parts do not meet.
Options = dict[str, Any]

_FORMS = (
    "write redis://, rediss:// or unix://PATH, redis+sentinel://[USER:PASSWORD@]HOST:PORT,HOST:PORT/SERVICE[/DB] or "
    "redis+cluster://[USER:PASSWORD@]HOST:PORT,HOST:PORT (rediss+… for TLS)"
)
_SERVER_PORT = 6379
_SENTINEL_PORT = 26379
# Of the query, what is for the sentinels alone: they have users of their own.
_SENTINELS_OWN = {"sentinel_username": "username", "sentinel_password": "password"}


@dataclass(frozen=True, slots=True)
class OneServer:
    """`options` have its address too."""

    options: Options


@dataclass(frozen=True, slots=True)
class Guarded:
    """Whichever server the sentinels name as the primary of `service`. `own`: the options of connections to them."""

    sentinels: tuple[Address, ...]
    service: str
    options: Options
    own: Options


@dataclass(frozen=True, slots=True)
class Sharded:
    """A cluster; one of `seeds` has to be reached to learn of all others."""

    seeds: tuple[Address, ...]
    options: Options


def read_url(url: str) -> OneServer | Guarded | Sharded:
    """Raises ValueError, saying what to write instead; no part of the URL is repeated, for it may be a password."""
    scheme, _, kind = url.partition("://")[0].partition("+")
    if scheme not in ("redis", "rediss", "unix") or (scheme == "unix" and kind):
        raise ValueError(f"This is no URL of a store: {_FORMS}.")
    try:
        parts = urlsplit(url)
        # Of several servers each has its own.
        _ = kind or parts.port
    except ValueError:
        raise ValueError(f"This is no URL of a store: {_FORMS}.") from None
    if not kind:
        if scheme != "unix" and not _names_a_database(parts.path):
            # redis-py would take its first one.
            raise ValueError("The path of a store's URL is the number of its database, such as redis://HOST:PORT/0.")
        return OneServer(dict(parse_url(url)))
    path = [unquote(name) for name in parts.path.strip("/").split("/") if name]
    user, at, hosts = parts.netloc.rpartition("@")
    options = dict(parse_url(f"{scheme}://{user}{at}?{parts.query}"))
    own = {ours: options.pop(name) for name, ours in _SENTINELS_OWN.items() if name in options}
    if kind == "cluster":
        if path or "db" in options or own:
            raise ValueError(f"A cluster has one database and no sentinels: {_FORMS}.")
        return Sharded(_addresses(hosts, _SERVER_PORT), options)
    if kind != "sentinel" or not 1 <= len(path) <= 2 or not (path[1:] or ["0"])[0].isdecimal():
        raise ValueError(f"This is no URL of a store: {_FORMS}.")
    if path[1:]:
        options["db"] = int(path[1])
    servers_own = ("username", "password", "db", "client_name")
    shared = {name: value for name, value in options.items() if name not in servers_own}
    return Guarded(_addresses(hosts, _SENTINEL_PORT), path[0], options, shared | own)


def _names_a_database(path: str) -> bool:
    name = path.strip("/")
    return not name or (name.isascii() and name.isdecimal())


def _addresses(hosts: str, port: int) -> tuple[Address, ...]:
    return tuple(_address(host.strip(), port) for host in hosts.split(","))


def _address(text: str, port: int) -> Address:
    parts = urlsplit(f"//{text}")
    try:
        return Address(parts.hostname or "", parts.port or port) if parts.hostname else _refuse()
    except ValueError:
        return _refuse()


def _refuse() -> Address:
    raise ValueError(f"A server of the store has no address: {_FORMS}.")
