"""Rules of an upstream that make one resource and do not agree how its values are spelled."""

from collections import defaultdict
from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.producers import Skeleton, skeleton
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet
from gateway.policy.value_form import NamedForm, ValueForm

# The more of them come before a form, the less it takes.
_LOOSE: tuple[NamedForm, ...] = (
    "unpadded",
    "base64",
    "base64url",
    "word",
    "lowercase",
    "uppercase",
    "integer",
    "date",
    "uuid",
    "ulid",
)
# Where nothing is said: of a path, and of all else.
_UNSAID = ("unreserved", "any")


def loose_spellings(rules: RuleSet) -> Iterator[Finding]:
    """A rule that takes more spellings of a resource's values than another one: to the API they may be one thing."""
    alike: defaultdict[tuple[str, Skeleton], list[Entry]] = defaultdict(list)
    for entry in rules.entries:
        alike[entry.rule.upstream.name, skeleton(entry.template)].append(entry)
    for entries in alike.values():
        strictest = max(entries, key=_strictness)
        for entry in entries:
            form = _looser(entry, strictest)
            if form is not None:
                yield warning(
                    entry,
                    f"makes the resources of rule `{strictest.rule.name}` ({strictest.matcher.place}), and takes "
                    f"spellings of them that that one refuses: `07` and `7` may be one to the API, and are two here; "
                    f"write `values: {_spelled(form)}` in both",
                )


def _strictness(entry: Entry) -> int:
    return sum(map(_rank, _forms(entry)))


def _looser(entry: Entry, strict: Entry) -> ValueForm | None:
    """The form that is wanted where the first differs."""
    pairs = zip(_forms(entry), _forms(strict), strict=True)
    return next((other for own, other in pairs if _rank(own) < _rank(other)), None)


def _rank(form: ValueForm) -> int:
    if isinstance(form, frozenset):
        return len(_LOOSE)
    return -1 if form in _UNSAID else _LOOSE.index(form)


def _spelled(form: ValueForm) -> str:
    return f"[{', '.join(sorted(form))}]" if isinstance(form, frozenset) else form


def _forms(entry: Entry) -> tuple[ValueForm, ...]:
    return tuple(part.form for part in entry.template.parts)
