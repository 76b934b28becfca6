"""The policies in force, and reading them again."""

from dataclasses import asdict

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.document import read_document
from gateway.admin.running import RUNNING
from gateway.core.decision import POLICIES_INVALID, Refused
from gateway.core.rule import Upstream
from gateway.policy.entry import Entry
from gateway.policy.part import Part
from gateway.policy.ruleset import RuleSet


async def list_policies(request: web.Request) -> web.Response:
    """Each upstream with its rules; credentials are not shown."""
    rules = request.app[RUNNING].rules()
    return page([_policy(rules, upstream) for upstream in rules.upstreams])


async def reload_policies(request: web.Request) -> web.Response:
    """All or nothing: bad files leave the running set in force, and are answered with what is wrong with them."""
    document = await read_document(request, frozenset())
    if isinstance(document, Refused):
        return refusal(document)
    findings = await request.app[RUNNING].reload()
    if not findings:
        return web.json_response({"status": "loaded"})
    refused = Refused(POLICIES_INVALID, "The policies in force stay as they were. Correct the files and reload again.")
    return refusal(refused, {"findings": [asdict(finding) for finding in findings]})


def _policy(rules: RuleSet, upstream: Upstream) -> dict[str, object]:
    return {
        "upstream": upstream.name,
        "url": f"{upstream.origin.scheme}://{upstream.origin.authority}{upstream.base_path}",
        "mount": {"path": "/" + "/".join(upstream.mount.segments), "host": upstream.mount.site},
        "reads": upstream.reads,
        "read_only": sum(entry.matcher.upstream is upstream for entry in rules.read_only),
        "closed": sum(entry.matcher.upstream is upstream for entry in rules.closed),
        "rules": [_rule(entry) for entry in rules.entries if entry.rule.upstream is upstream],
    }


def _rule(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.rule.name,
        "match": [pattern.text for pattern in entry.matcher.patterns],
        "resource": entry.template.text,
        "authority": entry.rule.authority,
        "mode": entry.rule.mode,
        "intent": entry.rule.intent.mode,
        "parks": entry.rule.parks,
        "on_stale": entry.rule.on_stale,
        "risk": entry.rule.risk,
        "compensated": entry.compensation is not None,
        "only": entry.only is not None,
        "values": {part.text: _form(part) for part in (*entry.template.parts, *entry.places) if part.form != "any"},
    }


def _form(part: Part) -> str | list[str]:
    """How its values are spelled; or all that there are."""
    return part.form if isinstance(part.form, str) else sorted(part.form)
