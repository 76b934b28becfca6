"""`fencegate explain`: which rule takes a request, asked of the policies as the gateway asks them."""

from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.output import json_option, print_json
from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.policy.answer import build_request
from gateway.policy.explain import explain
from gateway.policy.load import load_policies
from gateway.settings import environment


@click.command("explain")
@click.argument("method")
@click.argument("url")
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
@click.option("--body", help="The body, for rules that read it; @FILE reads a file.")
@json_option
def command(
    method: str, url: str, policies: Path, headers: tuple[str, ...], body: str | None, *, as_json: bool
) -> None:
    """Show which rule takes METHOD URL, and why each other rule does not. URL is what agents use, or its path."""
    loaded = load_policies(policies, environment())
    if isinstance(loaded, tuple):
        shown = "\n".join(str(finding) for finding in loaded)
        raise click.ClickException(f"{shown}\nThe policies have errors; correct them first.")
    explanation = explain(loaded, _request(method, url, headers, body), Caller())
    if as_json:
        print_json(asdict(explanation))
    else:
        click.echo(str(explanation))


def _request(method: str, url: str, headers: tuple[str, ...], body: str | None) -> Request:
    host, raw = _split(url)
    pairs = [_pair(header) for header in headers]
    if host and not any(name.lower() == b"host" for name, _ in pairs):
        pairs.append((b"Host", host.encode("utf-8")))
    request = build_request(method, raw, Headers(pairs), None if body is None else _body(body))
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
    return name.strip().encode("utf-8"), value.strip().encode("utf-8")


def _body(text: str) -> bytes:
    if not text.startswith("@"):
        return text.encode("utf-8")
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise click.BadParameter(f"{text[1:]} cannot be read: {error.strerror}", param_hint="--body") from None
