"""The rule, the resource, the intent and the requests that conversations are about."""

from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, IntentId
from gateway.core.lease import Lease
from gateway.core.request import Headers, Request
from gateway.core.rule import Origin, Rule, Timeouts, Upstream
from gateway.core.target import Target, read_target
from gateway.core.write import ResourceKey, Write

UPSTREAM = Upstream("u", Origin("http", "localhost", 80), timeouts=Timeouts(total_s=30.0))
RULE = Rule("r", UPSTREAM)
RESOURCE = ResourceKey("report/7")


INTENT = Intent("k-1", "default", "PUT /reports/7", "digest-of-the-intent", b"fingerprint")
INTENT_ID = IntentId("000digest-of-the-intent")


def write(rule: Rule = RULE, epoch: int = 42, intent: Intent | None = None) -> Write:
    return Write(rule, RESOURCE, Epoch(epoch), None, b"digest", intent=intent)


def request(method: str = "PUT") -> Request:
    target = read_target("/reports/7")
    assert isinstance(target, Target)
    return Request(method, target, Headers(()))


def lease(in_flight: int = 0, epoch: int = 43) -> Lease:
    return Lease(RESOURCE, "b", Epoch(epoch), 60_000, 1_000_000, in_flight)
