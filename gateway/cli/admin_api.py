"""A caller of a running gateway's admin API, as far as the commands need one."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import islice
from ssl import SSLCertVerificationError, SSLContext, create_default_context
from urllib.parse import quote, urlencode, urlsplit

import click

from gateway.cli.output import Item, plain, tell_incomplete
from gateway.settings import environment

_WITHIN_S = 30.0
_SENDABLE = re.compile("[\x21-\x7e]+")
_AS_COMMANDS = {
    "`GET /api/v1/intents/ID`": "`fencegate intents show ID`",
    "`GET /api/v1/pauses`": "`fencegate pauses`",
    "`GET /api/v1/quarantine`": "`fencegate quarantine`",
    "`GET /api/v1/store`": "`fencegate store`",
    '{"all": true}': "--all",
}

admin_option = click.option(
    "--admin",
    metavar="HOST:PORT",
    envvar="FENCEGATE_ADMIN",
    default="127.0.0.1:8081",
    help="The gateway's admin listener, or a URL in front of it.  [127.0.0.1:8081]",
)
limit_option = click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=100, help="Show at most the N newest.  [100]"
)


class Problem(click.ClickException):
    """What the API refused. `type`: the problem's own, by which a command tells one kind from another."""

    def __init__(self, message: str, type: object) -> None:
        super().__init__(message)
        self.type = type


class _Answer(dict[str, object]):
    """An object of an answer. What every gateway says is looked up without asking whether it is there; an answer that
    lacks it is somebody else's.
    """

    def __missing__(self, name: str) -> object:
        raise click.ClickException(f"What answers there is no gateway's admin listener (no `{name}`); see --admin.")


@dataclass(frozen=True, slots=True)
class AdminApi:
    """Where a gateway's admin listener is, and the token that it wants, if any. `ca`: a PEM file, else the system's.

    `key`: an approver's, where principals are configured.
    """

    scheme: str
    netloc: str
    token: str | None
    ca: str | None = None
    key: str | None = None

    def get(self, path: str) -> dict[str, object]:
        """The JSON document that the gateway answers. Raises ClickException with what to do instead."""
        return _read(*self._exchange("GET", path, None))

    def download(self, path: str) -> bytes:
        """What the gateway answers, byte for byte. Raises ClickException with what to do instead."""
        status, body = self._exchange("GET", path, None)
        if status != 200:
            _read(status, body)
        return body

    def post(self, path: str, document: dict[str, object]) -> dict[str, object]:
        """As `get`, for calls that change something."""
        return _read(*self._exchange("POST", path, document))

    def delete(self, path: str, document: dict[str, object] | None = None) -> dict[str, object]:
        """As `post`, for calls that end something."""
        return _read(*self._exchange("DELETE", path, document))

    def items(self, path: str, query: Mapping[str, str | None]) -> Iterator[Item]:
        """All items of a list, page after page, as they are asked for. That some may be missing is said on standard
        error, and by the command's status.
        """
        asked = {name: value for name, value in query.items() if value}
        while True:
            page = self.get(f"{path}?{urlencode(asked, errors='replace')}" if asked else path)
            items, following = items_of(page), page["next"]
            if "incomplete" in page:
                tell_incomplete(page["incomplete"])
            yield from items
            if following is None:
                return
            asked["cursor"] = str(following)

    def newest(self, path: str, query: Mapping[str, str | None], limit: int) -> list[Item]:
        """The first `limit` items of a list; that there are more is said on standard error."""
        return at_most(self.items(path, query), limit)

    def _connection(self) -> HTTPConnection:
        if self.scheme == "https":
            return HTTPSConnection(self.netloc, timeout=_WITHIN_S, context=_trust(self.ca))
        return HTTPConnection(self.netloc, timeout=_WITHIN_S)

    def _exchange(self, method: str, path: str, document: dict[str, object] | None) -> tuple[int, bytes]:
        """Status and body of the answer, whatever it says."""
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.key:
            headers["Fencegate-Key"] = self.key
        if document is not None:
            headers["Content-Type"] = "application/json"
        try:
            with closing(self._connection()) as connection:
                connection.request(method, path, None if document is None else json.dumps(document), headers)
                response = connection.getresponse()
                status, body = response.status, response.read()
        except SSLCertVerificationError as error:
            raise click.ClickException(
                f"{self.netloc} shows a certificate that is not trusted here ({error.verify_message}). Set "
                "FENCEGATE_ADMIN_CA to a PEM file with its authority, and name the host as the certificate does."
            ) from None
        except (OSError, UnicodeError, HTTPException) as error:
            # UnicodeError: no resolver is even asked for such a host.
            raise click.ClickException(
                f"No gateway answers at {self.scheme}://{self.netloc} ({error}). "
                "Start one with `fencegate serve`, or name its admin listener with --admin."
            ) from None
        if response.getheader("Fencing-Decision") is not None:
            raise click.ClickException(
                f"{self.netloc} is no admin listener: agents' requests are taken there. "
                "Name with --admin what the gateway was started with, by default 127.0.0.1:8081."
            )
        if status == 401:
            raise click.ClickException(self._unauthenticated(body))
        return status, body

    def _unauthenticated(self, body: bytes) -> str:
        """The admin listener names the header that it misses: its own token, or the key of an approver."""
        if b"Fencegate-Key" in body:
            name, what = "FENCEGATE_KEY", "the key of a principal that may approve"
            shown = self.key
        else:
            name, what, shown = "FENCEGATE_ADMIN_TOKEN", "its admin token", self.token
        if shown:
            return f"The gateway wants {what}, and {name} is another one."
        return f"The gateway wants {what}: set {name}."


def items_of(page: Item) -> list[Item]:
    """Those of one page of a list."""
    items = page["items"]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise click.ClickException("What answers there is no gateway's admin listener (strange `items`); see --admin.")
    return items


def at_most(items: Iterable[Item], limit: int) -> list[Item]:
    """The first `limit` of them; that there are more is said on standard error."""
    found = list(islice(items, limit + 1))
    if len(found) > limit:
        click.echo(f"There are more than {limit}: --limit N shows more.", err=True)
    return found[:limit]


def _trust(ca: str | None) -> SSLContext:
    try:
        return create_default_context(cafile=ca)
    except OSError as error:
        # SSLError is one too: what is there holds no certificate.
        raise click.ClickException(
            f"FENCEGATE_ADMIN_CA names {ca}, which is no readable PEM file of authorities ({error.strerror or error})."
        ) from None


def _read(status: int, body: bytes) -> dict[str, object]:
    try:
        answer = json.loads(body, object_hook=_Answer)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise click.ClickException(f"What answers there is no gateway's admin listener (status {status}); see --admin.")
    if status >= 400:
        told = _for_commands(plain(answer.get("detail", f"status {status}")))
        raise Problem("\n".join((*_findings(answer), told, *_next_step(answer))), answer.get("type"))
    return answer


def _for_commands(detail: str) -> str:
    """What the API tells its callers to call, as whoever sits at a command line calls it."""
    for call, command in _AS_COMMANDS.items():
        detail = detail.replace(call, command)
    return detail


def _next_step(problem: Item) -> tuple[str, ...]:
    """What only somebody at a command line can do."""
    if problem.get("type") != "urn:fencegate:store-unavailable":
        return ()
    return (
        "Writes are refused until it is back; reads pass. `fencegate doctor --store URL` says what is wrong there.",
    )


def _findings(problem: Item) -> list[str]:
    """Those of policy files that did not come into force."""
    found = problem.get("findings")
    told = found if isinstance(found, list) else []
    return [plain(f"{each['file']}:{each['line']}:{each['column']}: {each['message']}") for each in told]


def segment(name: str) -> str:
    """A name as one segment of a path. What is not UTF-8 on a command line is the name of nothing."""
    return quote(name, safe="", errors="replace")


def read_admin(address: str) -> AdminApi:
    """`HOST:PORT` as `serve --admin` takes it, or a URL. Raises ClickException."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        is_one = parts.scheme in ("http", "https") and parts.path in ("", "/") and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or not parts.netloc:
        raise click.ClickException("--admin must be HOST:PORT or a URL, as in http://127.0.0.1:8081.")
    ca = environment().get("FENCEGATE_ADMIN_CA") or None
    return AdminApi(parts.scheme, parts.netloc, _secret("FENCEGATE_ADMIN_TOKEN"), ca, _secret("FENCEGATE_KEY"))


def _secret(variable: str) -> str | None:
    """What is sent in a header, from the environment."""
    value = environment().get(variable)
    if value and not _SENDABLE.fullmatch(value):
        raise click.ClickException(f"{variable} must be visible ASCII characters without blanks.")
    return value
