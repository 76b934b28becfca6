"""A kept request is judged anew: by the rules in force, as its agent's own repeat would be."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.call import Call
from gateway.core.compensation import Unavailable
from gateway.core.kept_request import KeptRequest
from gateway.core.parking import Approval
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.flow.rejudging import NotTaken, Rejudged, judge_again, lacks_approval
from gateway.policy.principals import digest_key
from tests.flow.queueing import record
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
mount: {path: /mails}
limits: {body: 1KiB}
read_only:
  - {match: POST /mails/search}
writes:
  - name: send
    match: POST /mails/{box}
    when: {json: {/kind: mail}, header: {x-folder: out}}
    resource: "{tenant}/{path.box}"
    intent: {mode: required}
    delivery: queued
    effect: {compensation: {request: "DELETE /mails/{path.box}/{response.json:/id}?by={json:/from}&of={tenant}"}}
  - {name: mark, match: "PUT /mails/{box}", resource: "box/{path.box}"}
"""
BODY = b'{"kind": "mail", "from": "ann"}'
HEADERS = ((b"Content-Type", b"application/json"), (b"X-Folder", b"out"))
KEPT = KeptRequest("POST", "/mails/in", HEADERS, BODY)


def kept_record(rule: str = "send") -> IntentRecord:
    return replace(record(rule=rule), upstream="mails", resource=ResourceKey("acme/in"), tenant="acme", principal="ann")


FROM = "when: {json: {/from: {present: true}}}"


async def judged(directory: Path, policy: str = POLICY, kept: KeptRequest = KEPT) -> Rejudged | NotTaken:
    return await judge_again(kept_record(), kept, rules(directory, policy))


async def test_what_its_rule_takes_is_the_write_that_it_was(tmp_path: Path) -> None:
    """The record's epoch, holder, key and principal; the rule as it is in force now."""
    found = await judged(tmp_path)

    assert isinstance(found, Rejudged) and found.write.intent is not None
    told = found.write.rule.name, found.write.resource, found.write.epoch, found.write.holder, found.write.principal
    assert told == ("send", "acme/in", 42, "a", "ann")
    assert (found.write.intent.key, found.write.intent.tenant) == ("k-1", "acme")
    assert (found.request.method, found.request.body) == ("POST", None)


async def test_a_tools_call_is_the_call_that_it_was(tmp_path: Path) -> None:
    """It is sent under an id of its own, as when its caller waits."""
    policy = POLICY.replace("url:", "protocol: mcp\nurl:").replace("POST /mails/{box}", "POST /mails")
    policy = policy.replace("/kind: mail", "/method: tools/call").replace("{path.box}", "in")
    policy = "\n".join(line for line in policy.splitlines() if not line.startswith(("    effect", "  - {name: mark")))
    call = b'{"jsonrpc": "2.0", "id": 7.0, "method": "tools/call", "params": {"name": "send"}}'

    found = await judged(tmp_path, policy, replace(KEPT, target="/mails", body=call))

    assert isinstance(found, Rejudged)
    assert found.write.call == Call("7", b"7.0", 25)


async def test_a_body_in_a_coding_is_read_too(tmp_path: Path) -> None:
    """As when it came: where the API undoes codings."""
    coded = replace(KEPT, headers=(*HEADERS, (b"Content-Encoding", b"gzip")), body=gzip.compress(BODY, mtime=0))
    undoing = POLICY.replace("path: /mails", "path: /mails, coded_bodies: undone")

    assert isinstance(await judged(tmp_path, undoing, coded), Rejudged)
    assert isinstance(await judged(tmp_path, kept=coded), NotTaken)


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("POST /mails/{box}", "POST /mails/new/{box}", "no rule takes it"),
        ("path: /mails", "path: /", "no rule takes it"),
        ("path: /mails", "path: /mails, bodies: [form]", "no rule takes it"),
        ("upstream: mails", "upstream: letters", "rule send of upstream letters takes it, and not send"),
        ("name: send", "name: post", "rule post of upstream mails takes it, and not send"),
        ("/kind: mail", "/kind: letter", "no rule takes it"),
        ("x-folder: out", "x-folder: drafts", "no rule takes it"),
        ('"{tenant}/{path.box}"', '"box/{path.box}"', "rule send finds another resource in it"),
        ('"{tenant}/{path.box}"', '"box/{json:/to}"', "rule send finds another resource in it"),
        ("    delivery", "    values: [out]\n    delivery", "rule send finds another resource in it"),
        ("writes:", "closed: [{match: POST /mails/in}]\nwrites:", "no rule takes it"),
        ("writes:", f"closed: [{{match: 'POST /mails/{{box}}', {FROM}}}]\nwrites:", "no rule takes it"),
        ("    delivery", "    only: {json: [/kind, {/from: [ben]}]}\n    delivery", "no rule takes it"),
        ("    delivery: queued\n", "", "rule send keeps no write for later"),
        ("/mails/search", "/mails/in", "it counts as a read"),
        ("body: 1KiB", "body: 10B", "its body is larger than `limits.body`"),
    ],
    ids=[
        "another path", "another mount", "other bodies", "another upstream", "another name", "another body",
        "another field", "another resource", "no resource", "other ids", "a closed path", "a closed member",
        "other values", "sent at once", "a read", "too large",
    ],
)  # fmt: skip
async def test_what_its_rule_no_longer_takes_is_not_its_write(was: str, now: str, why: str, tmp_path: Path) -> None:
    """Whatever of the policy has changed; the reason says what."""
    assert POLICY.count(was) == 1
    policy = POLICY.replace(was, now)
    if "mount: {path: /}" in policy:
        policy = policy.replace("POST /mails/{box}", "POST /post/{box}").replace("PUT /mails", "PUT /post")

    found = await judged(tmp_path, policy)

    assert found == NotTaken(why)
    assert isinstance(found, NotTaken) and found.reason == f"the policy no longer takes it: {why}"


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (replace(KEPT, target="no target"), "its target can be read in two ways"),
        (replace(KEPT, body=b'{"kind": "mail", "kind": "x"}'), "it would be refused as ambiguous-target"),
        (replace(KEPT, headers=(*HEADERS, (b"Content-Encoding", b"br"))), "it would be refused as unsupported-coding"),
    ],
    ids=["no target", "a doubled name", "an unknown coding"],
)
async def test_what_would_be_refused_is_not_sent(kept: KeptRequest, why: str, tmp_path: Path) -> None:
    """For its form, as an agent's own would be."""
    assert await judged(tmp_path, kept=kept) == NotTaken(why)


async def test_the_lists_of_now_count(tmp_path: Path) -> None:
    """Those that allow all of it let it go; where names are merged, its body names no other box."""
    listed = POLICY.replace("    delivery", "    only: {json: [/kind, /from], header: []}\n    delivery")
    merged = POLICY.replace("path: /mails", "path: /mails, names: merged")
    other = replace(KEPT, body=b'{"kind": "mail", "from": "ann", "box": "out"}')

    assert isinstance(await judged(tmp_path, listed), Rejudged)
    assert await judged(tmp_path, listed, other) == NotTaken("no rule takes it")
    assert isinstance(await judged(tmp_path, merged), Rejudged)
    assert await judged(tmp_path, merged, other) == NotTaken("it would be refused as ambiguous-target")


@pytest.mark.parametrize(
    ("principals", "why"),
    [
        ("ann, tenant: acme, resources: ['acme/in']", None),
        ("ann, tenant: acme, resources: ['acme/out']", "principal ann has no right to the resource any more"),
        ("ann, tenant: north, resources: ['**']", "principal ann is of another tenant now"),
        ("bob, tenant: acme, resources: ['**']", "principal ann is not there any more"),
    ],
    ids=["still has it", "lost the resource", "another tenant", "revoked"],
)
async def test_what_its_sender_may_no_longer_write_is_not_sent(
    principals: str, why: str | None, tmp_path: Path
) -> None:
    """Rights count when it is sent: between the request and its delivery they may have been taken away."""
    key = digest_key(b"a-key-of-ann-0123456789").hex()
    told = f"principals:\n  - {{name: {principals}, key: 'sha256:{key}'}}\n"
    (tmp_path / "principals.yaml").write_text(told, "utf-8")

    found = await judged(tmp_path)

    assert isinstance(found, Rejudged) if why is None else found == NotTaken(why)


async def test_what_came_without_a_key_is_nobodys_where_all_have_one(tmp_path: Path) -> None:
    """It was taken when everybody might do everything."""
    key = digest_key(b"a-key-of-ann-0123456789").hex()
    told = f"principals:\n  - {{name: ann, tenant: acme, key: 'sha256:{key}', resources: ['**']}}\n"
    (tmp_path / "principals.yaml").write_text(told, "utf-8")

    found = await judge_again(replace(kept_record(), principal=""), KEPT, rules(tmp_path, POLICY))

    assert found == NotTaken("it was sent without a key")


async def test_a_compensation_is_filled_from_the_request_that_was_kept(tmp_path: Path) -> None:
    """Its body too, and who had sent it."""
    found = await judged(tmp_path)

    assert isinstance(found, Rejudged) and found.write.compensating is not None
    undo = found.write.compensating.render((), b'{"id": 7}')
    assert not isinstance(undo, Unavailable)
    assert (undo.method, undo.target) == ("DELETE", "/mails/in/7?by=ann&of=acme")


@pytest.mark.parametrize(
    ("approval", "lacks"),
    [(None, True), (Approval("awaited", 1), True), (Approval("given", 1, "anna"), False)],
    ids=["none", "awaited", "given"],
)
async def test_a_rule_that_wants_an_approval_now(approval: Approval | None, lacks: bool, tmp_path: Path) -> None:
    """Sends only what has one."""
    found = await judged(tmp_path, POLICY.replace("delivery: queued", "approval: required"))

    assert isinstance(found, Rejudged)
    assert lacks_approval(record(approval=approval), found.write.rule) is lacks
