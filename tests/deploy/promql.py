"""What an expression of Prometheus asks for, compared with what the gateway tells."""

import re
from collections.abc import Iterator

from deploy.reference import VALUES, metrics

_SELECTOR = re.compile(r"(?<![\w:])(fencegate_[a-z0-9_]+)(?:\{([^}]*)\})?")
_RECORDED = re.compile(r"\bfencegate:[a-z0-9_:]+")
_MATCHER = re.compile(r'([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_OF_HISTOGRAM = ("_bucket", "_sum", "_count")
# Prometheus' own.
_ADDED = frozenset({"job", "instance", "le"})
_KNOWN = {metric.name: metric for metric in metrics()}


def recorded(expr: str) -> set[str]:
    """The recording rules that are asked for."""
    return set(_RECORDED.findall(expr))


def asked(expr: str) -> set[str]:
    """The metrics that are asked for, without what a histogram puts behind its name."""
    return {_base(name) for name, _ in _SELECTOR.findall(expr)}


def faults(expr: str) -> Iterator[str]:
    """What is asked for and does not exist: metrics, labels, and values of labels that the code gives."""
    labels = set(_ADDED)
    for name, matchers in _SELECTOR.findall(expr):
        metric = _KNOWN.get(_base(name))
        if metric is None:
            yield f"no metric {name}"
            continue
        if (metric.kind == "histogram") != (name != metric.name):
            yield f"{name} is not how a {metric.kind} is scraped"
        labels.update(metric.labels)
        for label, _, value in _MATCHER.findall(matchers):
            yield from _faults_of(metric.name, {*metric.labels, *_ADDED}, label, value)
    if asked(expr):
        for group in _GROUPED.findall(expr):
            yield from (f"no label {label}" for label in re.findall(r"\w+", group) if label not in labels)


def _faults_of(name: str, labels: set[str], label: str, value: str) -> Iterator[str]:
    if label not in labels:
        yield f"{name} has no label {label}"
    values = VALUES.get((name, label))
    # An empty value is that of a request for which none was found.
    for one in value.split("|") if values else ():
        if one not in values:  # type: ignore[operator]  # not None: it has ones
            yield f"{name} has no {label} {one}"


def _base(name: str) -> str:
    for ending in _OF_HISTOGRAM:
        base = name.removesuffix(ending)
        if base != name and base in _KNOWN and _KNOWN[base].kind == "histogram":
            return base
    return name
