"""`fencegate explain`: which rule takes a request, asked of the policies as the gateway asks them."""

import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.loading import loaded
from gateway.cli.output import json_option, plain, print_json, print_table
from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.policy.finding import Wrong
from gateway.policy.review.answer import build_request, typed_as_json
from gateway.policy.review.explain import explain
from gateway.policy.review.har import read_har
from gateway.policy.review.traffic import judge, summary
from gateway.policy.ruleset import RuleSet


@click.command("explain")
@click.argument("method", required=False)
@click.argument("url", required=False)
@click.option(
    "--policies",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    envvar="FENCEGATE_POLICIES",
    help="Directory with the policy files.",
)
@click.option(
    "--header", "headers", metavar="'NAME: VALUE'", multiple=True, help="A header of the request; repeatable."
)
@click.option("--body", help="The body, for rules that read it: JSON, if no header says otherwise; @FILE reads a file.")
@click.option(
    "--har",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Judge the requests of an HTTP archive instead, without sending any.",
)
@click.option("--principal", metavar="NAME", help="Who asks.  [somebody who may write everything]")
@json_option
def command(
    method: str | None,
    url: str | None,
    policies: Path,
    headers: tuple[str, ...],
    body: str | None,
    har: Path | None,
    principal: str | None,
    *,
    as_json: bool,
) -> None:
    """Show which rule takes METHOD URL, and why each other rule does not. URL is what agents use, or its path.

    With --har: one line for each recorded request, and how many got each decision.
    """
    if har is not None:
        if method is not None or headers or body is not None:
            raise click.UsageError("--har brings its own requests; leave METHOD, URL, --header and --body out")
        ruleset = loaded(policies)
        _explain_archive(ruleset, har, _caller(ruleset, principal), as_json=as_json)
        return
    if method is None or url is None:
        raise click.UsageError("say what to explain: METHOD URL, or --har FILE")
    ruleset = loaded(policies)
    explanation = explain(ruleset, _request(method, url, headers, body), _caller(ruleset, principal))
    if as_json:
        print_json(asdict(explanation))
    else:
        click.echo(str(explanation))


def _caller(ruleset: RuleSet, principal: str | None) -> Caller:
    if principal is None:
        return Caller()
    caller = ruleset.principals.named(principal)
    if caller is None:
        known = ", ".join(sorted(set(ruleset.principals.names()))) or "none"
        raise click.BadParameter(f"there is no principal {principal}; there are: {known}", param_hint="--principal")
    return caller


def _explain_archive(ruleset: RuleSet, har: Path, caller: Caller, *, as_json: bool) -> None:
    recorded = read_har(har)
    if isinstance(recorded, Wrong):
        raise click.ClickException(recorded.message)
    judged = judge(ruleset, recorded, caller)
    if as_json:
        print_json({"requests": [asdict(each) for each in judged], "summary": summary(judged)})
        return
    rows = [
        (each.answer.decision, each.answer.rule, each.answer.resource, f"{each.method} {each.url}") for each in judged
    ]
    print_table(("DECISION", "RULE", "RESOURCE", "REQUEST"), rows)
    counted = ", ".join(f"{count} {decision}" for decision, count in summary(judged).items())
    click.echo(f"{len(judged)} requests{': ' if counted else ''}{counted}")
    why = Counter((each.answer.decision, each.answer.detail) for each in judged if each.answer.detail)
    for (decision, detail), count in why.most_common():
        click.echo(f"\n{count} {decision}: {plain(detail)}")


def _request(method: str, url: str, headers: tuple[str, ...], body: str | None) -> Request:
    host, raw = _split(url)
    pairs = [_pair(header) for header in headers]
    if host and not any(name.lower() == b"host" for name, _ in pairs):
        pairs.append((b"Host", os.fsencode(host)))
    made_up = Headers(pairs)
    given = None if body is None else _body(body)
    request = build_request(method, raw, typed_as_json(made_up) if given else made_up, given)
    if isinstance(request, Refused):
        raise click.ClickException(f"{request.decision.name}: {request.detail}")
    return request


def _split(url: str) -> tuple[str, str]:
    """Host and target. The target is not decoded or otherwise tidied up: it is judged as it would arrive."""
    scheme, mark, rest = url.partition("://")
    if not mark or "/" in scheme:
        return "", url
    host, slash, path = rest.partition("/")
    return host, slash + path if slash else "/"


def _pair(header: str) -> tuple[bytes, bytes]:
    name, colon, value = header.partition(":")
    if not colon or not name.strip():
        raise click.BadParameter("write 'NAME: VALUE'", param_hint="--header")
    # Byte for byte: not all that is sent is UTF-8.
    return os.fsencode(name.strip()), os.fsencode(value.strip())


def _body(text: str) -> bytes:
    if not text.startswith("@"):
        return os.fsencode(text)
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise click.BadParameter(f"{text[1:]} cannot be read: {error.strerror}", param_hint="--body") from None
