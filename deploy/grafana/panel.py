"""What the dashboard is made of: rows of panels, and how their queries are spelled."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["timeseries", "stat"]

JOB = 'job=~"$job"'
RATE = "[$__rate_interval]"


@dataclass(frozen=True, slots=True)
class Query:
    """What is drawn, and how its lines are named."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. `description` is for whoever looks at it in the night. `rare`: empty where nothing of it happened."""

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = "short"
    kind: Kind = "timeseries"
    width: int = 8
    height: int = 8
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    panels: tuple[Panel, ...]


def rate(metric: str, by: str, matchers: str = "") -> str:
    """How often a second, by some labels."""
    return f"sum by ({by}) (rate({metric}{{{JOB}{matchers}}}{RATE}))"


def quantile(of: float, metric: str, by: str = "") -> str:
    """Of a histogram, by the labels of `by`, which end in a comma."""
    return f"histogram_quantile({of}, sum by ({by}le) (rate({metric}_bucket{{{JOB}}}{RATE})))"


def quantiles(metric: str) -> tuple[Query, ...]:
    return Query(quantile(0.5, metric), "p50"), Query(quantile(0.99, metric), "p99")


def stat(title: str, description: str, expr: str, unit: str = "short") -> Panel:
    return Panel(title, description, (Query(expr),), unit, kind="stat", width=3, height=4)
