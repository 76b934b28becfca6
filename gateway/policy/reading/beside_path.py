"""What may be said beside the path of a name that the path has, to servers that keep the names of both in one map.

WordPress, Laravel's `$request->id` and Go's Echo take a value of the query or of the body before the path's own: that
write would be another resource's.
"""

from collections.abc import Mapping

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.target import query_fields
from gateway.policy.reading.formbody import Form
from gateway.policy.reading.formparts import FormParts
from gateway.policy.reading.jsonbody import JsonValue, Number
from gateway.policy.reading.lenient_name import folded, readings
from gateway.policy.reading.parameters import without_wide_escapes


def query_overrules(query: str, path: Mapping[str, str]) -> Refused | None:
    """The refusal of a query with another value for a placeholder of the path, two, or another spelling of its name:
    of `id[]=7` PHP and qs make a list, which is none of what `7` is. `path`: what each of them took.

    A semicolon separates parameters to some; nothing else that makes a query ambiguous brings a name into it.
    """
    own = [(folded(name), name, text) for name, text in path.items()]
    said: set[str] = set()
    for spelled, value in query_fields(query.replace(";", "&")):
        sent = without_wide_escapes(spelled)
        for reading in readings(sent):
            for key, name, text in own:
                if key != reading:
                    continue
                if sent != name or value != text or name in said:
                    return _elsewhere(name, "the query")
                said.add(name)
    return None


def json_overrules(value: JsonValue, path: Mapping[str, str]) -> Refused | None:
    """The refusal of a JSON body that has, at its top, another value of such a name."""
    if not isinstance(value, dict):
        return None
    own = [(folded(name), name, text) for name, text in path.items()]
    for member, found in value.items():
        for reading in readings(member):
            for key, name, text in own:
                if key == reading and not _is_same(found, text):
                    return _elsewhere(name, "the body")
    return None


def form_overrules(form: Form, path: Mapping[str, str]) -> Refused | None:
    """The refusal of a form that has another value of such a name, or two."""
    for name, text in path.items():
        found = form.field(name)
        if isinstance(found, Refused):
            return found
        if found not in (None, text):
            return _elsewhere(name, "the body")
    return None


def parts_overrule(parts: FormParts, path: Mapping[str, str]) -> Refused | None:
    """The refusal of a multipart body that has a part of such a name, whatever is in it."""
    named = next(filter(parts.has, path), None)
    return None if named is None else _elsewhere(named, "the body")


def _is_same(value: JsonValue, text: str) -> bool:
    """Whether the member says what the path says: a number by its spelling, nothing else than text and numbers."""
    return (value.spelled if isinstance(value, Number) else value) == text


def _elsewhere(name: str, where: str) -> Refused:
    detail = f"Nothing was forwarded: the path says what {name} is, and {where} says it too, in another way."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Servers differ in what they take. Send it in the path alone.", OF_NAMES)
