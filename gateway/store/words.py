"""What a call asks of the scripts or tells them, in words: `ttl:30000 serial`. A rule's own words are spelled once."""

import json

from gateway.core.caller import ANONYMOUS
from gateway.core.intent import IntentId
from gateway.core.rule import Rule
from gateway.core.write import Admitted, Write
from gateway.store.keys import intent_id

# Rules in force, and those of the policies before them that a write still holds.
_REMEMBERED = 10_000

# A JSON string; the encoder around it costs ten times as much.
_quoted = json.encoder.encode_basestring


# Of an end as unknown: its server may be at work on it.
UNFINISHED = " unfinished"


class _RuleWords:
    """What is the same for all writes of a rule. Each text begins with a blank, or is empty."""

    __slots__ = ("admit", "always", "intent", "retry", "rule", "settle")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.intent = _intent_words(rule)
        native = rule.upstream.native_key
        retries = rule.intent.on_unknown == "retry" and native is not None
        self.retry = f" retry:{round(native.retain_s * 1000)}" if retries and native is not None else ""
        self.admit = ""
        if rule.fence.order == "strict":
            self.admit += " strict"
        if rule.fence.concurrency == "serial":
            self.admit += " serial"
        if rule.mode == "observe":
            self.admit += " observes"
        holds = " holds" if rule.fence.after_unknown == "hold" else ""
        counts = " counts" if rule.revision == "gateway" else ""
        notify = rule.upstream.notify
        told = "" if notify is None else f" notify:{','.join(notify.events)}"
        self.always = counts + holds + told
        self.admit += self.always
        self.settle = (" leased" if rule.authority == "lease" else "") + self.always


class Words:
    """Spells the words of one gateway's calls."""

    def __init__(self, gateway: str) -> None:
        self._by = f"by:{gateway} attempt:"
        self._rules: dict[int, _RuleWords] = {}

    def admit(self, write: Write, ttl_s: float, *, queued: bool, behind: int) -> str:
        """What rule and request ask of admission."""
        rule = write.rule
        own = self._of(rule)
        text = f"ttl:{round(ttl_s * 1000)}{own.admit}"
        if write.intent is not None:
            text += own.intent + own.retry
        if rule.fence.sequence != "off":
            assert write.sequence is not None
            text += f" {rule.fence.sequence}:{write.sequence}"
        if write.if_revision is not None and rule.revision == "gateway":
            text += f" if-revision:{write.if_revision}"
        if queued:
            text += " queued"
        if behind:
            text += " behind"
        if write.trace_id:
            text += f" trace:{write.trace_id}"
        return text if write.principal == ANONYMOUS else f"{text} principal:{write.principal}"

    def park(self, write: Write, digest: str, room: int) -> str:
        """What is asked where the write is not to be sent now. `room`: the bytes by which more may be kept than now."""
        rule = write.rule
        text = f"{self.admit(write, 0.0, queued=False, behind=0)} parks:{rule.parks} room:{room}"
        text += f" digest:{digest} risk:{rule.risk}"
        return f"{text} approve:{round(rule.approval_s * 1000)}" if rule.parks == "awaiting_approval" else text

    def deliver(self, write: Write, ttl_s: float, *, queued: bool, behind: int) -> str:
        """What is asked for one that was queued."""
        text = f"ttl:{round(ttl_s * 1000)}"
        if write.rule.fence.concurrency == "serial":
            text += " serial"
        text += _no_words(write.rule) + _native_word(write.rule)
        if write.trace_id:
            text += f" trace:{write.trace_id}"
        return text + " queued" * queued + " behind" * bool(behind)

    def settle(self, admitted: Admitted) -> str:
        """What settling has to know of an attempt."""
        write = admitted.write
        rule = write.rule
        own = self._of(rule)
        text = f"{self._by}{admitted.attempt}{own.settle}"
        if write.intent is not None:
            text += f"{own.intent} sent:{admitted.sent_ms}" if admitted.sent_ms else own.intent
        if write.sequence is not None and rule.fence.sequence != "off":
            text += f" sequence:{write.sequence}"
        if admitted.in_doubt:
            text += " in-doubt"
        if admitted.era:
            text += f" era:{admitted.era}"
        if write.costs:
            text += " costs"
        if write.trace_id:
            text += f" trace:{write.trace_id}"
        return text if write.principal == ANONYMOUS else f"{text} principal:{write.principal}"

    def _of(self, rule: Rule) -> _RuleWords:
        """By identity: comparing two rules costs more than spelling one."""
        known = self._rules.get(id(rule))
        if known is None or known.rule is not rule:
            if len(self._rules) >= _REMEMBERED:
                self._rules.clear()
            known = self._rules[id(rule)] = _RuleWords(rule)
        return known


def compensation_words(write: Write, *, queued: bool) -> str:
    """What is asked for what takes another intent back."""
    rule = write.rule
    text = f"ttl:{round(rule.upstream.timeouts.total_s * 1000)}" + " queued" * queued
    return text + _RuleWords(rule).always + _native_word(rule)


def intent_arguments(write: Write, record: IntentId | None) -> tuple[str | bytes, ...]:
    """The record's id, the fingerprint, and what people are shown. `record`: the id, where it is known already."""
    intent = write.intent
    if intent is None:
        return record or "", b"", ""
    about = f"[{_quoted(intent.key)},{_quoted(intent.tenant)},{_quoted(intent.target)}]"
    return record or intent_id(write.resource, intent.digest), intent.fingerprint, about


def _no_words(rule: Rule) -> str:
    """From when on a no counts."""
    no_after_s = rule.intent.no_after_s
    return f" no-after:{round(no_after_s * 1000)}" if no_after_s else ""


def _intent_words(rule: Rule) -> str:
    terms = rule.intent
    text = f" retain:{round(terms.retain_s * 1000)}{_no_words(rule)}"
    if terms.ask_after_s is not None:
        text += f" query:{round(terms.ask_after_s * 1000)}"
    return text + _native_word(rule)


def _native_word(rule: Rule) -> str:
    """The header in which the upstream honours a key, and where that is: what is said elsewhere says nothing of it."""
    native = rule.upstream.native_key
    header = "" if native is None else native.header.decode("ascii").lower()
    return f" native:{header}@{rule.upstream.origin.digest}"
