"""A directory becomes a rule set, whole or not at all."""

import os
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.format_ending import FormatEndings
from gateway.core.rule import (
    DEFAULT_OUTCOMES,
    Fence,
    IntentTerms,
    Limits,
    Mount,
    NativeKey,
    Origin,
    Timeouts,
    Upstream,
)
from gateway.core.target import read_target
from gateway.policy.finding import Finding
from gateway.policy.fingerprint import NO_FINGERPRINT, Fingerprint
from gateway.policy.load import load_policies
from gateway.policy.match import Matched
from gateway.policy.only import Only
from tests.policy.asking import HEAD, one_rule, request, rules

EXAMPLES = Path(__file__).parents[2] / "policies"


def findings(directory: Path, environ: dict[str, str] | None = None) -> tuple[Finding, ...]:
    loaded = load_policies(directory, environ or {})
    assert isinstance(loaded, tuple)
    return loaded


def test_what_is_not_written_has_its_default(tmp_path: Path) -> None:
    """A policy of five lines fences: monotonic, serial, by lease, the token in its own header."""
    ruleset = rules(tmp_path, one_rule())

    assert ruleset.upstreams == (Upstream("api", Origin("http", "127.0.0.1", 9000), probe=read_target("/")),)
    assert ruleset.entries[0].rule.fence == Fence()
    assert ruleset.entries[0].rule.authority == "lease"
    assert ruleset.upstreams[0].outcomes == DEFAULT_OUTCOMES


EVERYTHING = """\
upstream: reports
url: https://[2001:db8::1]:8443/v1/
mount:
  {path: /reports, host: Reports.Example.com, strip: true, encoded_slash: opaque, delimiters: opaque, plus: opaque,
    format_endings: [json, XML]}
host: preserve
reads: deny
read_only:
  - match: [POST /reports/search, "REPORT /reports/{path...}"]
    when: {query: {dry: '1'}}
closed:
  - {match: [GET /reports/dump, PUT /reports/dump], when: {query: {all: {present: true}}, header: {x-all: [a, b]}}}
  - when: {form: {all: {present: true}}}
timeouts: {connect: 250ms, total: 1m, late: 2h}
limits: {body: 64KiB, stream: 1GiB, response_head: 4096, connections: 7}
tls: {verify: false}
credentials:
  - {header: Authorization, value: "Bearer ${env:TOKEN}"}
token_from: [fencing-token, bearer]
capabilities:
  idempotency_key: {header: Idempotency-Key, retain: 24h}
  fencing_token: X-Fencing-Token
  conditional: true
  query: {request: 'GET /reports/by-key/{intent.key}', applied: {status: 200}, not_before: 5s}
outcomes: {not_applied: [4xx, 503], unknown: [409, 5xx]}
replay_headers: [X-Total, Retry-After]
probe: /reports/me?brief=1
defaults:
  fence: {order: strict, queue_timeout: 1s}
  token_from: basic
  intent: {mode: optional, key: ["{header.idempotency-key}", "{json:/id}"], fingerprint: [/to], retain: 2d}
writes:
  - name: replace
    mode: observe
    match: PUT /reports/{id}
    when: {json: {/kind: body}}
    only: {query: dry, json: [/kind, /id, /to]}
    resource: report/{path.id}
    authority: header
    revision: gateway
    fence: {concurrency: serial, drain_timeout: 3s, sequence: contiguous, after_unknown: continue}
    intent: {mode: required, store_response: 16MiB, on_unknown: retry}
    delivery: inline
    approval: none
    effect: {risk: high, weight: 3}
    budget: []
    on_stale: reject
    errors: problem
"""


def test_every_field_is_compiled(tmp_path: Path) -> None:
    """Every field of a policy is taken, and what this version acts on reaches the rule as written."""
    ruleset = rules(tmp_path, EVERYTHING)
    upstream = ruleset.upstreams[0]
    rule = ruleset.entries[0].rule

    assert upstream.origin == Origin("https", "2001:db8::1", 8443)
    assert upstream.base_path == "/v1"
    assert upstream.mount == Mount(
        *(("reports",), "reports.example.com"),
        strip=True,
        encoded_slash="opaque",
        delimiters="opaque",
        plus="opaque",
        format_endings=FormatEndings(frozenset({"json", "xml"})),
    )
    assert upstream.preserve_host
    assert upstream.reads == "deny"
    assert upstream.timeouts == Timeouts(0.25, 60.0, 7200.0)
    assert upstream.limits == Limits(65536, 1 << 30, 4096, 7)
    assert not upstream.tls.verify
    assert upstream.credentials == ((b"Authorization", b"Bearer s3cret-value"),)
    assert upstream.token_from == ("fencing-token", "bearer")
    assert upstream.epoch_header == b"X-Fencing-Token"
    assert {503, 400} <= upstream.outcomes.not_applied
    assert {409, 500} <= upstream.outcomes.unknown
    assert not upstream.outcomes.not_applied & upstream.outcomes.unknown
    assert rule.authority == "header"
    assert rule.revision == "gateway"
    assert rule.token_from == ("basic",)
    assert rule.fence == Fence("strict", "serial", 1.0, 3.0, "contiguous")
    assert rule.intent == IntentTerms("required", 172_800.0, 16 << 20, "retry")
    assert ruleset.query_of("reports") is not None
    assert ruleset.entries[0].only == Only(frozenset({"dry"}), {"kind": None, "id": None, "to": None})
    assert [(entry.anywhere, entry.closes_reads) for entry in ruleset.closed] == [(False, True), (True, False)]
    assert upstream.native_key == NativeKey(b"Idempotency-Key", 86_400.0)
    assert upstream.replay_headers == {b"x-total", b"retry-after"}
    assert upstream.probe == read_target("/reports/me?brief=1")
    assert (rule.mode, upstream.observes) == ("observe", True)


def test_an_upstream_need_not_be_probed(tmp_path: Path) -> None:
    """Where the network keeps all others out, its policy says so."""
    assert rules(tmp_path, f"{one_rule()}probe: off\n").upstreams[0].probe is None


def test_an_intent_is_compiled_where_it_is_on(tmp_path: Path) -> None:
    """A rule knows where its keys stand and what is compared; one without intents has neither, whatever is written."""
    text = (
        HEAD
        + "defaults: {intent: {key: ['{path.id}', '{header.idempotency-key}'], fingerprint: [/to, /subject]}}\n"
        + "writes:\n"
        + "  - {name: a, match: 'PUT /a/{id}', resource: r, intent: {mode: required}}\n"
        + "  - {name: b, match: 'PUT /b/{id}', resource: r, intent: {mode: optional, fingerprint: request}}\n"
        + "  - {name: c, match: 'PUT /c', resource: r}\n"
    )

    required, optional, off = rules(tmp_path, text).entries

    assert required.key is not None
    assert optional.key is not None
    assert [template.text for template in required.key.templates] == ["{path.id}", "{header.idempotency-key}"]
    assert (required.key.required, optional.key.required, off.key) == (True, False, None)
    assert [pointer.text for pointer in required.fingerprint.pointers] == ["/to", "/subject"]
    assert optional.fingerprint == Fingerprint(whole=True)
    assert off.fingerprint == NO_FINGERPRINT
    assert off.rule.intent == IntentTerms()


@pytest.mark.parametrize(
    ("on_unknown", "mode", "ask_after_s", "no_after_s"),
    [("query", "enforce", 5.0, 35.0), ("hold", "enforce", None, 0.0), ("query", "observe", None, 0.0)],
)
def test_an_unknown_intent_is_asked_about_only_where_the_rule_says_so(
    tmp_path: Path, on_unknown: str, mode: str, ask_after_s: float | None, no_after_s: float
) -> None:
    """The first time when the query's `not_before` has passed, and a no counts `timeouts.late` later; never where it is
    only observed.
    """
    query = "capabilities: {query: {request: 'GET /x?k={intent.key}', applied: {status: 200}, not_before: 5s}}\n"
    intent = f"    intent: {{mode: required, on_unknown: {on_unknown}}}\n    mode: {mode}\n"

    rule = rules(tmp_path, one_rule(more=intent) + query).entries[0].rule

    assert (rule.intent.ask_after_s, rule.intent.no_after_s) == (ask_after_s, no_after_s)


@pytest.mark.parametrize("guard", ["intent: {mode: required}", "intent: {mode: required, fingerprint: none}"])
def test_a_required_key_guards_a_high_risk(tmp_path: Path, guard: str) -> None:
    """Who repeats a write with its key gets the first answer: no capability of the upstream is wanted besides."""
    rules(tmp_path, one_rule(more=f"    effect: {{risk: high}}\n    {guard}\n"))


def test_a_key_that_the_upstream_honours_guards_a_high_risk(tmp_path: Path) -> None:
    """Whether or not agents send keys: what they send under one reaches the upstream under one."""
    more = "    effect: {risk: high}\n    intent: {mode: optional}\n"
    rules(tmp_path, one_rule(more=more) + "capabilities: {idempotency_key: Idempotency-Key}\n")


def test_a_credential_is_shown_nowhere(tmp_path: Path) -> None:
    """Neither the rule set nor a finding spells a credential's value."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret-value\n")
    text = HEAD + f"credentials: [{{header: X-Key, value: '${{file:{secret}}}'}}]\nwrites: []\n"
    ruleset = rules(tmp_path, text)

    assert ruleset.upstreams[0].credentials == ((b"X-Key", b"s3cret-value"),)
    assert "s3cret-value" not in repr(ruleset)

    secret.write_text("s3cret-value\r\nEvil: 1\n")
    told = findings(tmp_path)

    assert [finding.line for finding in told] == [3]
    assert "s3cret-value" not in str(told)


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 70_000])
def test_a_file_that_holds_no_credential_is_refused(tmp_path: Path, content: bytes) -> None:
    """Empty, binary and large files are other files than the one that was meant."""
    secret = tmp_path / "secret"
    secret.write_bytes(content)
    text = HEAD + f"credentials: [{{header: X-Key, value: '${{file:{secret}}}'}}]\n"
    (tmp_path / "policy.yaml").write_text(text)

    assert len(findings(tmp_path)) == 1


def test_an_empty_variable_is_no_credential(tmp_path: Path) -> None:
    """`TOKEN=` in the environment is a mistake, and not an empty password."""
    (tmp_path / "policy.yaml").write_text(HEAD + "credentials: [{header: X-Key, value: '${env:TOKEN}'}]\n")

    assert "TOKEN" in findings(tmp_path, {"TOKEN": ""})[0].message


@pytest.mark.parametrize("state", ["missing", "empty", "tests only", "a file"])
def test_a_directory_without_policies_is_an_error(tmp_path: Path, state: str) -> None:
    """An empty rule set would refuse every write, and nobody means that."""
    directory = tmp_path / "policies"
    if state == "a file":
        directory.write_text("")
    elif state != "missing":
        directory.mkdir()
    if state == "tests only":
        (directory / "a.test.yaml").write_text("cases: []\n")

    told = findings(directory)

    assert [finding.file for finding in told] == [str(directory)]


def test_a_file_that_cannot_be_read_is_shown(tmp_path: Path) -> None:
    """A broken link and a file that is not UTF-8 are findings, with the line where one can be told."""
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "text.yaml").write_bytes(b"upstream: api\nurl: \xff\n")

    told = findings(tmp_path)

    assert [(Path(finding.file).name, finding.line) for finding in told] == [("link.yaml", 1), ("text.yaml", 2)]


def test_one_bad_file_refuses_the_whole_directory(tmp_path: Path) -> None:
    """All or nothing: ninety-nine good rules and a bad one are no rule set."""
    good = "".join(f"  - {{name: r{at}, match: PUT /r{at}, resource: r}}\n" for at in range(99))
    (tmp_path / "good.yaml").write_text(HEAD + "writes:\n" + good)
    (tmp_path / "bad.yaml").write_text("upstream: bad\nurl: http://x\nmount: {path: /bad}\nwrites: [{name: a}]\n")

    assert {Path(finding.file).name for finding in findings(tmp_path)} == {"bad.yaml"}


def test_defaults_lie_under_every_rule(tmp_path: Path) -> None:
    """Mappings are merged member by member, all else is replaced; a rule's own word beats the default."""
    text = (
        HEAD
        + "defaults:\n  fence: {order: strict, sequence: increasing}\n  token_from: [basic, bearer]\n"
        + "writes:\n"
        + "  - {name: a, match: PUT /a, resource: r, fence: {order: monotonic}}\n"
        + "  - {name: b, match: PUT /b, resource: r, token_from: [fencing-token]}\n"
    )

    first, second = (entry.rule for entry in rules(tmp_path, text).entries)

    assert (first.fence.order, first.fence.sequence, first.token_from) == (
        "monotonic",
        "increasing",
        ("basic", "bearer"),
    )
    assert (second.fence.order, second.token_from) == ("strict", ("fencing-token",))


def test_conditions_on_one_pointer_order_many_rules(tmp_path: Path) -> None:
    """Thousands of rules for one path load, and none is asked for the wrong value."""
    text = (
        HEAD
        + "writes:\n"
        + "".join(
            f"  - {{name: r{at}, match: POST /rpc, resource: 'r/{at}', when: {{json: {{/tool: t{at}}}}}}}\n"
            for at in range(2000)
        )
    )
    ruleset = rules(tmp_path, text)

    found = ruleset.match(request("POST", "/rpc", body='{"tool": "t1234"}'), Caller())

    assert isinstance(found, Matched)
    assert found.entry.rule.name == "r1234"


def test_the_examples_are_one_directory_of_policies() -> None:
    """The policies that the project ships load together, without any setting."""
    assert not isinstance(load_policies(EXAMPLES, {}), tuple)


@pytest.mark.parametrize("host", ["a..example", "x" * 64, f"a.{'x' * 64}.example", "a\N{LATIN SMALL LETTER LONG S}b"])
def test_a_host_that_no_resolver_can_be_asked_for_is_an_error(tmp_path: Path, host: str) -> None:
    """A label has 1 to 63 characters: asked for another, a resolver fails as for no name that is merely unknown."""
    (tmp_path / "policy.yaml").write_text(f"{one_rule()}mount: {{host: {host}}}\n".replace("127.0.0.1", host))

    assert [found.line for found in findings(tmp_path)] == [2, 7]


@pytest.mark.parametrize("host", ["a_b", "x" * 63, "a.b-c.example", "1.2.3.4", "[::ffff:127.0.0.1]", "[::1]", "API.Ex"])
def test_every_other_host_may_be_named(tmp_path: Path, host: str) -> None:
    """Containers' names, addresses of both kinds, capitals."""
    text = f"{one_rule()}mount: {{host: '{host}'}}\n".replace("127.0.0.1:9000", f"{host}:9000")

    assert rules(tmp_path, text).upstreams[0].origin.port == 9000


def test_a_directory_that_is_exchanged_while_it_is_read_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a deployment puts in its place may be there only at the next look."""
    (tmp_path / "policy.yaml").write_text(one_rule())
    once = iter([tuple(tmp_path.iterdir())])
    monkeypatch.setattr(Path, "iterdir", lambda _: next(once, None) or os.scandir(tmp_path / "gone"))

    assert not isinstance(load_policies(tmp_path, {}), tuple)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what others may not")
def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """A file without permission is a finding."""
    path = tmp_path / "policy.yaml"
    path.write_text(one_rule())
    path.chmod(0)

    assert "cannot be read" in findings(tmp_path)[0].message
