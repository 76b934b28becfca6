"""What matching costs under thousands of rules, and what each step of a plain write costs before the store is asked."""

import timeit
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from gateway.core.caller import Caller, overrides_request, read_control
from gateway.core.decision import Refused
from gateway.core.identify import identify
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.core.write import Write
from gateway.policy.load import load_policies
from gateway.policy.match import Matched
from gateway.policy.reading.body import Body
from gateway.policy.ruleset import RuleSet
from tests.bench.crowds import Crowd, crowds

_CALLER = Caller()
_PLAIN = """\
upstream: reports
url: http://127.0.0.1:9000
writes:
  - {name: report, match: "POST /reports/{id}", resource: "report/{path.id}", authority: header,
     intent: {mode: required}}
"""
_PAIRS = (
    (b"Host", b"localhost:8080"),
    (b"User-Agent", b"agent/1.0"),
    (b"Accept", b"*/*"),
    (b"Content-Type", b"application/json"),
    (b"Content-Length", b"26"),
    (b"Fencing-Token", b"41"),
    (b"Fencing-Holder", b"agent-a"),
    (b"Idempotency-Key", b"order-17-receipt"),
)
_BODY = b'{"text": "the new result"}'


def main() -> None:
    """Print rows `name value unit`."""
    for name, call in _steps():
        _row(f"plain write: {name}", _microseconds(call), "us")
    for crowd in crowds():
        began = process_time()
        ruleset = _loaded(crowd.policy)
        _row(f"{crowd.name}: load", process_time() - began, "s")
        for name, asked in crowd.asked.items():
            _check(crowd, name, ruleset.match(asked, _CALLER))
            _row(f"{crowd.name}: {name}", _microseconds(partial(ruleset.match, asked, _CALLER)), "us")
            if asked.body is not None:
                _row(f"{crowd.name}: {name}, of it the body", _microseconds(partial(_read_body, asked)), "us")


def _steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """What a plain write goes through, in turn."""
    rules, headers, target = _loaded(_PLAIN), Headers(_PAIRS), read_target("/reports/7")
    assert isinstance(target, Target)
    request, control = Request("POST", target, headers), read_control(headers)
    matched = rules.match(request, _CALLER)
    assert isinstance(matched, Matched)
    assert not isinstance(control, Refused)
    rule, resource = matched.entry.rule, rules.resolve(matched, request, _CALLER)
    assert not isinstance(resource, Refused)
    yield "Headers", partial(Headers, _PAIRS)
    yield "read_target", partial(read_target, "/reports/7")
    yield "Request", partial(Request, "POST", target, headers)
    yield "read_control", partial(read_control, headers)
    yield "overrides_request", partial(overrides_request, headers)
    yield "principals.identify", partial(rules.principals.identify, headers)
    yield "match", partial(rules.match, request, _CALLER)
    yield "resolve", partial(rules.resolve, matched, request, _CALLER)
    yield "forbidden", partial(_CALLER.forbidden, resource)
    yield "identify", partial(identify, rule, resource, control)
    yield "intent_of", partial(rules.intent_of, matched, request, _CALLER, resource)
    yield "fingerprint", partial(_fingerprint, matched, headers)
    write, intent = identify(rule, resource, control), rules.intent_of(matched, request, _CALLER, resource)
    assert isinstance(write, Write)
    assert intent is not None
    assert not isinstance(intent, Refused)
    yield "named", lambda: write.named(intent.saying(_BODY[:16]))


def _fingerprint(matched: Matched, headers: Headers) -> object:
    reading = matched.entry.fingerprint.begin(headers, 10 << 20, matched.body.json)
    reading.feed(_BODY)
    return reading.digest(_BODY)


def _loaded(text: str) -> RuleSet:
    with TemporaryDirectory() as directory:
        (Path(directory) / "policy.yaml").write_text(text)
        loaded = load_policies(Path(directory), {})
    assert isinstance(loaded, RuleSet), loaded[:3]
    return loaded


def _check(crowd: Crowd, name: str, got: object) -> None:
    """That the right thing is measured."""
    expected = Matched if name.startswith("found") else Refused if name == "lost" else object
    assert isinstance(got, expected), (crowd.name, name, got)


def _read_body(asked: Request) -> object:
    body = Body(asked)
    return body.operation() if b'"query"' in (asked.body or b"") else body.lacking("json") or body.json.value()


def _microseconds(call: Callable[[], object]) -> float:
    """The best of many short rounds: whatever else the machine does only ever adds."""
    timer = timeit.Timer(call)
    number = max(1, int(0.0005 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(100, number)) / number * 1e6


def _row(name: str, value: float, unit: str) -> None:
    print(f"{name:<44}{value:>10.2f} {unit}", flush=True)


if __name__ == "__main__":
    main()
