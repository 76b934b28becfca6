"""The name that a request gives its intent: one of several templates, the first of which all parts are there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.core.caller import Caller
from gateway.core.decision import IDEMPOTENCY_KEY_REQUIRED, RESOURCE_UNRESOLVED, Refused
from gateway.core.request import Request
from gateway.policy.part import Part
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.body_type import Kind
from gateway.policy.reading.fields import read_idempotency_key
from gateway.policy.template import Absent, Naming, Template

KEY = Naming("an intent's key", "the intent's key", "{header.idempotency-key}", 255, bare=True)


@dataclass(frozen=True, slots=True)
class Key:
    """Where a rule finds an intent's key. `required`: a write without one is refused.

    `reads`: what a body is read as where the key is in it; `reads_query`: as a template's.
    """

    templates: tuple[Template, ...]
    required: bool
    reads: Kind | None = field(init=False, repr=False, compare=False)
    reads_query: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Told once: it is asked of each write.
        reads = next((template.reads for template in self.templates if template.reads is not None), None)
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "reads_query", any(template.reads_query for template in self.templates))

    @property
    def reads_header(self) -> bool:
        """Whether `Idempotency-Key` is one way to send it."""
        return any(part.origin == "idempotency-key" for template in self.templates for part in template.parts)

    def read(
        self, request: Request, path: Mapping[str, str], caller: Caller, body: Body
    ) -> str | BodyWanted | Refused | None:
        """The key; None if there is none and none is required.

        Refused: `header-malformed` (the header is looked at even where another template has the word: who sends it
        relies on it), `idempotency-key-required`, `resource-unresolved`, `ambiguous-target`. A part that is there and
        cannot be used is refused, not passed over: the next template would make another intent of the same action.
        """
        header = read_idempotency_key(request.headers)
        if isinstance(header, Refused):
            return header
        for template in self.templates:
            if header is not None and template.text == KEY.example:
                return header
            if template.reads is not None and not body.is_there:
                return BodyWanted()
            lacking = body.lacking_beside_query() if template.reads_query else None
            if lacking is not None:
                return lacking
            key = template.try_fill(request, path, caller, body)
            if not isinstance(key, Absent):
                return key if isinstance(key, Refused) or _is_plain(key) else _unfit()
        return self._missing(header) if self.required else None

    def _missing(self, header: str | None) -> Refused:
        """`header`: what came in `Idempotency-Key`, which is then not all that the templates want."""
        if header is not None or not self.reads_header:
            ways = " or ".join(map(_told, self.templates))
            detail = f"Nothing was forwarded: the intent's key, {ways}, is not all there."
            return Refused(RESOURCE_UNRESOLVED, f"{detail} Send it, the same one with each retry.")
        others = [f", or as {_told(template)}" for template in self.templates if template.text != KEY.example]
        detail = "Nothing was forwarded: this write needs an idempotency key."
        advice = f"Send one in `Idempotency-Key`{''.join(others)}: a new one for each action, the same with each retry."
        return Refused(IDEMPOTENCY_KEY_REQUIRED, f"{detail} {advice}")


def _told(template: Template) -> str:
    """Where it is in a request; a name of several parts as the policy spells it."""
    match template.pieces:
        case (Part() as only,):
            return only.told
    return f"`{template.text}`"


def _is_plain(key: str) -> bool:
    """Whether people can tell the key from another one by looking at it, in a list or a line of a log."""
    return key.isprintable() and key == key.strip()


def _unfit() -> Refused:
    detail = "Nothing was forwarded: the intent's key has a control character, or a blank at its beginning or end."
    return Refused(RESOURCE_UNRESOLVED, f"{detail} Send visible characters.")
