"""Headers that may choose whose thing is written: they are none of a path, and so of no resource unless a rule says it.

Two accounts' things would have one fence, and a key used for one account would get the other the first one's answer.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_read
from gateway.policy.openapi.operation import Header, Operation
from gateway.policy.openapi.vocabulary import words
from gateway.policy.openapi.wording import comment, some_of

# Whose thing it is; asked also where a request may do without.
_ACCOUNTS = (
    "account",
    "behalf",
    "namespace",
    "organisation",
    "organization",
    "realm",
    "subuser",
    "tenant",
    "workspace",
)
# Not `origin`.
_ORGS = frozenset({"org", "orgid", "orgs", "orgunit"})
# What says how a request is made, and not what it writes: by a word of its name.
_OTHERS = frozenset(
    {
        "accept",
        "agent",
        "apikey",
        "assertion",
        "auth",
        "authorization",
        "baggage",
        "cache",
        "certificate",
        "checksum",
        "content",
        "cookie",
        "correlation",
        "csrf",
        "date",
        "digest",
        "encoding",
        "expect",
        "forwarded",
        "hash",
        "host",
        "if",
        "ip",
        "lang",
        "language",
        "length",
        "locale",
        "md",
        "nonce",
        "offset",
        "origin",
        "password",
        "prefer",
        "range",
        "referer",
        "request",
        "requested",
        "requestid",
        "resumable",
        "secret",
        "sec",
        "sha",
        "signature",
        "span",
        "timestamp",
        "timezone",
        "token",
        "trace",
        "traceid",
        "traceparent",
        "tracestate",
        "version",
        "xsrf",
    }
)


def account_questions(ruled: Iterable[tuple[Operation, str]]) -> Iterator[str]:
    """One for each header, in the order of the document; each operation with its resource."""
    found: defaultdict[str, list[tuple[Operation, str]]] = defaultdict(list)
    names: dict[str, str] = {}
    for operation, resource in ruled:
        for header in operation.headers:
            if may_choose_account(header):
                found[header.name.lower()].append((operation, resource))
                names.setdefault(header.name.lower(), header.name)
    for lower, some in found.items():
        upstream, _, below = some[0][1].partition("/")
        resource = "/".join((upstream, f"{{header.{lower}}}", *([below] if below else [])))
        told = some_of([str(operation) for operation, _ in some])
        yield (
            f"does the header `{comment(names[lower])}` choose what is written: {told}? "
            f"If so write it into `resource` (`{comment(resource, 150)}`): one fence would be for all accounts, and a "
            "key that one account used would get another its answer"
        )


def may_choose_account(header: Header) -> bool:
    """By its name, or as no request of the operation is without it."""
    told = set(words(header.name.lower()))
    if isinstance(header_to_read(header.name), Wrong) or "idempotency" in told or header.overrides_request:
        return False
    if not told.isdisjoint(_ORGS) or any(name in word for word in told for name in _ACCOUNTS):
        return True
    return header.required and told.isdisjoint(_OTHERS) and not {"api", "key"} <= told
