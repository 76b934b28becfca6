"""The parent process: what a gateway is built of, in which order it starts, and in which it ends.

    policies ─ store ─ port ─ admin listener ─ workers ─ ready          it ends the same way back

The parent carries no agent's request. What it does while the gateway runs: it keeps the store and the workers alive,
answers operators, reads the policies again when they change, sweeps tickets whose gateway died, asks upstreams about
writes that nobody knows the outcome of, and tells people of what they have to know.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gateway.admin.running import Running
from gateway.core.address import Address
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.flow.compensating import Compensating
from gateway.flow.inquiry import Inquiry
from gateway.flow.notifying import Notifying
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.ongoing import Work, ongoing, stop
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.accepting import Accepting
from gateway.serve.announcing import announce, say_what_is_in_force
from gateway.serve.assignment import Assignment
from gateway.serve.descriptors import allowed_connections, raise_limit
from gateway.serve.edition import Editions
from gateway.serve.faults import report_faults
from gateway.serve.fitness import Fitness
from gateway.serve.inforce import NOBODY_LOOKS
from gateway.serve.marking import Marking, teller
from gateway.serve.operators import listen_for_operators
from gateway.serve.orphans import reap_orphans
from gateway.serve.own_directory import own_directory
from gateway.serve.policies import Policies
from gateway.serve.port import bound_address, hold_port
from gateway.serve.signals import Signals
from gateway.serve.snapshot import Snapshot
from gateway.serve.starting import StartRefused, cannot_listen, find_tls, find_traces, grace_s, open_policies
from gateway.serve.sweeping import Sweeping
from gateway.serve.workers import Workers
from gateway.settings import ServeSettings, environment
from gateway.store.compensations import Compensations
from gateway.store.connect import open_store
from gateway.store.durability import read_durability
from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import QuarantineBounds
from gateway.store.loss.incarnation import Incarnation
from gateway.store.loss.kept_marks import name_of
from gateway.store.outbox import Outbox
from gateway.store.prune import Retention
from gateway.store.questions import Questions
from gateway.store.views.census import Counting
from gateway.upstream.sender import HttpSender
from gateway.upstream.webhook import Webhooks

# A query that is answered still gets its answer recorded; one that is not is repeated by another gateway.
_ASKED_WITHIN_S = 1.0
# What is being taken back then may still get its answer; one that comes later is not heard, and it ends as unknown.
_COMPENSATED_WITHIN_S = 5.0
# A worker uses its own grace to the end, then closes its connections and makes its last settle calls.
KILL_AFTER_GRACE_S = 7.0
# Where workers write what they count, and the parent reads it.
_METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the rest is built on: valid policies, a store that is fit, and the agents' port, which nobody else has.

    `url` is the store's; `directory` is for files of this run.
    """

    holder: PolicyHolder
    url: str
    directory: Path
    metrics: ParentMetrics
    marking: Marking
    store: FenceStore
    fitness: Fitness
    listen: Address

    def rules(self) -> RuleSet:
        return self.holder.current


async def serve(settings: ServeSettings, log: Log) -> None:
    """Run a gateway from start to end. Returns after SIGTERM or SIGINT; raises StartRefused. Main thread only."""
    signals = Signals()
    raise_limit()
    async with AsyncExitStack() as ending:
        ground = await _lay_ground(settings, log, ending)
        snapshot = _take_snapshot(settings.policies, ground.directory / "policies")
        editions = Editions(ground.directory / "edition", BootClock())
        ending.callback(editions.close)
        assignment = _assignment(settings, ground, snapshot, log)
        workers = _workers(settings.workers, assignment, ground, log)
        put_in_force = partial(_put_in_force, editions, workers)
        policies = Policies(ground.holder, snapshot, log, ground.metrics, put_in_force, editions)
        signals.on_reload, signals.on_hurry = policies.tell, workers.kill
        inquiry = _inquiry(ground, log, ending)
        retention = Retention(settings.audit_retain, settings.audit_events)
        sweeping = Sweeping(ground.store, inquiry, retention, ground.rules, log)
        post = Webhooks(_sender(ending), settings.admin_url).post
        notifying = Notifying(Outbox(ground.store), post, ground.rules, ground.metrics, log)
        running = Running(
            *(ground.store, partial(_rules_for_operators, ground, editions), policies.reload, lambda: workers.ready),
            signals.stop.is_set,
            metrics=ground.metrics,
            log=log,
            compensating=_compensating(ground, log, ending),
            unfit=lambda: ground.fitness.unfit,
            counting=Counting(ground.store, asyncio.get_running_loop().time),
            audit_retain_s=settings.audit_retain,
            policies_are_known=lambda: not editions.are_silent(),
        )
        admin, for_operators = await listen_for_operators(running, settings, log, ending)
        proxy_url, admin_url = _url(ground.listen, settings.tls_cert), _url(admin, settings.admin_tls_cert)
        say_what_is_in_force(ground.rules(), log)
        # To the workers' end: they refuse what is left to do when nobody looks.
        ending.push_async_callback(stop, ongoing("watching the policies", policies.watch))
        workers.start()
        ending.push_async_callback(workers.stop, assignment.grace_s + KILL_AFTER_GRACE_S)
        work: dict[str, Work] = {
            "announcing": partial(announce, workers, proxy_url, admin_url, log),
            "sweeping": sweeping.run,
            "notifying": notifying.run,
        }
        await work_until_stopped(work | _watches(ground, for_operators), signals, settings.drain, log)
        log.info("stopping: accepted requests are finished first", grace_s=assignment.grace_s)
    log.info("stopped")


async def _lay_ground(settings: ServeSettings, log: Log, ending: AsyncExitStack) -> _Ground:
    holder = open_policies(settings.policies, settings.listen, settings.admin)
    url = settings.store or await _start_embedded_store(settings, log, ending)
    directory = ending.enter_context(own_directory())
    (directory / _METRICS).mkdir()
    metrics = ParentMetrics(directory / _METRICS)
    report_faults(log, metrics)
    marking = _marking(settings, metrics, log, ending)
    store = await _connect(url, settings, marking.incarnation, ending)
    store.writes_last(lambda: holder.current.write_lasts_s)
    fitness = await _fit(store, settings, metrics, log)
    listen = _hold(settings.listen, ending)
    return _Ground(holder, url, directory, metrics, marking, store, fitness, listen)


def _watches(ground: _Ground, for_operators: Accepting) -> dict[str, Work]:
    return {
        "watching the operators' TLS files": for_operators.watch,
        "looking at the store's settings": ground.fitness.run,
        "keeping marks": ground.marking.run,
    }


async def work_until_stopped(work: Mapping[str, Work], signals: Signals, drain_s: float, log: Log) -> None:
    """All of it at once, until a signal says stop and callers had their time to leave."""
    tasks = [ongoing(name, each) for name, each in work.items()]
    if os.getpid() == 1:
        tasks.append(ongoing("reaping orphans", reap_orphans))
    try:
        await signals.stop.wait()
        await signals.drained(drain_s, log)
    finally:
        # Once: some of it still ends what it has begun.
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _take_snapshot(source: Path, target: Path) -> Snapshot:
    snapshot = Snapshot(source, target)
    try:
        target.mkdir()
        is_whole = snapshot.take()
    except OSError as error:
        raise StartRefused(
            f"The policies in {source} cannot be copied to {target} ({error.strerror}). Make room there, or set TMPDIR."
        ) from None
    if not is_whole:
        raise StartRefused(f"The policies in {source} changed while they were read. Start again.")
    return snapshot


def _put_in_force(editions: Editions, workers: Workers, read_within_s: float) -> None:
    """The page first: a worker that hears of it looks there."""
    editions.publish(read_within_s)
    workers.reload()


def _rules_for_operators(ground: _Ground, editions: Editions) -> RuleSet:
    """As a worker's: a parent that was stopped lets nobody approve by a key that may have been withdrawn meanwhile."""
    rules = ground.rules()
    return rules.refusing(NOBODY_LOOKS) if editions.are_silent() else rules


async def _start_embedded_store(settings: ServeSettings, log: Log, ending: AsyncExitStack) -> str:
    embedded = EmbeddedStore(settings.data_dir, log.warning, flushes_always=settings.durability == "disk")
    try:
        await embedded.start()
    except EmbeddedStoreError as error:
        raise StartRefused(str(error)) from None
    ending.push_async_callback(embedded.stop)
    return embedded.url


def _marking(settings: ServeSettings, metrics: ParentMetrics, log: Log, ending: AsyncExitStack) -> Marking:
    # The bundled store is the directory's own, wherever its socket is.
    name = "bundled" if settings.store is None else name_of(settings.store)
    may_forget = settings.allow_unsafe_store
    marking = Marking(settings.data_dir, name, teller(metrics, log), log, may_forget=may_forget)
    ending.callback(marking.close)
    return marking


async def _connect(url: str, settings: ServeSettings, incarnation: Incarnation, ending: AsyncExitStack) -> FenceStore:
    """The parent's own connection."""
    try:
        store = await open_store(
            url,
            on_wake=_nobody_waits_here,
            timeout_s=settings.store_timeout,
            clock=BootClock(),
            incarnation=incarnation,
            durability=read_durability(settings.durability),
        )
    except (StoreUnavailable, ValueError) as error:
        advice = (
            "Is its address right, and its user and password? Name the store with --store, or none for a bundled one."
        )
        raise StartRefused(f"{error} {advice}") from None
    ending.push_async_callback(store.close)
    return store


async def _fit(store: FenceStore, settings: ServeSettings, metrics: ParentMetrics, log: Log) -> Fitness:
    """Whoever watches the store; it is fit to keep a fence now, or was allowed not to be."""
    fitness = Fitness(store.link, read_durability(settings.durability), metrics, log)
    unfit = await fitness.begin()
    if unfit and not settings.allow_unsafe_store:
        shown = "\n".join(f"{check.name}: {check.saw}; {check.what_to_do}" for check in unfit)
        raise StartRefused(f"{shown}\nA fence kept there may be lost. Start all the same with --allow-unsafe-store.")
    for check in unfit:
        log.warning(
            "the store is unsafe, and was allowed to be", check=check.name, saw=check.saw, what_to_do=check.what_to_do
        )
    return fitness


def _nobody_waits_here(_resource: object) -> None:
    """Requests wait in workers, each of which has a connection of its own."""


def _hold(address: Address, ending: AsyncExitStack) -> Address:
    try:
        held = ending.enter_context(hold_port(address))
    except OSError as error:
        raise cannot_listen("--listen", address, error) from None
    return bound_address(held)


def _assignment(settings: ServeSettings, ground: _Ground, snapshot: Snapshot, log: Log) -> Assignment:
    return Assignment(
        listen=ground.listen,
        admin=settings.admin,
        policies=str(snapshot.current),
        store=ground.url,
        store_timeout_s=settings.store_timeout,
        grace_s=grace_s(settings.grace, ground.rules()),
        log_format=log.form,
        log_level=settings.log_level,
        tls=find_tls("--tls-cert", settings.tls_cert, settings.tls_key, settings.tls_client_ca),
        trusted_proxies=tuple(map(str, settings.trusted_proxies)),
        quarantine=QuarantineBounds(settings.quarantine_retain, settings.quarantine_bytes),
        queue_bytes=settings.queue_bytes,
        durability=settings.durability,
        max_connections=allowed_connections(settings.max_connections, log),
        max_waiting=settings.max_waiting,
        edition=str(ground.directory / "edition"),
        traces=find_traces(settings.otlp, settings.trace_ratio, log),
    )


def _workers(count: int, assignment: Assignment, ground: _Ground, log: Log) -> Workers:
    variables = environment() | {"PROMETHEUS_MULTIPROC_DIR": str(ground.directory / _METRICS)}
    return Workers(
        count, lambda: replace(assignment, credentials=ground.holder.credentials), variables, log, ground.metrics
    )


def _inquiry(ground: _Ground, log: Log, ending: AsyncExitStack) -> Inquiry:
    inquiry = Inquiry(Questions(ground.store), _sender(ending), ground.rules, ground.metrics, log)
    ending.push_async_callback(inquiry.close, _ASKED_WITHIN_S)
    return inquiry


def _compensating(ground: _Ground, log: Log, ending: AsyncExitStack) -> Compensating:
    records, sender = Compensations(ground.store), _sender(ending)
    compensating = Compensating(records, sender, ground.rules, BootClock(), ground.metrics, log)
    ending.push_async_callback(compensating.close, _COMPENSATED_WITHIN_S)
    return compensating


def _sender(ending: AsyncExitStack) -> HttpSender:
    """Connections of the parent's own."""
    sender = HttpSender(BootClock())
    ending.callback(sender.close)
    return sender


def _url(address: Address, cert: Path | None) -> str:
    return f"{'http' if cert is None else 'https'}://{address}"
