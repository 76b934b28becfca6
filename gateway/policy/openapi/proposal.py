"""A rule for each writing operation, as far as the document says what it takes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gateway.core.rule import Mount
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_read, header_to_send
from gateway.policy.lenient.encoded_slash import slash_fault
from gateway.policy.openapi.callers_own import CallersOwn
from gateway.policy.openapi.doubt import Doubt, Items
from gateway.policy.openapi.operation import Document, Header, Operation, is_elsewhere
from gateway.policy.openapi.parameter import FORMS
from gateway.policy.openapi.relations import Relations
from gateway.policy.openapi.second_path import SecondPaths, Thing, written_thing
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.spelling import Spellings
from gateway.policy.openapi.takers import Takers, Way
from gateway.policy.openapi.translation import Translation, translate
from gateway.policy.openapi.two_ends import TwoEnds
from gateway.policy.openapi.vocabulary import reading_word, words
from gateway.policy.openapi.wording import comment, rule_name
from gateway.policy.pattern import Pattern, parse_pattern
from gateway.policy.template import parse_template
from gateway.policy.value_form import ValueForm

_TAKES_SLASHES = Mount((), encoded_slash="opaque")
# What is called so may be several segments.
_PATHS = frozenset({"filepath", "path", "rest", "splat", "subpath", "wildcard"})
_ELSEWHERE = "it has a server of its own, which is another upstream; write a policy for that one"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule for one operation. `closed` says why it gets none; `reads_like` the word that makes it look like a read.

    `key` is the header in which the operation takes an idempotency key. `forms`: how the parts of the resource are
    spelled; `notes` why so; `unsaid` are placeholders of which nothing is known. `doubt`: of what its path names.
    `asks`: what is left open beside the rule. `is_named`: whether a match takes the requests of the operation and no
    others, so that it can be closed by one.
    """

    operation: Operation
    name: str
    path: Translation
    match: str
    resource: str
    parent: bool
    key: Header | None
    conditional: bool
    reads_like: str | None
    closed: str | None = None
    forms: Mapping[str, ValueForm] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    doubt: Doubt = field(default_factory=Doubt)
    is_named: bool = True


def native_key(document: Document) -> str | None:
    """The header in which most operations take an idempotency key; None if none does."""
    names = Counter(header.name for each in document.operations for header in each.headers if _names_a_key(header))
    fit = [name for name, _ in names.most_common() if not isinstance(header_to_send(name), Wrong)]
    return fit[0] if fit else None


def _names_a_key(header: Header) -> bool:
    return "idempotency" in header.name.lower() and not isinstance(header_to_read(header.name), Wrong)


def propose(document: Document, upstream: str) -> tuple[Proposal, ...]:
    """One proposal for each writing operation, mounted at `/UPSTREAM`, in the order of the document."""
    proposer = _Proposer(document, upstream)
    every = [proposer.propose(operation) for operation in document.operations]
    items = Items(_ruled(every))
    own = CallersOwn(_ruled(every))
    every = [each if each.closed else _doubted(each, items.doubt(each.operation, each.path)) for each in every]
    return tuple(_asking(list(_named_twice(every, own)), own))


def _ruled(proposals: Iterable[Proposal]) -> Iterator[tuple[Operation, Translation]]:
    return ((each.operation, each.path) for each in proposals if each.closed is None)


def _asking(every: list[Proposal], own: CallersOwn) -> Iterator[Proposal]:
    """With all that is asked of each rule; what is about a place is asked at the first rule of it."""
    ends, relations, asked = TwoEnds(), Relations(_ruled(every)), set[object]()
    for each in every:
        if each.closed is not None or each.reads_like:
            yield each
            continue
        of_path = [] if each.doubt.asks is None or each.doubt.about in asked else [each.doubt.asks]
        asked |= set() if each.doubt.about is None else {each.doubt.about}
        beside = (
            *own.asks(each.operation, each.path),
            *ends.asks(each.operation, each.path, knows_other=each.doubt.is_of_another),
        )
        rest = _asks_of_rest(each)
        if rest is not None and each.path.texts not in asked:
            asked.add(each.path.texts)
            beside = (*beside, rest)
        yield replace(each, asks=(*of_path, *each.asks, *beside, *relations.asks(each.path)))


def _asks_of_rest(each: Proposal) -> str | None:
    """FastAPI's `{file_path:path}` stands as `{file_path}` in its document."""
    last = next(reversed([*each.path.names]), "")
    slot = each.path.segments[-1] if each.path.whole else None
    is_plain = isinstance(slot, Slot) and not slot.rest and each.operation.kinds.get(slot.name, "text") == "text"
    if not is_plain or _PATHS.isdisjoint(words(last)[-1:]):
        return None
    return f"has `{{{last}}}` slashes in it, as the path of a file? If so write `{{{last}...}}`: here it is one segment"


def _doubted(each: Proposal, doubt: Doubt) -> Proposal:
    if doubt.exact is not None:
        # What stands behind the collection in the paths of its things.
        name = doubt.exact.name
        upstream = each.resource.partition("/")[0]
        resource = "/".join((upstream, *each.path.named, f"{{json:/{name}}}"))
        form = FORMS[doubt.exact.kind]
        return replace(each, resource=resource, forms={f"json:/{name}": form})
    return replace(each, closed=doubt.closes, doubt=doubt)


def _named_twice(every: list[Proposal], own: CallersOwn) -> Iterator[Proposal]:
    """With what is written by another path too. What is most likely a read does not make it so, and of what is the
    caller's own it is asked once for all.
    """
    things = [None if own.has(each.operation, each.path) else _thing(each) for each in every]
    pairs = zip(every, things, strict=True)
    paths = SecondPaths(thing for each, thing in pairs if thing is not None and not each.reads_like)
    closed = [
        replace(each, closed=each.closed or paths.closes(thing)) for each, thing in zip(every, things, strict=True)
    ]
    for each, thing in zip(_spelled(closed), things, strict=True):
        asks = paths.asks(thing) if each.closed is None else None
        yield replace(each, asks=(*each.asks, asks)) if asks else each


def has_plus(proposals: Iterable[Proposal]) -> bool:
    """Whether the mount has to let a `+` pass: a rule's own path has one."""
    return any("+" in each.match for each in proposals if each.closed is None)


def has_slash(proposals: Iterable[Proposal]) -> bool:
    """Likewise of an encoded slash."""
    return any("/" in str(one) for each in proposals if each.closed is None for one in each.path.texts if one)


def _thing(each: Proposal) -> Thing | None:
    """None: no rule, or none that can be told."""
    if each.closed:
        return None
    member = next((name.removeprefix("json:/") for name in each.forms), "")
    return written_thing(each.operation, each.path, member)


def _spelled(every: list[Proposal]) -> Iterator[Proposal]:
    """With the forms of their values. No rule takes the requests of an operation that no match can name."""
    # Of what is closed too: its rule may be uncommented.
    named = ((each.operation, each.path) for each in every if each.is_named)
    spellings = Spellings(named, takes_any=has_plus(every) or has_slash(every))
    takers = Takers(
        Way(at, each.operation.method, each.path.segments, each.path.slash)
        for at, each in enumerate(every)
        if each.closed is None
    )
    closed: dict[int, str] = {}
    for each in every:
        if not each.path.partial or each.closed == _ELSEWHERE or each.path.names_format:
            continue
        for taken in takers.taking(each.operation.method, each.path.partial, slash=each.path.slash):
            if not spellings.keeps_out(every[taken.way.rule].path, taken.parts, each.operation):
                told = f"it would take `{comment(str(each.operation))}` too, whose id it cannot tell from the rest"
                closed.setdefault(taken.way.rule, told)
    for at, each in enumerate(every):
        if each.path.wrong is not None:
            yield each
            continue
        forms = each.forms or {f"path.{name}": form for name, form in spellings.forms(each.path).items()}
        noted = replace(each, forms=forms, notes=spellings.notes(each.path), closed=each.closed or closed.get(at))
        if noted.closed is None:
            asks = (*each.asks, *spellings.asks(each.path))
            noted = replace(noted, asks=asks, unsaid=spellings.unsaid(each.path))
        yield noted


class _Proposer:
    """Knows what the proposals before have taken: names, and which requests belong to which rule."""

    def __init__(self, document: Document, upstream: str) -> None:
        self._server = document.server
        self._upstream = upstream
        self._key = (native_key(document) or "").lower()
        self._names: set[str] = set()
        self._seen: dict[tuple[str, object], dict[tuple[tuple[str, str], ...], str]] = {}

    def propose(self, operation: Operation) -> Proposal:
        name = rule_name(operation.operation_id or f"{operation.method.lower()}-{operation.path}", self._names)
        path = translate(operation.path, operation.rests)
        match = f"{operation.method} /{self._upstream}{path.match}"
        resource = f"{self._upstream}/{path.resource}" if path.resource else self._upstream
        fault = path.wrong or _marked(operation, path) or _fault(match, resource, path)
        elsewhere = _ELSEWHERE if is_elsewhere(operation.server, self._server) else None
        twin = None if fault or elsewhere else self._twin(match, path, name)
        return Proposal(
            operation,
            name,
            path,
            match,
            resource,
            parent=operation.method == "POST" and not path.whole,
            key=next((one for one in operation.headers if one.name.lower() == self._key), None),
            conditional=any(header.name.lower() == "if-match" for header in operation.headers),
            reads_like=_reads_like(operation, path.last),
            closed=elsewhere or fault or twin,
            is_named=not (elsewhere or fault or twin),
        )

    def _twin(self, match: str, path: Translation, name: str) -> str | None:
        """Why no second rule may take what another one takes; by what stands in the query only values can tell."""
        pattern = parse_pattern(match)
        assert isinstance(pattern, Pattern)
        query = tuple(sorted(path.query.items()))
        seen = self._seen.setdefault((pattern.methods[0], pattern.shape), {})
        first = seen.setdefault(query, name)
        if first != name:
            return f"it has the same requests as {first}; keep one of the two"
        others = [other for other in seen if other and query and [n for n, _ in other] != [n for n, _ in query]]
        if others:
            del seen[query]
            return f"its query does not tell it from {seen[others[0]]}'s; write both rules yourself"
        return None


def _fault(match: str, resource: str, path: Translation) -> str | None:
    """Why the policy would not load with this rule, if so."""
    pattern, template = parse_pattern(match), parse_template(resource, path.rests)
    wrong = next((one.message for one in (pattern, template) if isinstance(one, Wrong)), None)
    return slash_fault(pattern, _TAKES_SLASHES) if isinstance(pattern, Pattern) and wrong is None else wrong


def _marked(operation: Operation, path: Translation) -> str | None:
    name = next((one.name for one in path.slots if one.name in operation.marked), None)
    if name is None:
        return None
    return f"`{{{name}}}` has a mark before its value (`style`), which no match can say exactly"


def _reads_like(operation: Operation, last_segment: str) -> str | None:
    if operation.hinted_read:
        return "a hint in the document"
    word = reading_word(operation.operation_id, last_segment) if operation.method == "POST" else None
    return None if word is None else f"`{word}` in its name"


def unread_keys(proposals: Iterable[Proposal]) -> tuple[str, ...]:
    """Operations that take their idempotency key in another header than the one that the capability can name."""
    return tuple(
        f"{each.name} ({each.operation}): takes its key in {header.name}"
        for each in proposals
        for header in each.operation.headers
        if _names_a_key(header) and header is not each.key
    )
