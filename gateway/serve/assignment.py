"""What a worker is told when it starts: one line of JSON on its standard input."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from gateway.core.address import Address
from gateway.serve.exporting import Traces
from gateway.serve.tls import TlsFiles
from gateway.settings import LogFormat, LogLevel
from gateway.store.fence import PARKED_BYTES_AT_MOST
from gateway.store.kept_requests import QuarantineBounds


@dataclass(frozen=True, slots=True)
class Assignment:
    """Everything that a worker has to know. It comes through a pipe, because of credentials and a store's password."""

    listen: Address
    policies: str
    store: str
    store_timeout_s: float
    # How long accepted writes may take to end once the worker was told to stop.
    grace_s: float
    log_format: LogFormat
    log_level: LogLevel
    tls: TlsFiles | None = None
    # Networks, as `10.0.0.0/8`.
    trusted_proxies: tuple[str, ...] = ()
    quarantine: QuarantineBounds = field(default_factory=QuarantineBounds)
    # Of requests that wait for delivery or an approval, in the whole store.
    queue_bytes: int = PARKED_BYTES_AT_MOST
    # As store/durability.py spells it.
    durability: str = "process"
    max_connections: int | None = None
    max_waiting: int | None = None
    # What the files of credentials held when the policies were last put in force: one that is gone by now keeps no
    # worker from being replaced.
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    # The page that tells which edition of the policies is in force.
    edition: str = ""
    # None: nothing is traced.
    traces: Traces | None = None
    # Where operators call: no upstream may be there. None: nowhere.
    admin: Address | None = None

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def read_assignment(line: bytes) -> Assignment:
    members = json.loads(line)
    tls, traces, admin = members["tls"], members["traces"], members["admin"]
    built = {
        "listen": Address(**members["listen"]),
        "admin": None if admin is None else Address(**admin),
        "tls": None if tls is None else TlsFiles(**tls),
        "traces": None if traces is None else Traces(**traces),
        "trusted_proxies": tuple(members["trusted_proxies"]),
        "quarantine": QuarantineBounds(**members["quarantine"]),
    }
    return Assignment(**members | built)
