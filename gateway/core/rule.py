"""A compiled policy: what the flow and the sender may know about an upstream and a rule.

Frozen, shared by all requests. How a request is matched and a resource is spelled is not here but in `gateway.policy`.
"""

import zlib
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.budget import Budget
from gateway.core.format_ending import FormatEndings
from gateway.core.target import Target
from gateway.core.term import Term
from gateway.core.token import TokenSource

Authority = Literal["lease", "header", "signed"]
Algorithm = Literal["EdDSA", "ES256", "RS256", "HS256"]
Order = Literal["monotonic", "strict"]
Concurrency = Literal["serial", "parallel"]
Sequence = Literal["off", "increasing", "contiguous"]
AfterUnknown = Literal["continue", "hold"]
Revision = Literal["off", "gateway"]
IntentMode = Literal["off", "optional", "required"]
OnUnknown = Literal["hold", "query", "retry"]
Protocol = Literal["http", "mcp"]
Errors = Literal["problem", "jsonrpc"]
Mode = Literal["enforce", "observe"]
Upgrade = Literal["websocket"]
OnStale = Literal["reject", "quarantine"]
Parks = Literal["queued", "awaiting_approval"]
Risk = Literal["low", "high"]
Forwarded = Literal["trusted", "x-forwarded", "rfc7239"]
NotifyEvent = Literal["awaiting_approval", "unknown", "incident"]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `total_s` bounds a write from its admission to the end of the answer, and is its ticket's life.

    `late_s` is how long an answer is still read for the record after its caller was told that the outcome is unknown.
    """

    connect_s: float = 2.0
    total_s: float = 30.0
    late_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes, and connections for each worker. `body` bounds what must be held, `stream` what flows through.

    `sessions` are connections beside the others: they last for hours, and writes must not wait for one.
    """

    body: int = 10 << 20
    stream: int | None = None
    response_head: int = 64 << 10
    connections: int = 100
    sessions: int = 100


@dataclass(frozen=True, slots=True)
class Pem:
    """What the files of a `Tls` held when the policy was loaded; None for those that it does not name."""

    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """How an `https` upstream is trusted (`verify`, a CA file), and the certificate and key shown to it.

    `pem`: with another one connections are made anew, and whatever becomes of the files, by this one. None: the files
    are read when connections are made.
    """

    verify: bool = True
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    pem: Pem | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an upstream listens. `host` is a name, an IPv4 address, or an IPv6 address without brackets."""

    scheme: Literal["http", "https"]
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The value of `Host`: without the scheme's own port (RFC 9110, section 7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"

    @property
    def digest(self) -> str:
        """By which what was sent there is known again."""
        return f"{zlib.crc32(f'{self.scheme}://{self.authority}'.encode()):08x}"


@dataclass(frozen=True, slots=True)
class Mount:
    """Which requests are an upstream's: those under `segments` (none: all), to `host` if one is named (lower case).
    `port`: which one stands behind it where agents' `Host` is passed on; the others are no host of its own to its API.

    `encoded_slash`, `delimiters`: whether what may end a segment, or a path, to some server never does so to its own.
    `plus`: whether a bare `+` in a path, a blank to some, is a plus to it.
    `format_endings`: what its server takes for a format at a path's end; None: nothing. `names`: whether its server
    keeps the names of path, query and body in one map. `form_in_json`: whether to its server a body that is called JSON
    may be a form (`refuse`), or never is. `coded_bodies`: whether a rule may read one that has a Content-Encoding, as
    its server undoes it, too. `bodies`: the types of those that it is sent, in lower case; None: any. `locations`:
    whether the places that its answers name are told as agents know them.
    """

    segments: tuple[str, ...] = ()
    host: str | None = None
    strip: bool = False
    encoded_slash: Literal["refuse", "opaque"] = "refuse"
    delimiters: Literal["refuse", "opaque"] = "refuse"
    plus: Literal["refuse", "opaque"] = "refuse"
    format_endings: FormatEndings | None = None
    names: Literal["apart", "merged"] = "apart"
    form_in_json: Literal["refuse", "opaque"] = "refuse"
    coded_bodies: Literal["refuse", "undone"] = "refuse"
    locations: Literal["mapped", "opaque"] = "mapped"
    port: int | None = None
    bodies: frozenset[bytes] | None = None

    @property
    def site(self) -> str | None:
        """The host as it stands in `Host`; None where every host is its own."""
        if self.host is None:
            return None
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port is None else f"{name}:{self.port}"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Which complete answers prove that a write did not happen, and which prove nothing. All others: applied.

    `is_said`: whether a policy says so.
    """

    not_applied: frozenset[int]
    unknown: frozenset[int]
    is_said: bool = field(default=False, compare=False)


# Some look for a form that `Accept` allows once they have acted; who closed a slow request, or was cancelled in its
# middle (gRPC's CANCELLED), may have acted, too.
DOUBTFUL = frozenset({406, 408, 499})
DEFAULT_OUTCOMES = Outcomes(frozenset(range(400, 500)) - DOUBTFUL, frozenset(range(500, 600)) | DOUBTFUL)


@dataclass(frozen=True, slots=True)
class NativeKey:
    """The header in which an upstream takes idempotency keys itself, and for how long it remembers one (seconds)."""

    header: bytes
    retain_s: float = 86_400.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where people are told of an upstream's events, and of which. `target` is the path with its query.

    Each message is signed with all of the `secrets`. They are shown nowhere, and nor is the target: that of a chat
    service is a secret too.
    """

    origin: Origin
    target: str = field(repr=False)
    secrets: tuple[bytes, ...] = field(repr=False)
    events: tuple[NotifyEvent, ...]
    tls: Tls = Tls()


# What every server reads as JSON that reads any.
JSON_TYPES = frozenset((b"application/json",))


@dataclass(frozen=True, slots=True)
class Upstream:
    """One policy file's upstream. `base_path` comes before every forwarded path; it has no slash at its end.

    `conditional`: whether it compares what `If-Match` and its like say before it acts.
    `any_token_from`: where it or any of its rules takes a token from. What stands there is never forwarded.
    `replay_headers`: what a replay carries beyond the usual headers, in lower case. `protocol`: what the requests at
    the mount itself are. `observes`: whether any of its rules is in `mode: observe`.
    `probe`: where it is asked without credentials whether it wants any, as agents spell it; None: nowhere.
    `forwarded`: how it is told whom a request was sent for; `via`: the name with which the gateway adds itself to
    `Via`, None where it does not. `notify`: where people are told of its events; None: nowhere. `json_types`: what it
    reads as JSON, in lower case. `drops_cookies`: whether what its answers set as cookies reaches nobody. `term`:
    whether this is what the policies in force say.
    """

    name: str
    origin: Origin
    base_path: str = ""
    mount: Mount = Mount()
    reads: Literal["pass", "deny"] = "pass"
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    tls: Tls = Tls()
    preserve_host: bool = False
    credentials: tuple[tuple[bytes, bytes], ...] = field(default=(), repr=False)
    token_from: tuple[TokenSource, ...] = ("fencing-token",)
    any_token_from: tuple[TokenSource, ...] = ("fencing-token",)
    epoch_header: bytes | None = None
    native_key: NativeKey | None = None
    conditional: bool = False
    outcomes: Outcomes = DEFAULT_OUTCOMES
    replay_headers: frozenset[bytes] = frozenset()
    protocol: Protocol = "http"
    observes: bool = False
    probe: Target | None = None
    forwarded: Forwarded = "trusted"
    via: bytes | None = None
    notify: Endpoint | None = None
    json_types: frozenset[bytes] = JSON_TYPES
    drops_cookies: bool = False
    term: Term = field(default_factory=Term, repr=False, compare=False)

    @property
    def outlasts_two(self) -> bool:
        """Whether it remembers a key for longer than two attempts may last: else one that took its whole time is never
        sent again, for that would end when the key is forgotten.
        """
        return self.native_key is not None and self.native_key.retain_s > 2 * self.timeouts.total_s


@dataclass(frozen=True, slots=True)
class Fence:
    """How writes of one resource are ordered. Timeouts in seconds.

    `after_unknown`: whether a write that ended unknown holds back all others of its resource until that is resolved.
    """

    order: Order = "monotonic"
    concurrency: Concurrency = "serial"
    queue_timeout_s: float = 10.0
    drain_timeout_s: float = 10.0
    sequence: Sequence = "off"
    after_unknown: AfterUnknown = "continue"


@dataclass(frozen=True, slots=True)
class IntentTerms:
    """Whether a rule's writes are intents, and how one is kept: seconds from its end, bytes of its answer's body.

    Under `on_unknown: query`, counted from an attempt's end as unknown: `ask_after_s`, when its upstream is first
    asked; `no_after_s`, from when on a no counts.
    """

    mode: IntentMode = "off"
    retain_s: float = 86_400.0
    store_response: int = 64 << 10
    on_unknown: OnUnknown = "hold"
    ask_after_s: float | None = None
    no_after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file with public keys, in PEM or as a JWKS. `kept`: what it held when the policy was loaded."""

    path: str
    kept: bytes = field(default=b"", repr=False, compare=False)

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """What signer and gateway both know, for HS256."""

    secret: bytes = field(repr=False)

    def __str__(self) -> str:
        return "a shared secret"


@dataclass(frozen=True, slots=True)
class KeyUrl:
    """Where a JWKS is served. `target` is the path with its query."""

    origin: Origin
    target: str
    tls: Tls = Tls()

    def __str__(self) -> str:
        # Some issuers want a secret in the query, and this is shown and logged.
        return f"{self.origin.scheme}://{self.origin.authority}{self.target.partition('?')[0]}"


@dataclass(frozen=True, slots=True)
class Signed:
    """How claims are verified. The algorithms are the rule's: what a token names is only looked up among them."""

    keys: KeyFile | SharedSecret | KeyUrl
    algorithms: tuple[Algorithm, ...]
    audience: str | None = None

    def __str__(self) -> str:
        audience = "" if self.audience is None else f", for {self.audience}"
        return f"{', '.join(self.algorithms)} with {self.keys}{audience}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of `writes`, as far as admission and forwarding need it.

    `signed` is there where `authority` is `signed`, and nowhere else. `upgrade`: its writes are handshakes, and last
    as long as the sessions that they begin. `on_stale`: whether what comes too late is kept for a person to look at.
    `parks`: the state in which its writes are taken to be sent later, None where they are sent at once; `approval_s`:
    for how long somebody may approve one. `risk` is what that person is told. `budgets`: each must have room for a
    write.
    """

    name: str
    upstream: Upstream
    authority: Authority = "lease"
    token_from: tuple[TokenSource, ...] = ("fencing-token",)
    revision: Revision = "off"
    fence: Fence = Fence()
    intent: IntentTerms = IntentTerms()
    signed: Signed | None = None
    errors: Errors = "problem"
    mode: Mode = "enforce"
    upgrade: Upgrade | None = None
    on_stale: OnStale = "reject"
    parks: Parks | None = None
    approval_s: float = 86_400.0
    risk: Risk = "low"
    budgets: tuple[Budget, ...] = ()
