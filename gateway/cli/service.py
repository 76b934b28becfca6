"""What runs until it is told to stop: settings read, a log opened, and a refusal to start told in one line."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Protocol, TypeVar

import click

from gateway.log import Form, Level, Log
from gateway.serve.starting import StartRefused
from gateway.settings import SettingsError

# A text, whose end a shell completes; what is there is looked at when the service starts.
A_PATH = click.Path(readable=False)

_log_format_option = click.option(
    "--log-format", metavar="json|text", help="How the log is written.  [text on a terminal, else json]"
)
_log_level_option = click.option(
    "--log-level", metavar="LEVEL", help="The least that is logged: debug, info, warning or error.  [info]"
)
_otlp_option = click.option(
    "--otlp",
    metavar="URL",
    help="Send traces to this OpenTelemetry collector, by OTLP over HTTP.  [OTEL_EXPORTER_OTLP_ENDPOINT]",
)
_trace_ratio_option = click.option(
    "--trace-ratio", metavar="RATIO", help="How many of the traces that begin here are sampled.  [1]"
)


def service_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every service: its traces and its log."""
    for option in (_log_level_option, _log_format_option, _trace_ratio_option, _otlp_option):
        command = option(command)
    return command


class Logged(Protocol):
    """The settings of every service."""

    @property
    def log_format(self) -> Form | None: ...

    @property
    def log_level(self) -> Level: ...


S = TypeVar("S", bound=Logged)


def run_service(
    read: Callable[[Mapping[str, object]], S],
    start: Callable[[S, Log], Coroutine[None, None, None]],
    options: Mapping[str, object],
) -> None:
    """Run it with these options. Raises click.ClickException."""
    try:
        settings = read(options)
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    log = Log(settings.log_format or ("text" if sys.stderr.isatty() else "json"), settings.log_level)
    if shows_password(options):
        log.warning("every user of this machine sees the store's password in the command line: use FENCEGATE_STORE")
    try:
        asyncio.run(start(settings, log))
    except StartRefused as refused:
        raise click.ClickException(str(refused)) from None


def shows_password(options: Mapping[str, object]) -> bool:
    """Whether an option, rather than the environment, has the store's password."""
    store = options.get("store")
    return isinstance(store, str) and ":" in store.partition("://")[2].rpartition("@")[0]
