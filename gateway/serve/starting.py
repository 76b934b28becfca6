"""What every service begins with: what it is told is read and found usable, or the service does not start."""

from pathlib import Path

from gateway.core.address import Address
from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.exporting import NoExporter, Traces, traces_to
from gateway.serve.tls import TlsFault, TlsFiles
from gateway.settings import environment

# Beyond the longest write: its settling, and a store that is slow to answer.
GRACE_BEYOND_TOTAL_S = 5.0


class StartRefused(Exception):
    """The service does not start; the message says why and what to do."""


def open_policies(directory: Path, *listening: Address) -> PolicyHolder:
    """The policies, of which none may name an address that is listened on. Raises StartRefused."""
    # Port 0 is anybody's: no policy can name the one that the system will choose.
    own = tuple((address.host, address.port) for address in listening if address.port)
    opened = PolicyHolder.open(directory, environment(), listeners=own)
    if isinstance(opened, PolicyHolder):
        return opened
    shown = "\n".join(map(str, opened))
    raise StartRefused(
        f"{shown}\nThe policies in {directory} have errors; `fencegate check {directory}` shows them again."
    )


def find_traces(otlp: str | None, ratio: float, log: Log) -> Traces | None:
    """Where traces go, if anywhere. Raises StartRefused."""
    try:
        return traces_to(otlp, ratio, log)
    except NoExporter as refused:
        raise StartRefused(str(refused)) from None


def find_tls(option: str, cert: Path | None, key: Path | None, client_ca: Path | None = None) -> TlsFiles | None:
    """A listener's files, usable now. `option` names them in what StartRefused says."""
    if cert is None or key is None:
        return None
    files = TlsFiles(str(cert), str(key), None if client_ca is None else str(client_ca))
    try:
        files.context()
    except TlsFault as fault:
        raise StartRefused(f"{option}: {fault}") from None
    return files


def cannot_listen(option: str, address: Address, error: OSError) -> StartRefused:
    return StartRefused(f"{option} {address} cannot be listened on: {error.strerror or error}. Give another address.")


def grace_s(chosen: float | None, rules: RuleSet) -> float:
    """How long writes may take to end at shutdown: as chosen, or as long as the longest may take."""
    if chosen is not None:
        return chosen
    return max(upstream.timeouts.total_s for upstream in rules.upstreams) + GRACE_BEYOND_TOTAL_S
