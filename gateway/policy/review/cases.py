"""`*.test.yaml`: requests and what the policies beside them are to say, asked of the same code as the data path."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictStr

from gateway.core.caller import ANONYMOUS, DEFAULT_TENANT
from gateway.core.caller import Caller as CoreCaller
from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.policy.entry import Place
from gateway.policy.finding import Finding
from gateway.policy.load import load_policies, read_file
from gateway.policy.review.answer import Answer, answer, build_request, typed_as_json
from gateway.policy.ruleset import RuleSet
from gateway.policy.schema import Shape, Texts
from gateway.policy.shape import check_shape
from gateway.policy.source import Source


def _spelled_out(value: object) -> object:
    """`PUT /reports/7` stands for a request without headers and body."""
    if not isinstance(value, str):
        return value
    method, _, target = value.partition(" ")
    if not target.startswith("/") or " " in target:
        raise ValueError("a request is a method, one blank and a target; write such as `PUT /reports/7`")
    return {"method": method, "target": target}


class _Request(Shape):
    method: StrictStr
    target: StrictStr
    headers: dict[StrictStr, Texts] = {}
    body: StrictStr = ""


class _Caller(Shape):
    principal: StrictStr = ANONYMOUS
    tenant: StrictStr = DEFAULT_TENANT


class _Expected(Shape):
    decision: Literal[
        "forwarded",
        "observed",
        "passed",
        "no-policy",
        "forbidden",
        "no-upstream",
        "reads-denied",
        "resource-unresolved",
        "ambiguous-target",
        "bad-request",
        "unsupported-coding",
        "body-too-large",
        "token-malformed",
        "header-malformed",
        "idempotency-key-required",
    ]
    upstream: StrictStr | None = None
    rule: StrictStr | None = None
    authority: StrictStr | None = None
    resource: StrictStr | None = None
    intent_key: StrictStr | None = None
    mode: Literal["observe"] | None = None
    would: StrictStr | None = None


class _Case(Shape):
    name: StrictStr
    request: Annotated[_Request, BeforeValidator(_spelled_out)]
    caller: _Caller = _Caller()
    expect: _Expected


class _File(Shape):
    cases: Annotated[list[_Case], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case. `failure` says what was wanted and what came; None if the case holds."""

    name: str
    place: Place
    failure: str | None

    def __str__(self) -> str:
        return f"{self.place}: {self.name}: {self.failure or 'ok'}"


@dataclass(frozen=True, slots=True)
class CaseReport:
    """All cases of a directory, and what is wrong with its policies or test files. With findings nothing was run."""

    results: tuple[CaseResult, ...]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        return not self.findings and all(result.failure is None for result in self.results)


def run_cases(directory: Path, environ: Mapping[str, str]) -> CaseReport:
    """Run every `*.test.yaml` of a directory against its policies. A directory without any is a finding."""
    ruleset = load_policies(directory, environ)
    if not isinstance(ruleset, RuleSet):
        return CaseReport((), ruleset)
    paths = sorted(directory.glob("*.test.yaml"))
    if not paths:
        message = "there is no test file here; write one that ends in `.test.yaml`"
        return CaseReport((), (Finding(str(directory), 1, 1, message),))
    ran = [one for path in paths for one in _run_file(path, ruleset)]
    findings = tuple(one for one in ran if isinstance(one, Finding))
    return CaseReport(() if findings else tuple(one for one in ran if isinstance(one, CaseResult)), findings)


def _run_file(path: Path, ruleset: RuleSet) -> Iterator[CaseResult | Finding]:
    source = read_file(path)
    if not isinstance(source, Source):
        yield from source
        return
    shape = check_shape(source, _File)
    if not isinstance(shape, _File):
        yield from shape
        return
    for at, case in enumerate(shape.cases):
        position = source.at(("cases", at))
        place = Place(source.file, position.line, position.column)
        yield CaseResult(case.name, place, _failure(case, ruleset))


def _failure(case: _Case, ruleset: RuleSet) -> str | None:
    told = _told(case, ruleset)
    wrong = [
        f"{field} `{getattr(told, field)}`, not `{wanted}`"
        for field, wanted in case.expect
        if wanted is not None and wanted != getattr(told, field)
    ]
    return f"got {', '.join(wrong)}" + (f" ({told.detail})" if told.detail else "") if wrong else None


def _told(case: _Case, ruleset: RuleSet) -> Answer:
    pairs = [(name.encode(), value.encode()) for name, values in case.request.headers.items() for value in values]
    headers, body = Headers(pairs), case.request.body.encode()
    request = build_request(case.request.method, case.request.target, typed_as_json(headers) if body else headers, body)
    if isinstance(request, Refused):
        return Answer(request.decision.name, detail=request.detail)
    return answer(ruleset, request, _caller(case.caller, ruleset))


def _caller(caller: _Caller, ruleset: RuleSet) -> CoreCaller:
    """The principal of that name with its rights and its tenant, where there is one."""
    known = ruleset.principals.named(caller.principal)
    return known or CoreCaller(caller.principal, caller.tenant)
