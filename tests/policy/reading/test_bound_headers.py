"""A header that is called as what a rule looks for elsewhere, and does not find there."""

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET
from gateway.core.request import Headers
from gateway.policy.reading.bound_headers import header_named
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules


@pytest.mark.parametrize("header", ["isPurge", "Is-Purge", "IS_PURGE", "is.purge", "Is-Purge.x", "!isPurge", "ispurge"])
def test_a_header_is_told_in_any_spelling(header: str) -> None:
    """Spring drops the dashes and makes the first letter small."""
    fault = header_named(Headers(((b"Host", b"a"), (header.encode(), b"true"))), "is_purge")

    assert fault is not None
    assert fault.decision is AMBIGUOUS_TARGET
    assert header.lower() in fault.detail


@pytest.mark.parametrize("header", ["X-Is-Purge", "Purge", "Is", "Is-Purged", "Is-Purge-X"])
def test_another_header_makes_no_doubt(header: str) -> None:
    """It is another name."""
    assert header_named(Headers(((header.encode(), b"true"),)), "is_purge") is None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        *(("Range", "range"), ("Host", "host"), ("Origin", "origin"), ("Priority", "priority"), ("Pragma", "pragma")),
        *(("User-Agent", "userAgent"), ("Accept-Language", "accept_language"), ("Content-Type", "contentType")),
        *(("Authorization", "authorization"), ("Cookie", "cookie"), ("X-Api-Key", "x_api_key"), ("Token", "token")),
        *(("Fencing-Token", "fencing_token"), ("Idempotency-Key", "idempotency_key"), ("Prefer", "prefer")),
        *(("Sudo", "sudo"), ("X-Forwarded-For", "x_forwarded_for"), ("If-Match", "if_match"), ("Via", "via")),
    ],
)
def test_what_every_client_sends_makes_no_doubt(header: str, name: str) -> None:
    """A rule may look for a `priority` in the query, and close an `api_key` there."""
    assert header_named(Headers(((header.encode(), b"1"),)), name) is None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        *(("Date", "date"), ("From", "from"), ("Warning", "warning"), ("Digest", "digest"), ("If-Purge", "if_purge")),
        ("Request-Id", "requestId"),
        *(
            ("Content-Owner", "contentOwner"),
            ("Content-Disposition", "contentDisposition"),
            ("Accept-Terms", "acceptTerms"),
        ),
    ],
)
def test_what_only_begins_as_such_a_header_does_not_pass_for_one(header: str, name: str) -> None:
    """Nor do those that a client sends on purpose."""
    assert header_named(Headers(((header.encode(), b"1"),)), name) is not None


POLICY = """\
closed:
  - {when: {query: {purge: {present: true}}}}
  - {match: "PUT /docs/{id}", when: {form: {owner: {present: true}}}}
writes:
  - {name: draft, match: "PUT /docs/{id}", when: {query: {as: draft}}, resource: "doc/{path.id}"}
  - {name: write, match: "PUT /docs/{id}", resource: "doc/{path.id}"}
  - {name: named, match: PUT /named, resource: "doc/{query.doc}"}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("headers"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("method", "target", "header", "found"),
    [
        ("PUT", "/docs/7", ("X-Other", "1"), "write"),
        ("PUT", "/docs/7", ("Purge", "true"), "ambiguous-target"),
        ("GET", "/docs/7", ("Purge", "true"), "ambiguous-target"),
        ("PUT", "/docs/7", ("Owner", "8"), "ambiguous-target"),
        ("GET", "/docs/7", ("Owner", "8"), "read"),
        ("PUT", "/docs/7", ("As", "draft"), "ambiguous-target"),
        ("PUT", "/docs/7?as=draft", ("As", "final"), "draft"),
        ("PUT", "/docs/7?!as=draft", ("X-Other", "1"), "ambiguous-target"),
        ("PUT", "/docs/7", ("Id", "8"), "write"),
        ("PUT", "/named?doc=7", ("Doc", "8"), "named"),
    ],
)
def test_a_header_counts_where_a_rule_does_not_find_the_name(
    ruleset: RuleSet, method: str, target: str, header: tuple[str, str], found: str
) -> None:
    """What stands in query, form or path is taken before it."""
    assert name_of(ruleset.match(request(method, target, header), Caller())) == found
