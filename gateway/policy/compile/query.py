"""`capabilities.query`: the request that asks, and what its answers prove."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Literal, get_args

from gateway.core.rule import Mount
from gateway.core.target import Ambiguous, read_target
from gateway.policy import schema
from gateway.policy.condition import Scalar, parse_scalar
from gateway.policy.finding import Wrong
from gateway.policy.lenient.bare_plus import plus_fault
from gateway.policy.lenient.cut_path import is_divided
from gateway.policy.outcomes import parse_codes
from gateway.policy.query import SUCCESS, Bound, Comparison, Expected, Proof, Query, Subject
from gateway.policy.reading.jsonbody import parse_pointer
from gateway.policy.report import Report
from gateway.policy.source import Path

_PATH: Path = ("capabilities", "query")
_METHODS: dict[str, Literal["GET", "HEAD"]] = {"GET": "GET", "HEAD": "HEAD"}
_SUBJECTS: dict[str, Subject] = {name: name for name in get_args(Subject)}
_COMPARISONS: dict[str, Comparison] = {sign: sign for sign in get_args(Comparison)}
_BRACES = re.compile(r"\{([^{}]*)\}")
_BOUND = re.compile(r"([<>]=?) *(-?[0-9]{1,20}(?:\.[0-9]{1,20})?)")
# These speak of whoever asks, or of the moment, and never of an intent: a class such as 4xx does not take them in.
_OF_THE_ASKER = frozenset({401, 403, 406, 407, 408, 425, 429})


def compile_query(report: Report, shape: schema.Query | None, mount: Mount) -> Query | None:
    """The query; None if there is none, or with its faults noted."""
    if shape is None:
        return None
    asking = report.take((*_PATH, "request"), _asking(shape.request, mount))
    proofs = [_proof(report, name, form) for name, form in _forms(shape)]
    if shape.applied is None and shape.not_applied is None:
        report.add(_PATH, "no answer would prove anything; write `applied` or `not_applied`, such as `{status: 200}`")
    if asking is None:
        return None
    if asking.method == "HEAD":
        for name, form in _forms(shape):
            if form is not None and form.json_:
                report.add((*_PATH, name, "json"), "an answer to HEAD has no body; ask with GET, or compare the status")
    applied, not_applied, duplicated = proofs
    return replace(
        asking, applied=applied, not_applied=not_applied, duplicated=duplicated, not_before_s=shape.not_before
    )


def _forms(shape: schema.Query) -> Iterator[tuple[str, schema.Evidence | None]]:
    yield "applied", shape.applied
    yield "not_applied", shape.not_applied
    yield "duplicated", shape.duplicated


def _asking(text: str, mount: Mount) -> Query | Wrong:
    """The query's method and target; what proves something is not in it yet."""
    method, _, raw = text.partition(" ")
    if method not in _METHODS or not raw.startswith("/"):
        return Wrong(
            f"`{text}` asks nothing; write GET or HEAD, one blank and a path, such as `GET /x/{{intent.upstream_key}}`"
        )
    pieces = _BRACES.split(raw)
    texts, names = tuple(pieces[::2]), pieces[1::2]
    unknown = next((name for name in names if name not in _SUBJECTS), None)
    if unknown is not None:
        return Wrong(
            f"`{{{unknown}}}` is nothing of an intent; write {', '.join(f'`{{{name}}}`' for name in _SUBJECTS)}"
        )
    if any("{" in piece or "}" in piece for piece in texts):
        return Wrong(f"`{raw}` has a single brace; write a placeholder as `{{intent.upstream_key}}`")
    if not names:
        return Wrong(
            "this would ask the same of every intent; write `{intent.upstream_key}` or another of its parts into it"
        )
    wrong = target_fault(_BRACES.sub(r"\1", raw), mount)
    if wrong:
        return wrong
    subjects = tuple(_SUBJECTS[name] for name in names)
    return Query(_METHODS[method], texts, subjects, mount=mount)


def target_fault(sample: str, mount: Mount) -> Wrong | None:
    """What is wrong with a request's target, whatever is filled into it."""
    target = read_target(sample)
    if isinstance(target, Ambiguous):
        return Wrong(f"no request can have this target: {target.why}; spell it as clients send it, percent-encoded")
    if target.has_encoded_slash and mount.encoded_slash == "refuse":
        return Wrong(
            "the path has an encoded slash (%2F), which `mount.encoded_slash: refuse` refuses; use another path"
        )
    fault = plus_fault(target.path, mount)
    if fault is not None:
        return Wrong(fault)
    if is_divided(target, mount):
        return Wrong(
            "the path has a `&`, an escaped `?`, `#` or `&`, or an escaped escape, which `mount.delimiters: refuse` "
            "refuses; use another path"
        )
    if target.segments[:2] == ("-", "fence"):
        return Wrong("`/-/fence/` is the gateway's own and no upstream's; write another path")
    if target.segments[: len(mount.segments)] != mount.segments:
        return Wrong(f"this path is outside the mount; write it as agents would, behind `/{'/'.join(mount.segments)}`")
    return None


def _proof(report: Report, name: str, shape: schema.Evidence | None) -> Proof | None:
    if shape is None:
        return None
    path: Path = (*_PATH, name)
    if shape.status is None and not shape.json_:
        report.add(path, "this would hold for every answer; write `status: 200` or `json: {/pointer: value}`")
    statuses = SUCCESS if shape.status is None else report.take((*path, "status"), _statuses(shape.status))
    expected = tuple(_expected(report, path, text, values) for text, values in shape.json_.items())
    return Proof(statuses or SUCCESS, tuple(one for one in expected if one is not None))


def _statuses(values: list[object]) -> frozenset[int] | Wrong:
    codes = parse_codes(values)
    if isinstance(codes, Wrong):
        return codes
    exact, classed = codes
    return exact | (classed - _OF_THE_ASKER)


def _expected(report: Report, path: Path, text: str, values: list[object]) -> Expected | None:
    """What is expected at one pointer; None with its fault noted."""
    where: Path = (*path, "json", text)
    pointer = report.take_key(where, parse_pointer(text))
    plain: set[Scalar] = set()
    bounds: list[Bound] = []
    for at, value in enumerate(values):
        match _wanted(value):
            case Wrong() as wrong:
                report.take((*where, at), wrong)
            case Bound() as bound:
                bounds.append(bound)
            case wanted:
                plain.add(wanted)
    return None if pointer is None else Expected(pointer, frozenset(plain), tuple(bounds))


def _wanted(value: object) -> Scalar | Bound | Wrong:
    """A value as it is, or what a number is compared with."""
    if not isinstance(value, str) or not value.startswith((">", "<")):
        return parse_scalar(value)
    found = _BOUND.fullmatch(value)
    if found is None:
        return Wrong(f'`{value}` compares with no number; write such as `">1"`')
    return Bound(_COMPARISONS[found[1]], Decimal(found[2]))
