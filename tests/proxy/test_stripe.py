"""The policy for Stripe that is shipped, before an API that does not answer: a refusal of the repeat proves nothing."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from tests.pages import ROOT
from tests.raw import RawAnswer
from tests.recording import RecordingUpstream, Seen
from tests.stack import Stack, stack

FORM = "Content-Type: application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Case:
    """A write that is sent twice under one key, and the status by which the second is refused."""

    status: int
    method: str
    target: str
    resource: str
    key: str
    body: bytes = b"amount=5&currency=eur"

    async def send(self, gate: Stack, body: bytes) -> RawAnswer:
        fields = (f"Idempotency-Key: {self.key}", FORM)
        return await gate.write(self.target, *fields, holder=self.key, method=self.method, body=body)


# The key is at work; too many requests; deleted already, or never there.
CASES = (
    Case(409, "POST", "/stripe/v1/payment_intents", "stripe/new/k-1", "k-1"),
    Case(429, "POST", "/stripe/v1/refunds", "stripe/pi_1", "k-2", b"payment_intent=pi_1"),
    Case(404, "DELETE", "/stripe/v1/subscriptions/sub_1", "stripe/sub_1", "k-3", b""),
)


def shipped() -> str:
    """As it is, but for the place of the API and for how long it is waited for."""
    text = (ROOT / "policies" / "stripe.yaml").read_text().replace("{", "{{").replace("}", "}}")
    text, count = re.subn(r"^url: .*$", "url: http://localhost:{port}", text, flags=re.M)
    assert count == 1 and "\ntimeouts:" not in text
    return f"{text}\ntimeouts: {{{{connect: 500ms, total: 500ms, late: 100ms}}}}\n"


def silent_at_first() -> RecordingUpstream:
    """An API that is still at the first request when the same comes again."""

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if [one.line for one in upstream.seen].count(seen.line) > 1:
            [status] = [one.status for one in CASES if one.target.removeprefix("/stripe") in seen.line]
            writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status)

    upstream = RecordingUpstream(answer=answer)
    return upstream


async def test_a_refusal_of_the_repeat_leaves_it_unknown(store_url: str, tmp_path: Path) -> None:
    """It is the first that may have been done. The key stays taken, for this and for no other body."""
    async with stack(store_url, tmp_path, shipped(), silent_at_first()) as gate:
        for case in CASES:
            await gate.lease(case.resource, case.key)
        first = await asyncio.gather(*(case.send(gate, case.body) for case in CASES))
        repeats = [await case.send(gate, case.body) for case in CASES]
        others = [await case.send(gate, case.body + b"&reason=another") for case in CASES]

        assert [(one.status, one.decision) for one in first] == [(504, "outcome-unknown")] * 3
        assert [one.status for one in repeats] == [case.status for case in CASES]
        assert [one.value("Fencing-Outcome") for one in repeats] == ["unknown"] * 3
        assert [(one.status, one.decision) for one in others] == [(422, "intent-mismatch")] * 3
        keys = [seen.values("Idempotency-Key")[0] for seen in gate.upstream.seen]
        assert (len(keys), len(set(keys))) == (6, 3)
