"""A process that only delivers what was queued, by the policies and on the store of gateways that serve."""

import asyncio
import contextlib
import signal
import sys
from functools import partial

from gateway.admin.watching import Delivering
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.flow.pauses import Pauses
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.metrics.deliverer import DelivererMetrics
from gateway.ongoing import ongoing, stop
from gateway.serve.delivering import Means, delivering
from gateway.serve.exporting import exporting
from gateway.serve.faults import report_faults
from gateway.serve.following import Following
from gateway.serve.marking import begin_memory, process_name
from gateway.serve.starting import StartRefused, find_traces, grace_s, open_policies
from gateway.serve.watched import watched
from gateway.settings import DeliverSettings
from gateway.store.connect import open_store
from gateway.store.deliveries import leave_hints
from gateway.store.durability import read_durability
from gateway.store.fence import FenceStore
from gateway.store.loss.incarnation import Incarnation
from gateway.store.pauses import PauseRecords
from gateway.upstream.sender import HttpSender

_SETTLE_WITHIN_S = 5.0
# A hint is seldom lost, and what it was about waits no longer than this.
_LOOK_EVERY_S = 10.0


async def deliver(settings: DeliverSettings, log: Log) -> None:
    """Deliver until SIGTERM or SIGINT. Raises StartRefused."""
    stopping, told_to_reload = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, told_to_reload.set)
    holder = open_policies(settings.policies)
    traces = find_traces(settings.otlp, settings.trace_ratio, log)
    metrics = DelivererMetrics(upstream.name for upstream in holder.current.upstreams)
    report_faults(log, metrics.counted)
    incarnation = begin_memory(process_name(), metrics.counted, stopping, log)
    means = await _means(settings, metrics, incarnation, stopping)
    rules = Following(holder, told_to_reload, means.clock, log)
    means.store.writes_last(lambda: holder.current.write_lasts_s)
    work = (
        ongoing("watching pauses", means.pauses.watch),
        ongoing("reloading the policies", rules.run),
        ongoing("looking for what is due", partial(_look_everywhere, means.store)),
    )
    try:
        async with (
            watched(Delivering(means.store, stopping.is_set, metrics), settings.metrics, settings.admin_token, log),
            exporting(traces, metrics.counted.spans, log) as tracing,
            delivering(means, rules, log, grace_s=grace_s(settings.grace, holder.current)) as deliverer,
        ):
            deliverer.tracing = tracing
            log.info("delivering", process=means.store.gateway)
            await stopping.wait()
    finally:
        await stop(*work)
        await means.tasks.drain(_SETTLE_WITHIN_S)
        means.sender.close()
        await means.store.close()
    log.info("stopped")
    if incarnation.is_silent:
        # Whoever supervises it has to start another one.
        sys.exit(1)


async def _means(
    settings: DeliverSettings, metrics: DelivererMetrics, incarnation: Incarnation, stopping: asyncio.Event
) -> Means:
    clock, wakes, counted = BootClock(), Wakes(), metrics.counted
    try:
        store = await open_store(
            settings.store,
            gateway=incarnation.name,
            on_wake=wakes.on_wake,
            timeout_s=settings.store_timeout,
            clock=clock,
            incarnation=incarnation,
            durability=read_durability(settings.durability),
        )
    except (StoreUnavailable, ValueError) as error:
        advice = "Is its address right, and its user and password? Name the gateways' store with --store."
        raise StartRefused(f"{error} {advice}") from None
    store.on_call = counted.store_called
    pauses = Pauses(store, PauseRecords(store), clock, wakes)
    return Means(store, HttpSender(clock), clock, wakes, Tasks(), pauses, counted, stopping)


async def _look_everywhere(store: FenceStore) -> None:
    """There may be no gateway that sweeps."""
    while True:
        with contextlib.suppress(StoreUnavailable):
            await leave_hints(store)
        await asyncio.sleep(_LOOK_EVERY_S)
