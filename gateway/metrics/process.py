"""What everything that is scraped tells of itself: a gateway, and a process that only delivers."""

from prometheus_client import CollectorRegistry, Gauge

from gateway import __version__


def version_in(registry: CollectorRegistry) -> None:
    build = Gauge("fencegate_build_info", "The gateway's version. Always 1.", ["version"], registry=registry)
    build.labels(__version__).set(1)


def store_up_in(registry: CollectorRegistry) -> Gauge:
    return Gauge("fencegate_store_up", "Whether every server of the store takes writes.", registry=registry)
