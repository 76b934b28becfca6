"""The shape of a policy file: every field, its type and its default. What the values mean is `compile`'s.

The models stay inside this package; compiled values leave it.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, StrictBool, StrictInt, StrictStr, Tag

from gateway.core.rule import DOUBTFUL
from gateway.core.token import TokenSource
from gateway.policy.bounded import duration, size
from gateway.policy.reading.operation import OperationKind
from gateway.policy.value_form import NamedForm


class Shape(BaseModel):
    """A mapping with known fields only."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _headed(value: object) -> object:
    return {"header": value} if isinstance(value, str) else value


def _by_kind(value: object) -> object:
    """`query`, or a list of types, stands for all their fields."""
    if isinstance(value, dict):
        return {kind: [] if names is None else names for kind, names in value.items()}
    return dict.fromkeys(map(str, value if isinstance(value, list) else [value]))


Texts = Annotated[list[StrictStr], BeforeValidator(_listed), Field(min_length=1)]
Listed = Annotated[list[StrictStr], BeforeValidator(_listed)]
Values = Annotated[list[Any], BeforeValidator(_listed), Field(min_length=1)]
ConnectTime = Annotated[float, duration(at_most="5m")]
WaitTime = Annotated[float, duration(at_most="1h")]
TotalTime = Annotated[float, duration(at_most="1d")]
Retention = Annotated[float, duration(at_most="366d")]
Held = Annotated[int, size("0B", "1GiB")]
# What the store keeps in memory, for every intent.
Kept = Annotated[int, size("0B", "16MiB")]
Streamed = Annotated[int | None, size("0B", "1024TiB", or_none=True)]
Head = Annotated[int, size("1KiB", "16MiB")]
Sources = Annotated[list[TokenSource], BeforeValidator(_listed), Field(min_length=1)]
# By type of operation the root fields, None for any.
Operations = Annotated[
    dict[OperationKind, Texts | None],
    BeforeValidator(_by_kind, json_schema_input_type=OperationKind | list[OperationKind] | dict[OperationKind, Texts]),
]


def _listing(value: object) -> Literal["named", "listed"]:
    """Of what is said by a word, or by a list."""
    return "listed" if isinstance(value, list) else "named"


FormatEndings = Annotated[
    Annotated[Literal["opaque", "refuse"], Tag("named")]
    | Annotated[list[StrictStr], Field(min_length=1), Tag("listed")],
    Discriminator(_listing),
]


class Mount(Shape):
    path: StrictStr = "/"
    host: StrictStr | None = None
    strip: StrictBool = False
    encoded_slash: Literal["refuse", "opaque"] = "refuse"
    delimiters: Literal["refuse", "opaque"] = "refuse"
    plus: Literal["refuse", "opaque"] = "refuse"
    format_endings: FormatEndings = "opaque"
    names: Literal["apart", "merged"] = "apart"
    form_in_json: Literal["refuse", "opaque"] = "refuse"
    coded_bodies: Literal["refuse", "undone"] = "refuse"
    locations: Literal["mapped", "opaque"] = "mapped"
    bodies: Listed = ["any"]


def _form(value: object) -> Literal["named", "described"]:
    """Of what is said by a word, or by fields."""
    return "described" if isinstance(value, dict | Shape) else "named"


class Presence(Shape):
    present: Literal[True]


FormValues = Annotated[
    list[
        Annotated[
            Annotated[StrictStr, Tag("named")] | Annotated[Presence, Tag("described")],
            Discriminator(_form),
        ]
    ],
    BeforeValidator(_listed),
    Field(min_length=1),
]


class When(Shape):
    tool: Texts | None = None
    answer: Literal[True] | None = None
    json_: Annotated[dict[StrictStr, Values], Field(alias="json")] = {}
    header: dict[StrictStr, Values] = {}
    query: dict[StrictStr, Values] = {}
    form: dict[StrictStr, FormValues] = {}
    graphql: Operations = {}


# Names alone, and names with all the values that they may have.
Allowed = Annotated[
    list[
        Annotated[
            Annotated[StrictStr, Tag("named")]
            | Annotated[dict[StrictStr, Values], Field(min_length=1), Tag("described")],
            Discriminator(_form),
        ]
    ],
    BeforeValidator(_listed),
]


class Only(Shape):
    query: Allowed | None = None
    json_: Annotated[Allowed | None, Field(alias="json")] = None
    form: Allowed | None = None
    header: Allowed | None = None


class ReadOnly(Shape):
    match: Texts
    when: When = When()
    only: Only | None = None


class Closed(Shape):
    match: Texts | None = None
    when: When = When()


class Timeouts(Shape):
    connect: ConnectTime = 2.0
    total: TotalTime = 30.0
    late: TotalTime = 30.0


class Limits(Shape):
    body: Held = 10 << 20
    stream: Streamed = None
    response_head: Head = 64 << 10
    connections: Annotated[StrictInt, Field(ge=1, le=10_000)] = 100
    sessions: Annotated[StrictInt, Field(ge=1, le=100_000)] = 100


class Tls(Shape):
    verify: StrictBool = True
    ca: StrictStr | None = None
    cert: StrictStr | None = None
    key: StrictStr | None = None


class Credential(Shape):
    header: StrictStr
    value: Annotated[StrictStr, Field(repr=False)]


class Evidence(Shape):
    status: Values | None = None
    json_: Annotated[dict[StrictStr, Values], Field(alias="json")] = {}


class Query(Shape):
    request: StrictStr
    applied: Evidence | None = None
    not_applied: Evidence | None = None
    duplicated: Evidence | None = None
    not_before: TotalTime = 1.0


class NativeKey(Shape):
    header: StrictStr
    retain: Retention = 86_400.0


class Capabilities(Shape):
    idempotency_key: Annotated[
        NativeKey | None, BeforeValidator(_headed, json_schema_input_type=StrictStr | NativeKey)
    ] = None
    fencing_token: StrictStr | None = None
    conditional: StrictBool = False
    query: Query | None = None


class Outcomes(Shape):
    not_applied: Values = ["4xx"]
    unknown: Values = [*sorted(DOUBTFUL), "5xx"]


class Notify(Shape):
    url: Annotated[StrictStr, Field(repr=False)]
    # Two of them while one is replaced by the other.
    secret: Annotated[Texts, Field(repr=False)]
    events: Annotated[
        list[Literal["awaiting_approval", "unknown", "incident"]], BeforeValidator(_listed), Field(min_length=1)
    ] = ["awaiting_approval", "unknown", "incident"]
    ca: StrictStr | None = None


class Keys(Shape):
    file: StrictStr | None = None
    secret: Annotated[StrictStr | None, Field(repr=False)] = None
    jwks: StrictStr | None = None
    ca: StrictStr | None = None


class Signed(Shape):
    keys: Keys
    algorithms: Annotated[
        list[Literal["EdDSA", "ES256", "RS256", "HS256"]], BeforeValidator(_listed), Field(min_length=1)
    ]
    audience: Annotated[StrictStr, Field(min_length=1)] | None = None


class SignedAuthority(Shape):
    signed: Signed


Authority = Annotated[
    Annotated[Literal["lease", "header"], Tag("named")] | Annotated[SignedAuthority, Tag("described")],
    Discriminator(_form),
]


EveryValue = Annotated[list[Any], Field(min_length=1)]
FormOfPart = Annotated[
    Annotated[NamedForm, Tag("named")] | Annotated[EveryValue, Tag("listed")], Discriminator(_listing)
]


def _forms(value: object) -> Literal["named", "listed", "described"]:
    """Of what is said by a word, by a list, or for each part by one of the two."""
    return "described" if isinstance(value, dict) else _listing(value)


ValueForms = Annotated[
    Annotated[NamedForm, Tag("named")]
    | Annotated[EveryValue, Tag("listed")]
    | Annotated[dict[StrictStr, FormOfPart], Tag("described")],
    Discriminator(_forms),
]


class Fence(Shape):
    order: Literal["monotonic", "strict"] = "monotonic"
    concurrency: Literal["serial", "parallel"] = "serial"
    queue_timeout: WaitTime = 10.0
    drain_timeout: WaitTime = 10.0
    sequence: Literal["off", "increasing", "contiguous"] = "off"
    after_unknown: Literal["continue", "hold"] = "continue"


class Intent(Shape):
    mode: Literal["off", "optional", "required"] = "off"
    key: Texts = ["{header.idempotency-key}"]
    fingerprint: Texts = ["request"]
    retain: Retention = 86_400.0
    store_response: Kept = 64 << 10
    on_unknown: Literal["hold", "query", "retry"] = "hold"


class AwaitedApproval(Shape):
    expires: Retention = 86_400.0


Approval = Annotated[
    Annotated[Literal["none", "required"], Tag("named")] | Annotated[AwaitedApproval, Tag("described")],
    Discriminator(_form),
]


class Compensation(Shape):
    request: StrictStr
    headers: dict[StrictStr, StrictStr] = {}
    body: StrictStr | None = None


class Effect(Shape):
    risk: Literal["low", "high"] = "low"
    weight: Annotated[StrictInt, Field(ge=0, le=1_000_000)] = 1
    compensation: Compensation | None = None


class Budget(Shape):
    per: Literal["tenant", "principal", "holder", "resource"]
    window: Retention
    # Each write of a window is an entry in the store.
    count: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    value: StrictStr | None = None
    total: Annotated[StrictInt, Field(ge=1)] | None = None


class RuleFields(Shape):
    """What may stand under `defaults`: any field of a rule. None of them has to."""

    name: StrictStr | None = None
    mode: Literal["enforce", "observe"] = "enforce"
    match: Texts | None = None
    upgrade: Literal["websocket"] | None = None
    when: When = When()
    only: Only | None = None
    resource: StrictStr | None = None
    values: ValueForms | None = None
    authority: Authority = "lease"
    token_from: Sources | None = None
    revision: Literal["off", "gateway"] = "off"
    fence: Fence = Fence()
    intent: Intent = Intent()
    delivery: Literal["inline", "queued"] = "inline"
    approval: Approval = "none"
    effect: Effect = Effect()
    budget: list[Budget] = []
    on_stale: Literal["reject", "quarantine"] = "reject"
    errors: Literal["problem", "jsonrpc"] = "problem"


class Rule(RuleFields):
    name: StrictStr
    match: Texts
    resource: StrictStr


class Policy(Shape):
    upstream: StrictStr
    url: StrictStr
    protocol: Literal["http", "mcp"] = "http"
    mount: Mount = Mount()
    host: Literal["url", "preserve"] = "url"
    forwarded: Literal["trusted", "x-forwarded", "rfc7239"] = "trusted"
    via: StrictStr | None = None
    reads: Literal["pass", "deny"] = "pass"
    read_only: list[ReadOnly] = []
    closed: list[Closed] = []
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    tls: Tls = Tls()
    credentials: list[Credential] = []
    # None: as the credentials are.
    set_cookie: Literal["drop", "pass"] | None = None
    token_from: Sources = ["fencing-token"]
    capabilities: Capabilities = Capabilities()
    outcomes: Outcomes = Outcomes()
    replay_headers: list[StrictStr] = []
    json_types: Texts = ["application/json"]
    probe: StrictStr | None = None
    notify: Notify | None = None
    defaults: RuleFields = RuleFields()
    writes: list[Rule] = []


Count = Annotated[StrictInt, Field(ge=1, le=1_000_000)]


class Quota(Shape):
    leases: Count | None = None
    # Each write of the last minute is an entry in the store.
    writes_per_minute: Annotated[StrictInt, Field(ge=1, le=60_000)] | None = None
    resources: Count | None = None


# Of its resources, or of which others.
Approve = Annotated[
    Annotated[StrictBool, Tag("named")] | Annotated[list[StrictStr], Field(min_length=1), Tag("listed")],
    Discriminator(_listing),
]


class Principal(Shape):
    name: StrictStr
    # Two of them while one is replaced by the other.
    key: Annotated[Texts, Field(repr=False)]
    tenant: StrictStr = "default"
    # None of them: it reads, or approves.
    resources: Listed
    takeover: StrictBool = False
    approve: Approve = False
    quota: Quota = Quota()


class Principals(Shape):
    """The shape of `principals.yaml`."""

    principals: Annotated[list[Principal], Field(min_length=1)]
