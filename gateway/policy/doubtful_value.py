"""A value that some API takes for one that a policy names, and the policy does not: it would fall to another rule.

FastAPI reads `"yes"`, `"on"` and 1 as true, Rails any text but a few, Express whatever is not empty; Jackson makes text
of a number, 3 of 3.7, and an enum's third word of 2 and of `"2"`, as protobuf, .NET and Rails do. So where a policy
names a boolean or a number, nothing else but null may stand in JSON (nor null where it names false, 0 or an empty
text), where it names a word no number, and in text nothing that may be one in other words.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Literal
from urllib.parse import unquote

from gateway.core.decision import AMBIGUOUS_TARGET, OF_VALUES, Refused
from gateway.core.request import Request
from gateway.policy.condition import (
    Absent,
    Amount,
    Condition,
    HeaderCondition,
    JsonCondition,
    Present,
    Subject,
    Text,
    Truth,
    read_subject,
)
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.caseless import caseless, unaccented, unmarked
from gateway.policy.reading.number import BEGIN_NUMBERS, coded_number, plain_number
from gateway.policy.reading.operation import Operation

# `nothing`: what Fastify, Jackson's primitives, Go and protobuf make of null.
Kind = Literal["boolean", "number", "truth", "bit", "text", "word", "nothing"]


@dataclass(frozen=True, slots=True)
class OtherWord:
    """What is the one value that may stand beside a named one: `false` beside `true`, spelled alike."""

    word: str


@dataclass(frozen=True, slots=True)
class Caseless:
    """A named text without its case, marks and blanks: ASP.NET reads the names of an enum in any case, Dropwizard
    `hard.delete` and `HARD- DELETE` as `HARD_DELETE`."""

    text: str


# What is known of values that a policy names: the kinds of them, the numbers among them, spelled as text or not.
Trait = Kind | Decimal | OtherWord | Caseless
Has = Callable[[Trait], bool]

# A form's box that is ticked says `on`.
_PAIRS = (("true", "false"), ("yes", "no"), ("on", "off"), ("1", "0"))
_OTHERS = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
# What pydantic, Rails, Spring and Go's ParseBool take for a truth, whatever its case. A form's box may be empty.
_TRUTH_LIKE = frozenset((*_OTHERS, "t", "f", "y", "n", ""))
_BITS = (0, 1)
_NOTHINGS = (Truth(False), Amount(Decimal(0)), Text(""))
_READ_WHOLE, _LONGEST_WORD = 4096, 512
_LETTER = re.compile(r"[^\W_]")
_MAY_BE_CUT = re.compile("[%#\"']")
# Between the items of a header's list and before the parameters of each.
_BETWEEN_ITEMS = re.compile("[,;]")
# Clients send tens. Each costs microseconds, and is asked about for each way in which a path may be read.
_MOST_ITEMS = 100
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[._-]+(?=\d)")


def traits_of(value: object) -> Iterator[Trait]:
    """What one named value says of what may be taken for it; nothing for most texts but that it is one."""
    if value in _NOTHINGS:
        yield "nothing"
    match value:
        case Truth(bool()):
            yield "boolean"
        case Amount(amount):
            yield "number"
            yield amount
        case Text(text) | str(text):
            yield from _traits_of_text(text)


def _traits_of_text(text: str) -> Iterator[Trait]:
    plain = text.lower()
    other = _OTHERS.get(plain)
    # 1 may be a count: other numbers stand beside it.
    yield "text" if other is None else "bit" if plain.isdecimal() else "truth"
    if other is not None:
        yield OtherWord(other.upper() if text.isupper() else other.title() if text.istitle() else other)
    amount = _amount_of(text)
    if amount is not None:
        yield amount
    elif other is None:
        yield "word"
        yield _caseless(text)


def is_plain(trait: Trait) -> bool:
    """Whether it leaves no doubt of anything in text, nor of another text in JSON that is no number."""
    return trait in ("text", "word") or isinstance(trait, Caseless)


def may_be_in_doubt(found: Subject) -> bool:
    """Whether what stands in JSON may be, whatever is named: a list, an object, a number, or one as text, whose digits
    may be of any script."""
    match found:
        case None | Amount():
            return True
        case Text(text):
            return text[:1] in BEGIN_NUMBERS or not text[:1].isascii()
    return False


def is_respelled(condition: Condition, found: Subject, has: Has) -> bool:
    """Whether a text is a named one in another case or with other marks; in a header, one among others or with
    parameters; or, in JSON beside a named word, one with a comma, to .NET several names of an enum, whose values it
    adds up: `publish, archive` (1 and 2) is `purge` (3) then.
    """
    match found:
        case str():
            return _is_alike(found, has) or (isinstance(condition, HeaderCondition) and _is_among(found, has))
        case Text(text):
            return ("," in text and has("word")) or _is_alike(text, has)
    return False


def _is_among(text: str, has: Has) -> bool:
    """`Accept: application/json, */*` and `Prefer: handling=strict; wait=1` say what is named, and more."""
    items = _BETWEEN_ITEMS.split(text)
    if len(items) > _MOST_ITEMS:
        return True
    return len(items) > 1 and any(_is_alike(one, has) or _doubt_of_text(one.strip(), has) for one in items)


def _is_alike(text: str, has: Has) -> bool:
    if len(text) > _READ_WHOLE:
        # Of a body's ten million letters one alone may be eighteen without its form. A word is short: what is long is
        # another value, but where nearly nothing is left of its beginning.
        beginning = text[:_READ_WHOLE]
        is_filler = any(map(_is_filler, (beginning, unquote(unquote(beginning)))))
        return (is_filler and has("word")) or _is_alike(beginning, has)
    return has(_caseless(text)) or (_MAY_BE_CUT.search(text) is not None and has(_caseless(_cut(text))))


def _is_filler(text: str) -> bool:
    return _LETTER.search(text) is None or len(_caseless(text).text) <= _LONGEST_WORD


def _cut(text: str) -> str:
    """SolidStart undoes the escapes of a header, and reads it up to `#`; Astro undoes those of a query once more; SOAP
    has quotes around an action."""
    return unquote(unquote(text)).partition("#")[0].strip(" \"'")


def _caseless(text: str) -> Caseless:
    """`v1.0` is not `v10`: a mark between two digits stays one."""
    text = unaccented(text)
    if text.isalnum():
        return Caseless(caseless(text))
    parted = _BETWEEN_DIGITS.sub("\xb7", "".join(text.split()))
    return Caseless(unmarked(parted).replace(".", "") or text)


def doubt_of(condition: Condition, found: Subject, has: Has) -> Refused | None:
    """The refusal of what stands where `condition` looks, and is none of the values that are named there. `has`: what
    is known of these."""
    match found:
        case Text(text):
            advice = _doubt_of_json_text(text, has)
        case str():
            advice = _doubt_of_text(found, has)
        case Truth(bool()):
            advice = _doubt_of_truth(has)
        case Amount(amount):
            advice = _doubt_of_amount(amount, has)
        case None if isinstance(condition, JsonCondition):
            advice = _in_json(has) or _in_one_value(has)
        case Truth(None) if has("nothing"):
            advice = "Send what is meant, and no null; or leave it out."
        case Truth() | Absent() | Present() | Operation() | None:
            advice = None
    if advice is None and is_respelled(condition, found, has):
        advice = "Send it spelled as the policy spells it, alone; another word without a comma."
    if advice is None:
        return None
    why = f"a rule looks at {condition}, and APIs differ in what they take this value for"
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. {advice}", OF_VALUES)


def doubt_of_unmet(condition: Condition, request: Request, body: Body) -> Refused | None:
    """As `doubt_of`, of one condition that does not hold."""
    traits = frozenset(trait for value in condition.values for trait in traits_of(value))
    found = read_subject(condition, request, body)
    return None if isinstance(found, BodyWanted | Refused) else doubt_of(condition, found, traits.__contains__)


def _in_json(has: Has) -> str | None:
    """What to send in JSON where a boolean or a number is named; None where neither is."""
    kinds = [noun for kind, noun in _NOUNS if has(kind)]
    or_null = "" if has("nothing") else ", or null"
    return f"Send {' or '.join(kinds)} in JSON, without quotes{or_null}." if kinds else None


_NOUNS: tuple[tuple[Kind, str], ...] = (("boolean", "true or false"), ("number", "a number"))


def _in_one_value(has: Has) -> str | None:
    """What to send in place of a list or an object where a text is named: Fastify takes a list of one for what is in
    it, serde `{"board": null}` for `"board"`."""
    return "Send a single value, and no list or object." if _names_text(has) else None


def _names_text(has: Has) -> bool:
    return has("text") or has("truth") or has("bit")


def _in_text(has: Has) -> str:
    words = [word for word in _OTHERS if has(OtherWord(_OTHERS[word])) or has(OtherWord(word))]
    return f"Send it as text: {' or '.join(words)}." if words else "Send it as text, spelled as the policy spells it."


def _doubt_of_truth(has: Has) -> str | None:
    if has("number") and not has("boolean"):
        return _in_json(has)
    return _in_text(has) if has("truth") or has("bit") else None


def _doubt_of_amount(amount: Decimal, has: Has) -> str | None:
    is_bit = amount in _BITS
    if has("boolean") and (is_bit or not has("number")):
        return _in_json(has)
    if has("number") and (has(Decimal(floor(amount))) or has(Decimal(ceil(amount)))):
        return "Send a number without a fraction."
    if has("word") and not has("number"):
        return _in_text(has)
    return _in_text(has) if has(amount) or (is_bit and (has("truth") or has("bit"))) else None


def _doubt_of_json_text(text: str, has: Has) -> str | None:
    advice = _in_json(has)
    if advice is None:
        is_place = has("word") and _amount_of(text) is not None
        return _in_text(has) if is_place else _doubt_of_text(text, has)
    if not _names_text(has) or (has("boolean") and _is_truth_like(text)):
        return advice
    return _doubt_of_text(text, has)


def _doubt_of_text(text: str, has: Has) -> str | None:
    if has(OtherWord(text)):
        return None
    if _is_truth_like(text) and (has("truth") or has("bit")):
        return _in_text(has)
    # Of other texts Rails and Express make true, whatever they say.
    if has("truth") and not has("text"):
        return _in_text(has)
    amount = _amount_of(text)
    amount = _amount_in_code(text) if amount is None else amount
    return _in_text(has) if amount is not None and has(amount) else None


def _is_truth_like(text: str) -> bool:
    plain = text.strip()
    return len(plain) <= _LONGEST_WORD and plain.casefold() in _TRUTH_LIKE


def _amount_of(text: str) -> Decimal | None:
    return _exactly(plain_number(text))


def _amount_in_code(text: str) -> Decimal | None:
    return _exactly(coded_number(text))


def _exactly(number: float | None) -> Decimal | None:
    """As a policy and JSON spell what is no more than a double holds."""
    return None if number is None else Decimal(repr(number))
