"""Recorded traffic judged by a rule set: what the gateway would have said of each request, without sending any."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.core.rule import Origin, Upstream
from gateway.policy.finding import Wrong
from gateway.policy.review.answer import Answer, answer, build_request
from gateway.policy.review.har import Recorded
from gateway.policy.ruleset import RuleSet
from gateway.policy.url import parse_url

_HANDSHAKES = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class Judged:
    """One request. `target` is what an agent would have asked of the gateway."""

    method: str
    url: str
    target: str
    answer: Answer


def judge(ruleset: RuleSet, recorded: Iterable[Recorded], caller: Caller) -> tuple[Judged, ...]:
    """Ask the rule set as the data path does. A token and an intent's history are not asked for here.

    Traffic may have been recorded at the gateway or, before there was one, at the APIs: what went to an upstream's own
    address is judged as if it had come through its mount.
    """
    return tuple(_judged(ruleset, each, caller) for each in recorded)


def summary(judged: Iterable[Judged]) -> dict[str, int]:
    """How many requests got each decision, the most frequent first."""
    return dict(Counter(each.answer.decision for each in judged).most_common())


def _judged(ruleset: RuleSet, recorded: Recorded, caller: Caller) -> Judged:
    scheme, host, target = _split(recorded.url)
    headers = recorded.headers if recorded.headers.first(b"host") else _hosted(recorded.headers, host)
    upstream = _addressed(ruleset, _origin(scheme, host), target)
    if upstream is not None:
        target = _mounted(upstream, target)
        headers = _hosted(headers, upstream.mount.site) if upstream.mount.site else headers
    request = build_request(recorded.method, target, headers, recorded.body)
    if isinstance(request, Refused):
        told = Answer(request.decision.name, detail=request.detail)
    else:
        told = answer(ruleset, request, caller)
    if told.upstream is None and upstream is not None:
        told = replace(told, upstream=upstream.name)
    return Judged(recorded.method, recorded.url, target, told)


def _split(url: str) -> tuple[str, str, str]:
    """Scheme, host and target, which is judged as it was sent; a user and a password are no part of the host."""
    scheme, _, rest = url.partition("://")
    at = min((rest.index(mark) for mark in "/?" if mark in rest), default=len(rest))
    return scheme.lower(), rest[:at].rpartition("@")[2], _from_slash(rest[at:])


def _from_slash(target: str) -> str:
    return target if target.startswith("/") else f"/{target}"


def _addressed(ruleset: RuleSet, origin: Origin | None, target: str) -> Upstream | None:
    """The upstream whose own address this is, the one with the longest base path; None if it is another host's."""
    path = target.partition("?")[0]
    found = [
        each for each in ruleset.upstreams if each.origin == origin and (path + "/").startswith(f"{each.base_path}/")
    ]
    return max(found, key=lambda each: len(each.base_path), default=None)


def _origin(scheme: str, host: str) -> Origin | None:
    """Browsers record the handshake of a session under `ws` and `wss`."""
    parsed = parse_url(f"{_HANDSHAKES.get(scheme, scheme)}://{host}")
    return None if isinstance(parsed, Wrong) else parsed.origin


def _mounted(upstream: Upstream, target: str) -> str:
    behind = target[len(upstream.base_path) :]
    mount = "/".join(upstream.mount.segments)
    return f"/{mount}{behind}" if upstream.mount.strip and mount else _from_slash(behind)


def _hosted(headers: Headers, host: str) -> Headers:
    others = [(name, value) for name, value in headers.pairs if name.lower() != b"host"]
    return Headers([*others, (b"Host", host.encode("utf-8", "replace"))])
