"""Rule sets of thousands of rules that are hard to match, each with the requests that are hardest under it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target

RULES = 5_000
# Two ways at each of so many segments or headers: 4,096 rules.
_WAYS = 12
_JSON = (b"Content-Type", b"application/json")
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Crowd:
    """`policy` is the text of a policy file; `asked` are requests by name."""

    name: str
    policy: str
    asked: dict[str, Request]


def crowds() -> Iterator[Crowd]:
    """Every rule set. Requests are `found` where a rule takes them, and `lost` where none does."""
    yield from _shaped()
    yield from _many()
    yield from _conditional()
    yield from _conditional_in_many()
    yield from _conditional_everywhere()


def _shaped() -> Iterator[Crowd]:
    """All combinations of a literal and a placeholder: each segment doubles the ways back."""
    ways = list(product(*(("a", f"{{p{at}}}") for at in range(_WAYS))))
    literal, other = "/a" * _WAYS, "/b" * _WAYS
    yield Crowd(
        "product",
        _policy(f"PUT /{'/'.join(way)}" for way in ways),
        {
            "found first": ask("PUT", literal),
            "found last": ask("PUT", other),
            "lost": ask("PUT", literal + "/a"),
            "long": ask("PUT", "/a" * _LONGEST),
        },
    )
    ended = (f"PUT /{'/'.join(way[:-1])}/end{at}" for at, way in enumerate(ways))
    yield Crowd(
        "product, one end each",
        _policy(ended),
        {
            "found last": ask("PUT", f"{'/a' * (_WAYS - 1)}/end{len(ways) - 1}"),
            "lost": ask("PUT", f"{'/a' * (_WAYS - 1)}/other"),
        },
    )
    rests = (f"PUT /{'/'.join(way)}/{{rest...}}" for way in ways)
    yield Crowd(
        "product before rests",
        _policy(rests),
        {"found": ask("PUT", literal + "/b"), "lost": ask("PUT", literal), "long": ask("PUT", "/a" * _LONGEST)},
    )


def _many() -> Iterator[Crowd]:
    shared = "/api/v1/organisations/{o}/projects/{p}/environments/{e}"
    yield Crowd(
        "one long prefix",
        _policy(f"POST {shared}/thing-{n}/{{id}}" for n in range(RULES)),
        {
            "found": ask("POST", f"/api/v1/organisations/1/projects/2/environments/3/thing-{RULES - 1}/4"),
            "lost": ask("POST", "/api/v1/organisations/1/projects/2/environments/3/other/4"),
        },
    )
    rests = [f"PUT {'/a' * (n % 50)}/x{n}/{{rest...}}" for n in range(RULES - 50)]
    rests += [f"PUT {'/a' * n}/{{rest...}}" for n in range(50)]
    yield Crowd(
        "rests",
        _policy(rests),
        {"found": ask("PUT", "/a" * 60), "lost": ask("POST", "/a" * 60), "long": ask("PUT", "/a" * _LONGEST)},
    )
    methods = (f"M{n} /x/{{id}}" for n in range(RULES))
    yield Crowd("methods", _policy(methods), {"found": ask("M4999", "/x/1"), "lost": ask("M5000", "/x/1")})


def _conditional() -> Iterator[Crowd]:
    """Rules of one path that differ in one value."""
    for name, when, found, lost in (
        ("header", "{header: {kind: kN}}", _headed("k4999"), _headed("other")),
        ("query", "{query: {kind: kN}}", ask("POST", "/x?a=1&kind=k4999"), ask("POST", "/x?a=1&kind=other")),
        ("JSON member", "{json: {/kind: kN}}", ask("POST", "/x", body={"kind": "k4999"}), ask("POST", "/x", body={})),
        (
            "JSON-RPC method",
            "{json: {/jsonrpc: '2.0', /method: kN}}",
            ask("POST", "/x", body={"jsonrpc": "2.0", "method": "k4999"}),
            ask("POST", "/x", body={"jsonrpc": "2.0", "method": "other"}),
        ),
        (
            "GraphQL operation",
            "{graphql: {mutation: [kN]}}",
            ask("POST", "/x", body={"query": "mutation { k4999(id: 1) { id } }"}),
            ask("POST", "/x", body={"query": "mutation { k1 k2 k3 }"}),
        ),
    ):
        whens = (when.replace("N", str(n)) for n in range(RULES))
        yield Crowd(name, _policy(("POST /x" for _ in range(RULES)), whens), {"found": found, "lost": lost})
    tools = (f"{{tool: tool-{n}}}" for n in range(RULES))
    yield Crowd(
        "MCP tool",
        "protocol: mcp\nmount: {path: /x}\n" + _policy(("POST /x" for _ in range(RULES)), tools),
        {"found": _call(f"tool-{RULES - 1}"), "lost": _call("other")},
    )


def _conditional_in_many() -> Iterator[Crowd]:
    """Rules of one path that look at twelve things, each of which only halves them."""
    bits = list(product((0, 1), repeat=_WAYS))
    coded = (f"{{header: {{{', '.join(f'h{at}: v{bit}' for at, bit in enumerate(way))}}}}}" for way in bits)
    yield Crowd(
        "twelve headers",
        _policy(("POST /x" for _ in bits), coded),
        {
            "found": ask("POST", "/x", *((b"h%d" % at, b"v1") for at in range(_WAYS))),
            "lost": ask("POST", "/x", *((b"h%d" % at, b"v1") for at in range(_WAYS - 1))),
        },
    )


def _conditional_everywhere() -> Iterator[Crowd]:
    """Many paths that take one request, each with a condition of its own that it does not meet."""
    ways = list(product(*(("a", f"{{p{at}}}") for at in range(_WAYS))))
    paths = [f"POST /{'/'.join(way)}" for way in ways]
    yield Crowd(
        "product with headers",
        _policy(paths, (f"{{header: {{kind: k{n}}}}}" for n in range(len(ways)))),
        {
            "found last": ask("POST", "/a" * _WAYS, (b"kind", b"k%d" % (len(ways) - 1))),
            "lost": ask("POST", "/a" * _WAYS, (b"kind", b"other")),
        },
    )


def _policy(matches: Iterable[str], whens: Iterable[str] = ()) -> str:
    given = iter(whens)
    lines = (f'  - {{name: r{n}, match: "{match}", resource: r{_when(given)}}}' for n, match in enumerate(matches))
    return "upstream: api\nurl: http://127.0.0.1:9000\nwrites:\n" + "\n".join(lines) + "\n"


def _when(given: Iterator[str]) -> str:
    when = next(given, None)
    return "" if when is None else f", when: {when}"


def ask(method: str, target: str, *headers: tuple[bytes, bytes], body: object = None) -> Request:
    read = read_target(target)
    assert isinstance(read, Target)
    if body is None:
        return Request(method, read, Headers((*_USUAL, *headers)))
    return Request(method, read, Headers((*_USUAL, _JSON, *headers)), json.dumps(body).encode())


# What most clients send, whatever they ask for.
_USUAL = ((b"Host", b"localhost:8080"), (b"User-Agent", b"agent/1.0"), (b"Accept", b"*/*"), (b"Fencing-Token", b"41"))


def _headed(kind: str) -> Request:
    return ask("POST", "/x", (b"Kind", kind.encode()))


def _call(tool: str) -> Request:
    return ask("POST", "/x", body={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}})
