"""`only`: all names that a request may have in its query, its body and its headers, and all values of some of them.
What has another one is refused.

Other readings look for names that are known to be trouble. A closed list needs to know none: a name in another
spelling, one that only some servers look at, and one that the API gets next year are simply not in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway.core.decision import NO_POLICY, OF_LISTS, Refused
from gateway.core.request import Request
from gateway.policy.listed_headers import ListedHeaders
from gateway.policy.listed_values import NO_VALUES, MemberValues, NameValues, other_member
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.jsonbody import JsonValue, Pointer
from gateway.policy.reading.parameters import names_in_query

# By member what may stand at it or below: None where anything may.
Tree = Mapping[str, "Tree | MemberValues | None"]
_MOST_SHOWN = 64
_UNLISTED = "which the policy does not list for this request"
_WITHIN = "the policy lists what stands in one"


@dataclass(frozen=True, slots=True)
class Only:
    """`query`: the names of parameters; `json`: the members of a body; `form`: the names of its fields or parts;
    `header`: the fields beyond those that are sent unasked. None of one: whatever the request has there. `values`: what
    some of these may say; of members it is in `json`.

    A body must be one of what is listed of `json` and `form`, where any is.
    """

    query: frozenset[str] | None = None
    json: Tree | None = None
    form: frozenset[str] | None = None
    header: ListedHeaders | None = None
    values: NameValues = NO_VALUES

    def fault(self, request: Request, body: Body) -> BodyWanted | Refused | None:
        """The refusal of a request that says more, in `no-policy`; as `ambiguous-target` where readers differ in it."""
        stray = None if self.header is None else self.header.stray(request.headers)
        if stray is not None:
            return _refused(f"header {_shown(stray)} is there, {_UNLISTED}")
        if self.query is not None and request.target.query:
            fault = _fault_of_query(request, self.query)
            if fault is not None:
                return fault
        if self.values is not NO_VALUES:
            other = self.values.other_in_headers(request.headers) or self.values.other_in_query(
                request.target.query or ""
            )
            if other is not None:
                return _refused(other) if isinstance(other, str) else other
        if not self.lists_body or not body.may_be_there:
            return None
        if self.form is not None and (self.json is None or body.calls_itself_form):
            return _fault_of_form(body, self.form, self.values)
        return None if self.json is None else _fault_of_json(body, self.json)

    def sent(self, request: Request) -> Request:
        """The request as it goes to the API."""
        return request if self.header is None else self.header.sent(request)

    @property
    def lists_body(self) -> bool:
        return self.json is not None or self.form is not None

    def allows(self, pointer: Pointer) -> bool:
        """Whether a body may have what a pointer leads to. Items stand for their list, so that no place is listed."""
        known: Tree | MemberValues | None = self.json
        for at, token in enumerate(pointer.tokens):
            if known is None:
                return True
            if at and token.isdecimal() and not isinstance(known, MemberValues) and token not in known:
                continue
            if isinstance(known, MemberValues) or token not in known:
                return False
            known = known[token]
        return known is None or isinstance(known, MemberValues)

    def member(self, pointer: Pointer) -> MemberValues | None:
        """All that may stand where a pointer leads, if that is listed."""
        known: Tree | MemberValues | None = self.json
        for token in pointer.tokens:
            known = None if known is None or isinstance(known, MemberValues) else known.get(token)
        return known if isinstance(known, MemberValues) else None


def _fault_of_query(request: Request, known: frozenset[str]) -> Refused | None:
    names = names_in_query(request.target)
    if isinstance(names, Refused):
        return names
    stray = next((name for name in names if name not in known), None)
    return None if stray is None else _refused(f"the query has {_shown(stray)}, {_UNLISTED}")


def _fault_of_form(body: Body, known: frozenset[str], values: NameValues) -> BodyWanted | Refused | None:
    names = body.names_in_form()
    if isinstance(names, BodyWanted | Refused):
        return names
    stray = next((name for name in names if name not in known), None)
    if stray is not None:
        return _refused(f"the form has {_shown(stray)}, {_UNLISTED}")
    other = values.other_in_form(body, names) if values.form else None
    return _refused(other) if isinstance(other, str) else other


def _fault_of_json(body: Body, known: Tree) -> BodyWanted | Refused | None:
    lacking = body.lacking("json")
    if lacking is not None:
        return lacking
    value = body.json.value()
    if isinstance(value, Refused):
        return value
    if not isinstance(value, dict):
        # Serde reads a list as an object's members in their order.
        return _refused("the body is no JSON object, and the policy lists the members of one")
    stray = next(_strays(value, known), None)
    return None if stray is None else _refused(stray)


def _refused(why: str) -> Refused:
    advice = "Send it without, or have the policy allow it first."
    return Refused(NO_POLICY, f"Nothing was forwarded: {why}. {advice}", OF_LISTS, why)


def _shown(name: str) -> str:
    return repr(name[:_MOST_SHOWN])


def _strays(members: Mapping[str, JsonValue], tree: Tree) -> Iterator[str]:
    """What to say of each member that no listed pointer leads to, by or below, of what no pointer leads through, and of
    what is none of the values that are listed.

    Items of a list stand for the list. On the way some readers find members in other things than objects: serde in a
    list within a list, by their order, MCP's SDK for Python in a text of JSON.
    """
    pending: list[tuple[Mapping[str, JsonValue], Tree, str]] = [(members, tree, "")]
    while pending:
        own, known, way = pending.pop()
        for name, below in own.items():
            at = f"{way}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in known:
                yield f"the body has {_shown(at)}, {_UNLISTED}"
                continue
            deeper = known[name]
            if deeper is None:
                continue
            if isinstance(deeper, MemberValues):
                if not deeper.takes(below):
                    yield other_member(at[:_MOST_SHOWN], deeper)
                continue
            for item in below if isinstance(below, list) else [below]:
                if isinstance(item, dict):
                    pending.append((item, deeper, at))
                else:
                    yield f"{_shown(at)} of the body is no object or list of objects, and {_WITHIN}"


def tree_of(pointers: Iterable[Pointer], values: Iterable[tuple[Pointer, MemberValues]] = ()) -> Tree:
    """The members on the way to some places; at their ends and below anything may stand, or one of some `values`."""
    open_ones: Iterable[tuple[Pointer, MemberValues | None]] = ((pointer, None) for pointer in pointers)
    return _tree((pointer.tokens, leaf) for pointer, leaf in (*open_ones, *values))


def _tree(ways: Iterable[tuple[tuple[str, ...], MemberValues | None]]) -> Tree:
    beyond: defaultdict[str, list[tuple[tuple[str, ...], MemberValues | None]]] = defaultdict(list)
    for (first, *others), leaf in ways:
        beyond[first].append((tuple(others), leaf))
    return {name: _below(ends) for name, ends in beyond.items()}


def _below(ends: list[tuple[tuple[str, ...], MemberValues | None]]) -> Tree | MemberValues | None:
    """Where one of them ends here, the others lead to nothing more."""
    leaves = [leaf for way, leaf in ends if not way]
    return leaves[0] if leaves else _tree(ends)
