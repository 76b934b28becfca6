"""A process that only delivers what was queued, by the policies and on the store of gateways that serve."""

import asyncio
import contextlib
import signal
from pathlib import Path

from prometheus_client import CollectorRegistry

from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.flow.pauses import Pauses
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.metrics.worker import Metrics
from gateway.policy.reload import PolicyHolder
from gateway.serve.delivering import Means, delivering
from gateway.serve.exporting import NoExporter, Traces, exporting, traces_to
from gateway.serve.marking import teller
from gateway.serve.supervisor import StartRefused
from gateway.settings import DeliverSettings, environment
from gateway.store.connect import open_store
from gateway.store.deliveries import leave_hints
from gateway.store.durability import read_durability
from gateway.store.fence import FenceStore
from gateway.store.incarnation import Incarnation
from gateway.store.pauses import PauseRecords
from gateway.upstream.sender import HttpSender

# Beyond the longest write: its settling, and a store that is slow to answer.
_GRACE_BEYOND_TOTAL_S = 5.0
_SETTLE_WITHIN_S = 5.0
# A hint is seldom lost, and what it was about waits no longer than this.
_LOOK_EVERY_S = 10.0
# A change of the policy files is taken at the second look after it.
_LOOK_AT_FILES_EVERY_S = 0.5


async def deliver(settings: DeliverSettings, log: Log) -> None:
    """Deliver until SIGTERM or SIGINT. Raises StartRefused."""
    stopping, told_to_reload = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, told_to_reload.set)
    holder = _open_policies(settings.policies)
    traces = _traces(settings, log)
    means = await _means(settings, stopping, log)
    watching = loop.create_task(means.pauses.watch())
    reloading = loop.create_task(_keep_current(holder, told_to_reload, log))
    looking = loop.create_task(_look_everywhere(means.store))
    try:
        async with (
            exporting(traces, _uncounted, log) as tracing,
            delivering(means, lambda: holder.current, log, grace_s=_grace_s(settings, holder)) as deliverer,
        ):
            deliverer.tracing = tracing
            log.info("delivering")
            await stopping.wait()
    finally:
        looking.cancel()
        reloading.cancel()
        watching.cancel()
        await means.tasks.drain(_SETTLE_WITHIN_S)
        means.sender.close()
        await means.store.close()
    log.info("stopped")


def _open_policies(directory: Path) -> PolicyHolder:
    opened = PolicyHolder.open(directory, environment())
    if isinstance(opened, PolicyHolder):
        return opened
    shown = "\n".join(map(str, opened))
    raise StartRefused(f"{shown}\nThe policies have errors; `fencegate check {directory}` shows them again.")


def _traces(settings: DeliverSettings, log: Log) -> Traces | None:
    try:
        return traces_to(settings.otlp, settings.trace_ratio, log)
    except NoExporter as refused:
        raise StartRefused(str(refused)) from None


def _uncounted(_result: str, _count: int) -> None:
    """This process shows no metrics; what is dropped is in its log."""


async def _means(settings: DeliverSettings, stopping: asyncio.Event, log: Log) -> Means:
    clock, wakes, metrics = BootClock(), Wakes(), Metrics(CollectorRegistry())
    incarnation = Incarnation(None, clock, teller(metrics, log))
    try:
        store = await open_store(
            settings.store,
            on_wake=wakes.on_wake,
            timeout_s=settings.store_timeout,
            clock=clock,
            incarnation=incarnation,
            durability=read_durability(settings.durability),
        )
    except (StoreUnavailable, ValueError) as error:
        raise StartRefused(f"{error} Name the gateways' store with --store.") from None
    pauses = Pauses(store, PauseRecords(store), clock, wakes)
    return Means(store, HttpSender(clock), clock, wakes, Tasks(), pauses, metrics, stopping)


def _grace_s(settings: DeliverSettings, holder: PolicyHolder) -> float:
    if settings.grace is not None:
        return settings.grace
    return max(upstream.timeouts.total_s for upstream in holder.current.upstreams) + _GRACE_BEYOND_TOTAL_S


async def _look_everywhere(store: FenceStore) -> None:
    """There may be no gateway that sweeps."""
    while True:
        with contextlib.suppress(StoreUnavailable):
            await leave_hints(store)
        await asyncio.sleep(_LOOK_EVERY_S)


async def _keep_current(holder: PolicyHolder, told: asyncio.Event, log: Log) -> None:
    """As gateways do: what it sends is judged by the same policies, within two seconds of each other."""
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_AT_FILES_EVERY_S):
                await told.wait()
        if not told.is_set() and not holder.changed():
            continue
        told.clear()
        findings = await asyncio.to_thread(holder.reload)
        if isinstance(findings, tuple) and findings:
            log.error("the policies in force stay: the new ones have errors", finding=str(findings[0]))
