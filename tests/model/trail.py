"""What the store keeps beside the records: the audit trail, read on from where it was, and the lists of states."""

from dataclasses import dataclass, field
from typing import Any

from gateway.core.intent import TRANSITIONS
from gateway.store.keys import audit_trail, in_state, questions
from gateway.store.packed import PackedEvent, unpack_event
from tests.model.record import Record, Step

# What happens to a resource, and to no intent of it.
_NO_STEPS = ("paused", "resumed", "granted", "released", "advanced", "registered", "refused")
LISTED = ("unknown", "applied", "not_applied", "queued", "superseded", "failed", "compensating", "compensated")


@dataclass
class Trail:
    """A shard's trail: every event follows the one before it, in its number and in its intent's state."""

    shard: str
    position: str = "-"
    number: int = 0
    states: dict[str, str] = field(default_factory=dict)

    def read_on(self, raw: Any) -> list[Step]:
        """The steps of intents since the last time; a pause is no such step, nor is a grant."""
        events = raw.xrange(audit_trail(self.shard), self.position)
        steps = []
        for id, fields in events:
            self.position = f"({id.decode()}"
            event = unpack_event(fields[b"e"])
            self.number += 1
            assert event.number == self.number
            if event.after not in _NO_STEPS:
                steps.append(self._step(event))
        return steps

    def _step(self, event: PackedEvent) -> Step:
        intent, before, after = event.intent, event.before, event.after
        # An ended intent whose time is over is one that nobody has seen.
        assert before == self.states.get(intent, "") or (before == "" and self.states[intent] != "in_flight"), event
        self.states[intent] = after
        if before == after:
            return Step(intent, before, after, event.reason.partition(":")[0])
        assert after in TRANSITIONS[before or None], event  # a word that is no state fails here
        return Step(intent, before, after)


def check_lists(raw: Any, shard: str, records: list[Record], left_over: set[tuple[str, str]]) -> None:
    """A list holds exactly the intents in its state, and perhaps some whose time is over and that nobody has pruned."""
    # In one round trip: this is asked after every step of every story.
    pipe = raw.pipeline(transaction=False)
    for key in (*(in_state(shard, state) for state in LISTED), questions(shard)):
        pipe.zrange(key, 0, -1)
    *lists, asked = ({id.decode() for id in ids} for ids in pipe.execute())
    for state, listed in zip(LISTED, lists, strict=True):
        expected = {record.id for record in records if record.state == state}
        assert expected <= listed, state
        assert {(state, id) for id in listed - expected} <= left_over
    assert asked == {record.id for record in records if record.state == "unknown" and _is_asked_about(record)}


def _is_asked_about(record: Record) -> bool:
    return record.write.intent is not None and record.write.rule.intent.ask_after_s is not None
