"""What may stand at a name that a policy lists: one of some values, exactly.

Servers read one word in many spellings: the names of an enum in any case, with other marks, by number, several in a
list. What is not spelled as one that is listed is none of them, whoever would take it for one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.core.target import query_fields
from gateway.policy.condition import Amount, Scalar, Text, Truth, scalar
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.fields import read_header
from gateway.policy.reading.jsonbody import JsonValue
from gateway.policy.value_form import some_values

_WORDS = ("true", "false", "null")


@dataclass(frozen=True, slots=True)
class MemberValues:
    """Of a member of JSON, compared by type and value: one of `plain`, or a list of `items`, where there are any."""

    plain: frozenset[Scalar]
    items: frozenset[Scalar] | None = None

    def takes(self, value: JsonValue) -> bool:
        if isinstance(value, list):
            return self.items is not None and all(scalar(one) in self.items for one in value)
        return scalar(value) in self.plain

    def __str__(self) -> str:
        """What something else is, for people."""
        told = [f"none of {some_values(map(spelled, self.plain))}"] if self.plain else []
        if self.items is not None:
            told.append(f"no list of {some_values(map(spelled, self.items))}" if self.items else "no empty list")
        return " and ".join(told)


@dataclass(frozen=True, slots=True)
class NameValues:
    """By the name of a parameter, of a form's field or of a header the texts of which it must be one."""

    query: Mapping[str, frozenset[str]]
    form: Mapping[str, frozenset[str]]
    header: Mapping[str, frozenset[str]]

    def other_in_query(self, query: str) -> str | None:
        """What to say of the first parameter that is another one. Of several of one name each counts."""
        if not self.query:
            return None
        for name, value in query_fields(query):
            texts = self.query.get(name)
            if texts is not None and value not in texts:
                return _other(f"{name!r} of the query", texts)
        return None

    def other_in_headers(self, headers: Headers) -> Refused | str | None:
        """Likewise of headers. Refused: what two readers read in two ways."""
        for name, texts in self.header.items():
            found = read_header(headers, name)
            if isinstance(found, Refused):
                return found
            if found is not None and found not in texts:
                return _other(f"header {name!r}", texts)
        return None

    def other_in_form(self, body: Body, names: Iterable[str]) -> BodyWanted | Refused | str | None:
        """Likewise of a form that has fields of these names. Refused is a multipart one, of which values are not read,
        and one that has a field twice."""
        for name in names:
            texts = self.form.get(name)
            if texts is None:
                continue
            found = body.lacking("form") or body.field(name)
            if isinstance(found, BodyWanted | Refused):
                return found
            if found not in texts:
                return _other(f"{name!r} of the form", texts)
        return None


NO_VALUES = NameValues({}, {}, {})


def other_member(pointer: str, values: MemberValues) -> str:
    """What to say of a member of JSON that is another one."""
    return f"{pointer!r} of the body is {values}, which the policy lists"


def _other(what: str, texts: Iterable[str]) -> str:
    return f"{what} is none of {some_values(texts)}, which the policy lists"


def spelled(value: Scalar) -> str:
    """For people."""
    match value:
        case Text(text):
            # With quotes where it could be something else.
            return text if text[:1].isalpha() and text not in _WORDS else json.dumps(text, ensure_ascii=False)
        case Truth(told):
            return json.dumps(told)
        case Amount(amount):
            return str(amount)
    return "nothing"
