"""The text of a proposed policy: every rule with what was decided for it, and every open question beside its rule."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_send
from gateway.policy.openapi.account_header import account_questions
from gateway.policy.openapi.beside_path import NamesInBodies, name_in_body, names_elsewhere, names_in_bodies
from gateway.policy.openapi.bodies_text import bodies_option, listed_bodies
from gateway.policy.openapi.ids_of_others import Ruled, ids_of_others
from gateway.policy.openapi.only_text import is_whole, only_lines
from gateway.policy.openapi.operation import Document, Header
from gateway.policy.openapi.proposal import Proposal, has_plus, has_slash, native_key, propose, unread_keys
from gateway.policy.openapi.wording import REASON_LENGTH, comment, scalar, some_of
from gateway.policy.openapi.writing_read import Closing, closings, told_closings
from gateway.policy.url import parse_url
from gateway.policy.value_form import ValueForm

_KEPT = "keep the API's credential here, and take it from the agents: who has it writes past the gateway"
_REMEMBERED = "how long does the API remember a key? 24 hours are assumed; nothing is sent again after it"
_UNKNOWN_URL = "https://api.example.com"


@dataclass(frozen=True, slots=True)
class PolicyText:
    """A policy file that loads, and what could not be decided for it, a line each.

    `unlisted`: the rules that were to list what requests say, and do not list all of it.
    """

    text: str
    rules: int
    open: tuple[str, ...]
    unlisted: int = 0


def policy_text(document: Document, source: str, upstream: str) -> PolicyText:
    """The policy for a document that came from the file `source`."""
    proposals = propose(document, upstream)
    url, url_question = _url(document)
    questions = [question for question in (url_question, _credential_question(document)) if question]
    questions += [comment(fault, REASON_LENGTH) for fault in document.faults]
    questions += map(comment, unread_keys(proposals))
    ruled = [each for each in proposals if each.closed is None]
    questions += (*_unsaid(ruled), *_formats(proposals))
    paths = [(each.operation, each.path) for each in ruled]
    names, reads = names_in_bodies(paths), list(closings(document.reads, upstream))
    key, credentials = native_key(document), [*_credentials(document, upstream)]
    json_types = sorted({name for each in ruled for name in each.operation.json_types})
    questions += (*names.asks(), *names_elsewhere(paths), *_elsewhere(ruled), *told_closings(reads))
    lines = [
        *_head(source, document, len(proposals)),
        f"upstream: {scalar(upstream)}",
        f"url: {scalar(url)}",
        f"# Agents call /{upstream}/...; the API gets what is behind it.",
        *_mount(proposals, upstream, names, bodies_option(listed_bodies(document.operations, json_types))),
        *_json_types(json_types),
        "",
        *(f"# DECIDE: {question}" for question in questions),
        *credentials,
        *_capabilities(key, ruled),
        *_read_only(proposals),
        *_closed(proposals, [each for each in reads if each.match is not None]),
        "writes:" if ruled else "writes: []",
    ]
    for each in proposals:
        lines += _rule(each)
    told = [
        f"{each.name} ({comment(str(each.operation))}): {question}" for each in proposals for question in _open(each)
    ]
    unlisted = sum(not is_whole(each.operation) for each in ruled)
    kept = [*([_KEPT] if credentials else []), *([] if key is None else [_REMEMBERED])]
    return PolicyText("\n".join(lines) + "\n", len(ruled), (*questions, *kept, *told), unlisted)


def _head(source: str, document: Document, count: int) -> Iterator[str]:
    title = f" ({comment(document.title)})" if document.title.strip() else ""
    yield f"# Proposed by `fencegate import-openapi` from {comment(source)}{title}, {count} writing operations."
    yield "# What the document does not say is marked DECIDE. An operation without a rule stays closed (`no-policy`)."
    if any(each.documented is not None for each in document.operations):
        yield "# Each rule lists what the document names of its requests (`only`), or says why not: more is refused."
        yield "# Headers that your clients send besides, such as those of a vendor's SDK, have to be added to `header`."
    yield ""


def _url(document: Document) -> tuple[str, str | None]:
    server = document.server or ""
    if not isinstance(parse_url(server), Wrong):
        return server, None
    if server.startswith("/") and not isinstance(parse_url(_UNKNOWN_URL + server), Wrong):
        return _UNKNOWN_URL + server, "the document does not say at which host the API is; correct `url`"
    return _UNKNOWN_URL, "the document does not say where the API is; correct `url`"


def _credential_question(document: Document) -> str | None:
    if document.credential is None or isinstance(header_to_send(document.credential.header), Wrong):
        return "the document does not say how callers show who they are; give the gateway alone a credential"
    return None


def _unsaid(ruled: Iterable[Proposal]) -> Iterator[str]:
    """One question for all ids of which the document says nothing: there may be thousands of them."""
    names = list(dict.fromkeys(name for each in ruled for name in each.unsaid))
    if not names:
        return
    listed = some_of([f"`{{{comment(name, 40)}}}`" for name in names])
    one_each = f"is {listed} spelled? It is" if len(names) == 1 else f"are {listed} spelled? They are"
    yield (
        f"how {one_each} text, of which the document says no more; where the API takes several spellings of one value "
        "(`7` and `07`, capitals), or an id has more than letters, digits and `-._~`, write `values`"
    )


def _elsewhere(ruled: Iterable[Proposal]) -> Iterator[str]:
    """What names the thing in a header, a query or a body, and is no part of its resource."""
    writing = [each for each in ruled if not each.reads_like]
    yield from account_questions((each.operation, each.resource) for each in writing)
    yield from ids_of_others(
        Ruled(each.operation, each.path, each.resource, each.doubt.is_of_another) for each in writing
    )


def _formats(proposals: Iterable[Proposal]) -> Iterator[str]:
    """Django REST, whose paths end in a slash, and Rails take formats there that no document tells."""
    paths = [each.path for each in proposals]
    if any(path.takes_format for path in paths) and not any(path.names_format for path in paths):
        yield (
            "is `/things/7.json` thing 7 to the API, as to Django REST and Rails? If so write "
            "`format_endings: refuse` into `mount`, or a thing has two names"
        )


def _credentials(document: Document, upstream: str) -> Iterator[str]:
    credential = document.credential
    if credential is None or isinstance(header_to_send(credential.header), Wrong):
        return
    name = upstream.upper().replace("-", "_")
    # No shell sets a variable whose name begins with a digit.
    value = f"{credential.scheme} ${{env:{'API_' if name[0].isdigit() else ''}{name}_TOKEN}}".strip()
    yield f"# DECIDE: {_KEPT}."
    yield "# credentials:"
    yield f"#   - {{header: {json.dumps(credential.header)}, value: {json.dumps(value)}}}"
    yield ""


def _capabilities(key: str | None, ruled: Iterable[Proposal]) -> Iterator[str]:
    conditional = any(each.conditional for each in ruled)
    if key is None and not conditional:
        return
    yield "capabilities:"
    if key is not None:
        yield f"  # The API takes idempotency keys in {key}: a repeat is sent on under the same key, and refused there."
        yield f"  # DECIDE: {_REMEMBERED}."
        yield f"  idempotency_key: {{header: {json.dumps(key)}, retain: 24h}}"
    if conditional:
        yield "  # Some operations take If-Match; it is forwarded, and the API's 412 comes back untouched."
        yield "  conditional: true"
    yield ""


def _mount(
    proposals: Iterable[Proposal], upstream: str, names: NamesInBodies, bodies: tuple[str, tuple[str, ...]]
) -> Iterator[str]:
    options = ""
    if any(each.path.names_format for each in proposals):
        yield "# The API takes formats at the end of paths (`.json`): a thing would have a second name."
        options += ", format_endings: refuse"
    if has_plus(proposals):
        yield "# Paths of the API's own have a `+`: it takes none for a blank."
        options += ", plus: opaque"
    if has_slash(proposals):
        yield "# Paths of the API's own have an encoded slash (`%2F`): it takes none for a slash."
        options += ", encoded_slash: opaque"
    if names.are_merged:
        yield "# A body may name another thing than its path: every body is read, as JSON, form or multipart."
        options += ", names: merged"
    option, told = bodies
    yield from told
    options += option
    yield f"mount: {{path: /{upstream}, strip: true{options}}}"


def _json_types(named: list[str]) -> Iterator[str]:
    if named:
        yield "# What the API reads as JSON beside application/json."
        yield f"json_types: [{', '.join(map(json.dumps, named))}]"


def _read_only(proposals: Iterable[Proposal]) -> Iterator[str]:
    likely = [each for each in proposals if each.reads_like and each.is_named]
    if not likely:
        return
    yield "# DECIDE: these look like reads. Where one changes nothing, uncomment its line, and remove all else that is"
    yield "# said of it below."
    yield "# read_only:"
    for each in likely:
        yield f"#   - match: {scalar(each.match)}  # {each.reads_like}"
        yield from (f"# {line}" for line in _when(each))
        yield from (f"# {line}" for line in only_lines(each, "    ", of_read=True))
    yield ""


def _closed(proposals: Iterable[Proposal], reads: list[Closing]) -> Iterator[str]:
    """Told to the gateway too: a looser rule would take some of them, and reads pass."""
    named = [each for each in proposals if each.closed is not None and each.is_named]
    sure = [each for each in reads if each.is_sure]
    if not named and not reads:
        return
    if named:
        yield "# DECIDE: these stay closed, whatever rule takes their paths. To open one, remove it here, and uncomment"
        yield "# its rule below once it names what is written."
    yield "closed:" if named or sure else "# closed:"
    for each in named:
        yield f"  - match: {scalar(each.match)}"
        yield from _when(each)
    if sure:
        yield "  # DECIDE: these are called as writes. Remove the line of one that changes nothing."
    yield from (f"  - {_closing(each)}" for each in sure)
    if len(sure) < len(reads):
        yield "  # DECIDE: these may write, too. Uncomment the line of one that does."
    yield from (f"  # - {_closing(each)}" for each in reads if not each.is_sure)
    yield ""


def _closing(each: Closing) -> str:
    return f"match: {scalar(each.match or '')}  # `{each.read.word}` in its name"


def _rule(each: Proposal) -> Iterator[str]:
    summary = comment(each.operation.summary)
    if summary:
        yield f"  # {summary}"
    for question in _open(each):
        yield f"  # DECIDE: {question}"
    if each.closed is not None:
        yield f"  # Closed: {comment(each.match)}"
        if each.is_named:
            yield from (f"  # {line.removeprefix('  ')}" for line in _fields(each))
        return
    if each.parent:
        yield "  # A create or an action without an id of its own: it belongs to what stands before it in the path."
    if each.conditional:
        yield "  # Takes If-Match."
    yield from (f"  # {note}." for note in each.notes)
    own = name_in_body(each.operation, each.path)
    if own is not None:
        yield f"  # Its body has `{comment(own)}`, too."
    yield from _fields(each)


def _fields(each: Proposal) -> Iterator[str]:
    yield f"  - name: {scalar(each.name)}"
    yield f"    match: {scalar(each.match)}"
    yield from _when(each)
    yield f"    resource: {scalar(each.resource)}"
    if each.forms:
        yield f"    values: {_values(each)}"
    yield from only_lines(each, "    ")
    if each.key is not None:
        yield from _intent(each.key)
    elif each.operation.method == "POST":
        yield "    # intent: {mode: required}  # where a second execution would do harm"


def _values(each: Proposal) -> str:
    """One word where all parts of the resource have one form."""
    forms = {_form(form) for form in each.forms.values()}
    of_all = len(forms) == 1 and len(each.forms) == each.resource.count("{")
    if of_all:
        return min(forms)
    return "{" + ", ".join(f"{scalar(name)}: {_form(form)}" for name, form in each.forms.items()) + "}"


def _form(form: ValueForm) -> str:
    return f"[{', '.join(map(scalar, sorted(form)))}]" if isinstance(form, frozenset) else form


def _when(each: Proposal) -> Iterator[str]:
    """What stands in the query of its path."""
    pairs = [f"{scalar(name)}: {scalar(value)}" for name, value in each.path.query.items()]
    if pairs:
        yield f"    when: {{query: {{{', '.join(pairs)}}}}}"


def _intent(key: Header) -> Iterator[str]:
    mode = "required" if key.required else "optional"
    yield f"    intent: {{mode: {mode}, {_key_places(key)}on_unknown: retry}}"


def _key_places(key: Header) -> str:
    lower = key.name.lower()
    if lower == "idempotency-key":
        return ""
    return f'key: ["{{header.idempotency-key}}", "{{header.{lower}}}"], '


def _open(each: Proposal) -> Iterator[str]:
    """What the document leaves open for one operation."""
    if each.closed is not None:
        yield f"no rule: {comment(each.closed, REASON_LENGTH)}"
    yield from (comment(fault) for fault in each.operation.faults)
    if each.closed is None:
        yield from (comment(question, REASON_LENGTH) for question in each.asks)
    if each.reads_like and each.is_named:
        yield f"is it a read? ({each.reads_like}) It is a write until you say otherwise"
