"""The writing operations of a document, and what it says of each."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.caller import overrides_request
from gateway.core.request import Headers
from gateway.policy.finding import Wrong
from gateway.policy.openapi.body import BodyMembers, body_members
from gateway.policy.openapi.documented import Documented, documented
from gateway.policy.openapi.media import body_types, ends_in_json
from gateway.policy.openapi.parameter import Kind, listed_values, parameter_kinds, parameters
from gateway.policy.openapi.tree import Node, Tree, is_true, items_of, read_tree, security_schemes, text_of
from gateway.policy.openapi.wording import some_of
from gateway.policy.openapi.writing_read import WritingRead, writing_read

# The methods that OpenAPI 3.1 knows and that are no reads. TRACE is never forwarded.
_WRITES = ("post", "put", "patch", "delete")
# The others of OpenAPI 3.1, and what an operation of any method has.
_NO_WRITES = frozenset({"get", "head", "options", "trace"})
_ANSWERS = "responses"
# A document of this size is a mistake or an attack; the largest public ones have about 10,000 operations in all.
_OPERATIONS = 20_000
_SERVERS = _VARIABLES = 200
# Styles of a path's parameter (OpenAPI 3.1, section 4.8.12.2): `/docs/.7` and `/docs/;id=7`.
_MARKED = ("label", "matrix")
# What people write to say that a call changes nothing. Compared without case, dashes and underscores.
_READ_HINTS = frozenset({"xreadonly", "xreadonlyhint", "xsafe", "xissafe", "xsideeffectfree"})


@dataclass(frozen=True, slots=True)
class Header:
    """A header that an operation takes, as spelled."""

    name: str
    required: bool

    @property
    def overrides_request(self) -> bool:
        """Whether a request with it may be another one, and is refused."""
        return overrides_request(Headers(((self.name.encode(), b""),))) is not None


@dataclass(frozen=True, slots=True)
class Credential:
    """Where callers show who they are, and the word that stands before what they show, if any."""

    header: str
    scheme: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One writing operation. `path` as the document has it, `server` one of its own, `faults` what was not readable.

    `kinds`: what the parameters of its path are, by name; `query`: those of its query, of which it wants `wanted`.
    `cookies`: the names of its own.
    `listed`: of those of its path that are one of some words, all of these.
    `rests`: those of its path that may be several segments. `marked`: those with a mark before each value.
    `documented`: all that requests say beside, where that was asked for. `body_types`: all types of its body; None
    where it has one, and they are not told.
    """

    method: str
    path: str
    operation_id: str
    summary: str
    headers: tuple[Header, ...]
    hinted_read: bool
    server: str | None
    faults: tuple[str, ...]
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    body: BodyMembers = field(default_factory=BodyMembers)
    query: Mapping[str, Kind] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    cookies: frozenset[str] = frozenset()
    rests: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documented: Documented | None = None
    body_types: tuple[str, ...] | None = ()

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def json_types(self) -> tuple[str, ...]:
        """The types of its body that end in `+json`."""
        return tuple(filter(ends_in_json, self.body_types or ()))


@dataclass(frozen=True, slots=True)
class Document:
    """What is used of a document. `server`: the first one's URL, its variables replaced by their defaults. `reads`: of
    those by GET what looks like a write.
    """

    title: str
    server: str | None
    credential: Credential | None
    operations: tuple[Operation, ...]
    faults: tuple[str, ...]
    reads: tuple[WritingRead, ...] = ()


def read_document(path: Path, *, names_all: bool = False) -> Document | Wrong:
    """The writing operations of a JSON or YAML file. Wrong: see `read_tree` and `read_operations`."""
    tree = read_tree(path)
    return tree if isinstance(tree, Wrong) else read_operations(tree, names_all=names_all)


def read_operations(tree: Tree, *, names_all: bool = False) -> Document | Wrong:
    """All writing operations in the order of the document. Wrong: `paths` is missing, or too long.

    `names_all`: each with all that is documented of its requests.
    """
    paths = tree.root.get("paths")
    if not isinstance(paths, Mapping):
        return Wrong("the document has no `paths`; name one that describes an API")
    info = tree.root.get("info")
    operations: list[Operation] = []
    reads: list[WritingRead] = []
    faults: list[str] = []
    others: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in paths.items():
        if not isinstance(path, str) or path.startswith("x-"):
            continue
        item = tree.resolved(value)
        if isinstance(item, Wrong):
            faults.append(f"{path}: {item.message}; its operations got no rule")
            continue
        # What stands beside a reference is of the path, too.
        item = {**item, **value}
        operations.extend(_operations(tree, path, item, names_all=names_all))
        for method in _other_methods(item):
            others[method].append(path)
        read = _writing_read(tree, path, item)
        reads += [] if read is None else [read]
        if len(operations) > _OPERATIONS:
            return Wrong(f"the document has more than {_OPERATIONS} writing operations; split it")
    faults += (
        f"{method} {some_of(some)}: no rule; where it changes nothing, write an entry of `read_only`, else a rule"
        for method, some in sorted(others.items())
    )
    title = text_of(info.get("title")) if isinstance(info, Mapping) else ""
    return Document(title, _server(tree.root), _credential(tree), tuple(operations), tuple(faults), tuple(reads))


def _operations(tree: Tree, path: str, item: Node, *, names_all: bool) -> Iterator[Operation]:
    for method in _WRITES:
        found = item.get(method)
        if not isinstance(found, Mapping):
            continue
        beside = _beside(tree, item, found)
        yield Operation(
            method=method.upper(),
            path=path,
            operation_id=text_of(found.get("operationId")),
            summary=text_of(found.get("summary")) or text_of(found.get("description")),
            headers=beside.headers,
            hinted_read=_is_hinted_read(found),
            server=_server(found) or _server(item),
            faults=beside.faults,
            kinds=parameter_kinds(tree, item, found, "path"),
            body=body_members(tree, found, path),
            query=parameter_kinds(tree, item, found, "query"),
            wanted=beside.wanted,
            cookies=beside.cookies,
            rests=beside.rests,
            marked=beside.marked,
            listed=listed_values(tree, item, found),
            documented=documented(tree, item, found) if names_all else None,
            body_types=body_types(tree, found),
        )


def _other_methods(item: Node) -> Iterator[str]:
    """Those of a path that OpenAPI 3.1 does not know: 3.2 has `query`, and a map of all others."""
    named = [
        name for name, value in item.items() if isinstance(value, Mapping) and (name == "query" or _ANSWERS in value)
    ]
    added = item.get("additionalOperations")
    for name in (*named, *(added if isinstance(added, Mapping) else ())):
        if isinstance(name, str) and name.lower() not in _NO_WRITES.union(_WRITES) and not name.startswith("x-"):
            yield name.upper() if name == "query" else name


def _writing_read(tree: Tree, path: str, item: Node) -> WritingRead | None:
    found = item.get("get")
    if not isinstance(found, Mapping) or _is_hinted_read(found):
        return None
    if is_elsewhere(_server(found) or _server(item), _server(tree.root)):
        return None
    return writing_read(path, text_of(found.get("operationId")), text_of(found.get("summary")))


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is said of an operation's parameters beside their values: see `Operation`."""

    headers: tuple[Header, ...]
    wanted: frozenset[str]
    cookies: frozenset[str]
    rests: frozenset[str]
    marked: frozenset[str]
    faults: tuple[str, ...]


def _beside(tree: Tree, item: Node, operation: Node) -> _Beside:
    """The operation's own parameters over those of its path."""
    headers: dict[str, Header] = {}
    wanted: dict[str, bool] = {}
    cookies: set[str] = set()
    rests: dict[str, bool] = {}
    marked: dict[str, bool] = {}
    faults: list[str] = []
    for found in parameters(tree, item, operation):
        if isinstance(found, Wrong):
            faults.append(f"a parameter was not read: {found.message}")
            continue
        name, is_required = text_of(found.get("name")), is_true(found.get("required"))
        match found.get("in"):
            case "header" if name:
                headers[name.lower()] = Header(name, is_required)
            case "query":
                wanted[name] = is_required
            case "cookie":
                cookies.add(name)
            case "path":
                rests[name] = is_true(found.get("x-multi-segment"))
                marked[name] = found.get("style") in _MARKED
    told = tuple(dict.fromkeys(faults))
    return _Beside(tuple(headers.values()), _held(wanted), frozenset(cookies), _held(rests), _held(marked), told)


def _held(names: Mapping[str, bool]) -> frozenset[str]:
    return frozenset(name for name, holds in names.items() if holds)


def _is_hinted_read(operation: Node) -> bool:
    return any(
        isinstance(name, str) and name.lower().replace("-", "").replace("_", "") in _READ_HINTS and is_true(value)
        for name, value in operation.items()
    )


def is_elsewhere(server: str | None, of_document: str | None) -> bool:
    """Whether it is another one; a slash at its end makes none."""
    return server is not None and server.removesuffix("/") != (of_document or "").removesuffix("/")


def _server(node: Node) -> str | None:
    servers = items_of(node.get("servers"), _SERVERS)
    first = servers[0] if servers else None
    url = first.get("url") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(url, str):
        return None
    variables = first.get("variables")
    for name, variable in list(variables.items())[:_VARIABLES] if isinstance(variables, Mapping) else ():
        default = variable.get("default") if isinstance(variable, Mapping) else None
        if isinstance(default, str) and len(url) + len(default) < 2000:
            url = url.replace("{" + str(name) + "}", default)
    return url


def _credential(tree: Tree) -> Credential | None:
    """How the API wants a credential, by the first scheme that is a header."""
    for scheme in security_schemes(tree):
        if scheme.get("type") in ("http", "oauth2", "openIdConnect"):
            is_basic = text_of(scheme.get("scheme")).lower() == "basic"
            return Credential("Authorization", "Basic" if is_basic else "Bearer")
        name = text_of(scheme.get("name"))
        if scheme.get("type") == "apiKey" and scheme.get("in") == "header" and name:
            return Credential(name, "")
    return None
