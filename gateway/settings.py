"""What an operator sets: command-line options, else the environment (`FENCEGATE_*`, the options' own names), else the
default. Nothing but this module reads the environment.
"""

import os
import re
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from gateway.core.address import Address

LogFormat = Literal["json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

Network = IPv4Network | IPv6Network

_DURATION = re.compile("([0-9]{1,9})([smhd])")
# As in store/links/url.py, which reads it.
_STORE = (
    r"^((redis|rediss|unix)://"
    r"|rediss?\+sentinel://[^/?#]+/[^/?#]+(/[0-9]+)?(\?.*)?$"
    r"|rediss?\+cluster://[^/?#]+/?(\?.*)?$)"
)
# As in store/durability.py.
_DURABILITY = r"^(process|disk|replica:[1-9][0-9]?)$"
# Without user and password: a collector's proof is a header, in OTEL_EXPORTER_OTLP_HEADERS.
_COLLECTOR = r"^https?://[^\s/?#@]+(/[^\s?#]*)?$"
_TRACES = "/v1/traces"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class SettingsError(Exception):
    """A setting is wrong; each line of the message names one and says what to write."""


def parse_address(text: object) -> Address:
    """Read `HOST:PORT`. Raises ValueError with what to write instead."""
    if isinstance(text, Address):
        return text
    host, colon, port = str(text).rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if bracketed else host
    if not (colon and name and port.isascii() and port.isdigit() and int(port) <= 65_535) or (
        ":" in name and not bracketed
    ):
        raise ValueError("write HOST:PORT, as 127.0.0.1:8080 or [::1]:8080")
    return Address(name, int(port))


def _address_or_none(text: object) -> Address | None:
    return None if text is None else parse_address(text)


def parse_networks(value: object) -> tuple[Network, ...]:
    """Read addresses and networks, a list of texts or one text with commas. Raises ValueError for what is neither, and
    for all addresses there are: among them are the agents'.
    """
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        raise ValueError("write addresses or networks")
    networks = tuple(ip_network(text.strip() if isinstance(text, str) else text) for text in texts)
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("everybody cannot be trusted")
    return networks


def parse_duration(value: object) -> object:
    """Seconds of `90s`, `30m`, `12h` or `7d`; whatever is none of these is left as it is."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) * _SECONDS[found[2]] if found else value


class _ServiceSettings(BaseSettings):
    """What every service is told, each under the name of its option. Durations in seconds.

    The admin token has no option: a command line is shown to every user of the machine.
    """

    model_config = SettingsConfigDict(env_prefix="FENCEGATE_", frozen=True, env_ignore_empty=True)

    policies: Path
    admin_token: str | None = Field(default=None, pattern=r"^[!-~]{16,}$", repr=False)
    # How safe a record has to be before anything happens because of it: see store/durability.py.
    durability: str = Field(default="process", pattern=_DURABILITY)
    # A store in the same rack answers in a millisecond. Longer than this, and callers' own timeouts end first.
    store_timeout: float = Field(default=2.0, gt=0, le=60)
    # How long accepted writes may take to end at shutdown. None: the largest `timeouts.total` and five seconds.
    grace: float | None = Field(default=None, ge=0, le=86_400)
    # An OpenTelemetry collector's base URL. None: that of `OTEL_EXPORTER_OTLP_ENDPOINT`, else nothing is traced.
    otlp: str | None = Field(default=None, pattern=_COLLECTOR)
    # Of the traces that begin here: those that callers have begun are sampled where their flag says so.
    trace_ratio: float = Field(default=1.0, ge=0, le=1)
    # None: text on a terminal, else JSON.
    log_format: LogFormat | None = None
    log_level: LogLevel = "info"


class ServeSettings(_ServiceSettings):
    """The settings of `fencegate serve`."""

    listen: Annotated[Address, NoDecode, BeforeValidator(parse_address)] = Address("127.0.0.1", 8080)
    admin: Annotated[Address, NoDecode, BeforeValidator(parse_address)] = Address("127.0.0.1", 8081)
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Where it is set, agents have to show a certificate that it has signed.
    tls_client_ca: Path | None = None
    # Whose X-Forwarded-* and Forwarded are believed.
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode, BeforeValidator(parse_networks)] = ()
    admin_tls_cert: Path | None = None
    admin_tls_key: Path | None = None
    # Where operators reach the admin listener, for the links in notifications; None: they have none.
    admin_url: str | None = Field(default=None, pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$")
    store: str | None = Field(default=None, pattern=_STORE, repr=False)
    data_dir: Path = Path(".fencegate")
    workers: int = Field(default=1, ge=1, le=256)
    # Of a worker: the memory that each costs (24 KiB) makes some 240 MiB.
    max_connections: int = Field(default=10_000, ge=16, le=1_000_000)
    # Likewise, of requests that wait for a body, a lease, a resource or a connection.
    max_waiting: int = Field(default=4_000, ge=16, le=1_000_000)
    # How long callers are still taken after SIGTERM, while /readyz says no: a balancer looks every few seconds.
    drain: float = Field(default=0.0, ge=0, le=3_600)
    allow_unsafe_store: bool = False
    # What an operator looks up on Monday is seldom older than a week; a year of events is for a system of its own.
    audit_retain: Annotated[float, BeforeValidator(parse_duration)] = Field(default=604_800.0, ge=60, le=315_360_000)
    # Of all shards together. A thousandth of them is the least that a shard is left, and a write has two.
    audit_events: int = Field(default=500_000, ge=10_000, le=1_000_000_000)
    # As for the trail: what came too late on Friday is looked at on Monday.
    quarantine_retain: Annotated[float, BeforeValidator(parse_duration)] = Field(604_800.0, ge=60, le=315_360_000)
    # Of all shards together. The store's memory is for fencing first.
    quarantine_bytes: int = Field(default=268_435_456, ge=1_048_576, le=1_099_511_627_776)
    # Likewise, of requests that wait: beyond it a write that would have to is refused.
    queue_bytes: int = Field(default=268_435_456, ge=1_048_576, le=1_099_511_627_776)


class DeliverSettings(_ServiceSettings):
    """The settings of `fencegate deliver`."""

    model_config = SettingsConfigDict(extra="ignore")

    store: str = Field(pattern=_STORE, repr=False)
    # Where it is watched; None: nowhere. Not `admin`: that is where commands find a gateway, on the same host too.
    metrics: Annotated[Address | None, NoDecode, BeforeValidator(_address_or_none)] = None


_Settings = TypeVar("_Settings", bound=_ServiceSettings)

# What to write, for whoever wrote something else. A value is never shown again: it may be a secret.
_WANTED = {
    "policies": "a directory with policy files, as in --policies policies",
    "listen": "HOST:PORT, as in 127.0.0.1:8080 or [::1]:8080",
    "admin": "HOST:PORT, as in 127.0.0.1:8081 or [::1]:8081",
    "metrics": "HOST:PORT, as in 127.0.0.1:9091 or [::1]:9091",
    "admin_token": "16 or more visible ASCII characters without blanks",
    "tls_cert": "a PEM file with the listener's certificate, and those between it and its authority",
    "tls_key": "a PEM file with the certificate's private key",
    "tls_client_ca": "a PEM file with the authorities of clients' certificates",
    "trusted_proxies": "addresses or networks of proxies, as in 10.0.0.7 or 10.1.0.0/16 (not everybody)",
    "admin_tls_cert": "a PEM file with the admin listener's certificate",
    "admin_tls_key": "a PEM file with the certificate's private key",
    "admin_url": "the URL of the admin listener as operators reach it, as in https://fence.internal:8081",
    "store": (
        "a URL that begins with redis://, rediss:// or unix://, or "
        "redis+sentinel://HOST:PORT,HOST:PORT/SERVICE (the sentinels, and the name of what they guard), or "
        "redis+cluster://HOST:PORT,HOST:PORT (some nodes); rediss+sentinel:// and rediss+cluster:// for TLS"
    ),
    "data_dir": "a directory",
    "workers": "a whole number from 1 to 256",
    "max_connections": "a whole number from 16 to 1000000",
    "max_waiting": "a whole number from 16 to 1000000",
    "drain": "a number of seconds from 0 to 3600",
    "allow_unsafe_store": "true or false",
    "durability": "process, disk or replica:N (as many replicas as have to have a record)",
    "store_timeout": "a number of seconds, more than 0 and at most 60",
    "grace": "a number of seconds from 0 to 86400",
    "audit_retain": "a duration from 60s to 3650d, as 90s, 30m, 12h or 7d",
    "audit_events": "a whole number from 10000 to 1000000000",
    "quarantine_retain": "a duration from 60s to 3650d, as 90s, 30m, 12h or 7d",
    "quarantine_bytes": "a whole number from 1048576 to 1099511627776",
    "queue_bytes": "a whole number from 1048576 to 1099511627776",
    "otlp": "the URL of an OpenTelemetry collector that takes OTLP over HTTP, as in http://collector:4318",
    "trace_ratio": "a number from 0 to 1",
    "log_format": "json or text",
    "log_level": "debug, info, warning or error",
}
# The option that is given once for each member of a list.
_ONE_OF = {"trusted_proxies": "trusted_proxy"}


def read_serve_settings(options: Mapping[str, object]) -> ServeSettings:
    """Settings from `options` (None, or no members: not given), over the environment. Raises SettingsError."""
    settings = _read(ServeSettings, options)
    _check_reach("--admin", settings.admin, settings.admin_token)
    _check_pairs(settings)
    if settings.store is None and settings.durability.startswith("replica"):
        raise SettingsError("The bundled store has no replicas: name another with --store, or write --durability disk.")
    return settings


def read_deliver_settings(options: Mapping[str, object]) -> DeliverSettings:
    """As `read_serve_settings`."""
    settings = _read(DeliverSettings, options)
    if settings.metrics is not None:
        _check_reach("--metrics", settings.metrics, settings.admin_token)
    return settings


def _read(kind: type[_Settings], options: Mapping[str, object]) -> _Settings:
    given = {name: value for name, value in options.items() if value not in (None, ())}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(str(fault["loc"][0])) for fault in error.errors())) from None


def _check_reach(option: str, address: Address, token: str | None) -> None:
    """What is for operators is not for whoever is on the network."""
    if token is None and not address.is_loopback:
        raise SettingsError(
            f"{option} {address} can be reached from other machines, and no admin token is set. "
            "Set FENCEGATE_ADMIN_TOKEN to a secret of 16 characters or more, or listen on 127.0.0.1."
        )


def _check_pairs(settings: ServeSettings) -> None:
    """A certificate is of no use without its key; a listener that is asked for TLS must not come up without it."""
    for option, cert, key in (
        ("--tls", settings.tls_cert, settings.tls_key),
        ("--admin-tls", settings.admin_tls_cert, settings.admin_tls_key),
    ):
        if (cert is None) != (key is None):
            raise SettingsError(f"{option}-cert and {option}-key belong together: give both, or neither.")
    if settings.tls_client_ca is not None and settings.tls_cert is None:
        raise SettingsError("--tls-client-ca wants --tls-cert and --tls-key: clients show certificates over TLS only.")


def collector(otlp: str | None) -> str | None:
    """Where traces go: to `otlp`, else to where the environment sends those of every program, else nowhere.

    OpenTelemetry's own variables; of its protocols only OTLP over HTTP is spoken here.
    """
    variables = environment()
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    if otlp is not None:
        return _traces_of(otlp)
    own, every = (variables.get(f"OTEL_EXPORTER_OTLP_{name}ENDPOINT") for name in ("TRACES_", ""))
    protocols = (variables.get(f"OTEL_EXPORTER_OTLP_{name}PROTOCOL") for name in ("TRACES_", ""))
    protocol = next(filter(None, protocols), "http/protobuf")
    if protocol != "http/protobuf" or variables.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    return own or (_traces_of(every) if every else None)


def _traces_of(base: str) -> str:
    return base if base.endswith(_TRACES) else base.rstrip("/") + _TRACES


def environment() -> dict[str, str]:
    """The process's environment: what `${env:NAME}` in a policy reads, and what a worker is started with."""
    return dict(os.environ)  # noqa: TID251 - the one place


def _sentence(name: str) -> str:
    variable = f"FENCEGATE_{name.upper()}"
    option = "" if name == "admin_token" else f"--{_ONE_OF.get(name, name).replace('_', '-')} or "
    return f"{option}{variable} must be {_WANTED[name]}."
