"""A caller of a running gateway's admin API, as far as the commands need one."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

import click

from gateway.settings import environment

_WITHIN_S = 30.0

admin_option = click.option(
    "--admin",
    metavar="HOST:PORT",
    envvar="FENCEGATE_ADMIN",
    default="127.0.0.1:8081",
    help="The gateway's admin listener, or a URL in front of it.  [127.0.0.1:8081]",
)


@dataclass(frozen=True, slots=True)
class AdminApi:
    """Where a gateway's admin listener is, and the token that it wants, if any."""

    scheme: str
    netloc: str
    token: str | None

    def get(self, path: str) -> dict[str, object]:
        """The JSON document that the gateway answers. Raises ClickException with what to do instead."""
        return self._call("GET", path, None)

    def post(self, path: str, document: dict[str, object]) -> dict[str, object]:
        """As `get`, for calls that change something."""
        return self._call("POST", path, document)

    def _call(self, method: str, path: str, document: dict[str, object] | None) -> dict[str, object]:
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if document is not None:
            headers["Content-Type"] = "application/json"
        connection_type = HTTPSConnection if self.scheme == "https" else HTTPConnection
        connection = connection_type(self.netloc, timeout=_WITHIN_S)
        try:
            connection.request(method, path, None if document is None else json.dumps(document), headers)
            response = connection.getresponse()
            status, body = response.status, response.read()
        except (OSError, HTTPException) as error:
            raise click.ClickException(
                f"No gateway answers at {self.scheme}://{self.netloc} ({error}). "
                "Start one with `fencegate serve`, or name its admin listener with --admin."
            ) from None
        finally:
            connection.close()
        return _read(status, body)


def _read(status: int, body: bytes) -> dict[str, object]:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise click.ClickException(f"What answers there is no gateway's admin listener (status {status}); see --admin.")
    if status == 401:
        raise click.ClickException("The gateway wants its admin token: set FENCEGATE_ADMIN_TOKEN.")
    if status >= 400:
        raise click.ClickException(str(answer.get("detail", f"status {status}")))
    return answer


def read_admin(address: str) -> AdminApi:
    """`HOST:PORT` as `serve --admin` takes it, or a URL. Raises ClickException."""
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/"):
        raise click.ClickException("--admin must be HOST:PORT or a URL, as in http://127.0.0.1:8081.")
    return AdminApi(parts.scheme, parts.netloc, environment().get("FENCEGATE_ADMIN_TOKEN"))
