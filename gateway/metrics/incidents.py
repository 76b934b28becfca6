"""The metrics that workers and their parent share."""

from typing import get_args

from prometheus_client import CollectorRegistry, Counter

from gateway.core.write import Incident


def incidents_in(registry: CollectorRegistry) -> Counter:
    """Workers find incidents and so does the parent; all of them are one series."""
    incidents = Counter(
        "fencegate_incidents",
        "Effects that came twice, writes that happened after somebody had said otherwise, stores that lost work.",
        ["kind"],
        registry=registry,
    )
    # An alert needs the series before the first one.
    for kind in get_args(Incident):
        incidents.labels(kind)
    return incidents


def faults_in(registry: CollectorRegistry) -> Counter:
    """Of what goes on beside requests, which no decision counts."""
    return Counter(
        "fencegate_background_faults",
        "Bugs in what goes on beside requests, such as marks, sweeps and reloads. Each is in the log.",
        registry=registry,
    )
