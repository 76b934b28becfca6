"""The reference of settings, metrics and decisions, made of the code: `python -m deploy.reference` writes REFERENCE.md.

What an option means is told by its command's own help, what a metric means by the metric.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import click
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase
from pydantic_settings import BaseSettings

from gateway.cli import main as commands
from gateway.core.census import Lasting, Letters
from gateway.core.decision import DECISIONS
from gateway.core.intent import State
from gateway.core.late import Extent
from gateway.core.pause import Kind
from gateway.core.places import Shed, Wait
from gateway.core.rule import NotifyEvent
from gateway.core.write import Incident
from gateway.metrics.parent import ParentMetrics
from gateway.metrics.worker import Metrics
from gateway.settings import DeliverSettings, ServeSettings

TARGET = Path(__file__).with_name("REFERENCE.md")

_WITH_DEFAULT = re.compile(r"(?s)(.*?)\s*\[([^\]]*)\]\s*$")
# What has no option: a command line is shown to every user of the machine.
_WITHOUT_OPTION = {"admin_token": "Who has it may use the listener for operators: 16 visible ASCII characters or more."}
_OF_COMMANDS = {
    "FENCEGATE_ADMIN": "The gateway's admin listener, HOST:PORT or a URL, in place of `--admin`.",
    "FENCEGATE_ADMIN_CA": "A PEM file with the authority of the admin listener's certificate.",
    "FENCEGATE_ADMIN_TOKEN": "The admin listener's token.",
    "FENCEGATE_KEY": "The key of a principal that may approve.",
}
_OF_METRICS = (
    "At `/metrics` of the admin listener, for all processes of the gateway. Counts are up to 0.1 s old, what is told "
    "of the store up to 2 s. The latter is of all gateways of the store and the same at each: take `max`, not `sum`. "
    "A counter never falls while its gateway runs, whichever worker dies. No label holds a resource, a key, a holder "
    "or a path."
)
_OF_VALUES = (
    "`upstream` and `rule` come from the policies, and are empty where none was found; `script` is the name of a "
    "script of the store, `version` the gateway's, `budget` a rule's budget as `resource 86400s json:/amount`."
)
_SUFFIX = {"counter": "_total"}


@dataclass(frozen=True, slots=True)
class Described:
    """A metric. `name` is as it is scraped; a histogram has `_bucket`, `_sum` and `_count` behind it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


# The values of those labels whose values do not come from policies.
VALUES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("fencegate_requests_total", "decision"): tuple(DECISIONS),
    ("fencegate_incidents_total", "kind"): get_args(Incident),
    ("fencegate_quarantined_total", "kept"): get_args(Extent),
    ("fencegate_waiting", "what"): get_args(Wait),
    ("fencegate_shed_total", "what"): tuple(what for one in get_args(Shed) for what in get_args(one)),
    ("fencegate_policy_reloads_total", "result"): ("loaded", "failed"),
    ("fencegate_lease_renewals_total", "result"): ("renewed", *DECISIONS),
    ("fencegate_intents", "state"): get_args(State),
    ("fencegate_oldest_seconds", "state"): get_args(Lasting),
    ("fencegate_pauses", "selector"): ("resource", *get_args(Kind)),
    ("fencegate_budget_used", "what"): ("writes", "total"),
    ("fencegate_budget_limit", "what"): ("writes", "total"),
    ("fencegate_notifications_kept", "state"): get_args(Letters),
    ("fencegate_notifications_total", "event"): get_args(NotifyEvent),
    ("fencegate_notifications_total", "result"): ("sent", "failed", "dead"),
    ("fencegate_spans_total", "result"): ("exported", "dropped"),
}


def metrics() -> tuple[Described, ...]:
    """All metrics of the workers and of their parent, by name."""
    of_workers = CollectorRegistry()
    Metrics(of_workers)
    found = {}
    for registry in (of_workers, ParentMetrics(Path()).registry):
        # The library tells names and documentation, but not the labels of a metric that has no series yet.
        for collector in set(registry._names_to_collectors.values()):
            assert isinstance(collector, MetricWrapperBase)
            (metric,) = collector.describe()
            name = metric.name + _SUFFIX.get(metric.type, "")
            found[name] = Described(name, metric.type, tuple(collector._labelnames), metric.documentation)
    return tuple(found[name] for name in sorted(found))


def settings(command: str, model: type[BaseSettings]) -> Iterable[tuple[str, str, str, str]]:
    """Option, variable, default and meaning of each setting of a command, in the order of its help; what has no option
    comes last.
    """
    found = commands.get_command(click.Context(commands), command)
    assert found is not None
    options = {option.name: option for option in found.params if isinstance(option, click.Option)}
    for name in sorted(model.model_fields, key=[*options, *_WITHOUT_OPTION].index):
        field = model.model_fields[name]
        option, variable = options.get(name), f"FENCEGATE_{name.upper()}"
        if option is None:
            yield "", variable, "", _WITHOUT_OPTION[name]
            continue
        told = _WITH_DEFAULT.match(option.help or "")
        meaning, default = told.groups() if told else (option.help or "", "required" if field.is_required() else "")
        shown = option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar}"
        yield shown, variable, default, meaning


def render() -> str:
    """The page."""
    return "\n".join(
        (
            "# Reference",
            "",
            "Made of the code by `python -m deploy.reference`; a test compares the two.",
            "",
            "## Settings of `fencegate serve`",
            "",
            "An option goes before its variable, the variable before the default.",
            "",
            *_settings_table("serve", ServeSettings),
            "",
            "## Settings of `fencegate deliver`",
            "",
            *_settings_table("deliver", DeliverSettings),
            "",
            "## Variables of the other commands",
            "",
            *_table(("variable", "meaning"), ((f"`{name}`", meaning) for name, meaning in _OF_COMMANDS.items())),
            "",
            "## Metrics",
            "",
            _OF_METRICS,
            "",
            *_table(("metric", "type", "meaning"), map(_metric_row, metrics())),
            "",
            "### Values of labels",
            "",
            _OF_VALUES,
            "",
            *_table(("label", "values"), map(_values_row, VALUES.items())),
            "",
            "## Decisions",
            "",
            "In `Fencing-Decision`, in `urn:fencegate:NAME` of a problem, in the log and in "
            "`fencegate_requests_total{decision}`.",
            "",
            *_table(("decision", "status", "action", "title"), map(_decision_row, DECISIONS)),
            "",
        )
    )


def _settings_table(command: str, model: type[BaseSettings]) -> Iterable[str]:
    rows = (
        (_code(option), _code(variable), default, meaning)
        for option, variable, default, meaning in settings(command, model)
    )
    return _table(("option", "environment", "default", "meaning"), rows)


def _metric_row(metric: Described) -> tuple[str, ...]:
    labels = f"{{{','.join(metric.labels)}}}" if metric.labels else ""
    return _code(metric.name + labels), metric.kind, metric.meaning


def _values_row(item: tuple[tuple[str, str], tuple[str, ...]]) -> tuple[str, ...]:
    (metric, label), values = item
    if set(DECISIONS) <= set(values):
        return _code(f"{metric}{{{label}}}"), "the decisions below"
    return _code(f"{metric}{{{label}}}"), ", ".join(map(_code, values))


def _decision_row(name: str) -> tuple[str, ...]:
    decision = DECISIONS[name]
    return _code(name), str(decision.status or "the API's"), decision.action or "", decision.title


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    yield _line(head)
    yield _line(("---",) * len(head))
    for row in rows:
        yield _line(tuple(cell.replace("|", "\\|") for cell in row))


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    TARGET.write_text(render())
    sys.stdout.write(f"{TARGET} is written\n")


if __name__ == "__main__":
    main()
