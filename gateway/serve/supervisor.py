"""The parent process: what a gateway is built of, in which order it starts, and in which it ends.

    policies ─ store ─ port ─ admin listener ─ workers ─ ready          it ends the same way back

The parent carries no agent's request. What it does while the gateway runs: it keeps the store and the workers alive,
answers operators, reads the policies again when they change, sweeps tickets whose gateway died, asks upstreams about
writes that nobody knows the outcome of, and tells people of what they have to know.
"""

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from gateway.admin.browser import own_name
from gateway.admin.listener import build_admin
from gateway.admin.running import Running
from gateway.core.caller import ANONYMOUS
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.flow.compensating import Compensating
from gateway.flow.inquiry import Inquiry
from gateway.flow.notifying import Notifying, Post
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.reload import PolicyHolder
from gateway.serve.accepting import Accepting
from gateway.serve.assignment import Assignment
from gateway.serve.edition import Editions
from gateway.serve.exporting import NoExporter, Traces, traces_to
from gateway.serve.fitness import Fitness
from gateway.serve.marking import Marking, teller
from gateway.serve.orphans import reap_orphans
from gateway.serve.policies import Policies
from gateway.serve.port import bound_address, hold_port, listen_alone
from gateway.serve.snapshot import Snapshot
from gateway.serve.sweeping import Sweeping
from gateway.serve.tls import TlsFault, TlsFiles
from gateway.serve.workers import Workers
from gateway.settings import Address, ServeSettings, environment
from gateway.store.census import Counting
from gateway.store.compensations import Compensations
from gateway.store.connect import open_store
from gateway.store.durability import read_durability
from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError
from gateway.store.fence import FenceStore
from gateway.store.incarnation import Incarnation
from gateway.store.kept_marks import name_of
from gateway.store.kept_requests import QuarantineBounds
from gateway.store.outbox import Outbox
from gateway.store.prune import Retention
from gateway.store.questions import Questions
from gateway.upstream.sender import HttpSender
from gateway.upstream.webhook import Webhooks

# Beyond the longest write: its settling, and a store that is slow to answer.
_GRACE_BEYOND_TOTAL_S = 5.0
# Longer than Prometheus' usual interval. An idle connection, or one whose first request never ends, is closed then.
_OPERATOR_IDLE_S = 75.0
# A query that is answered still gets its answer recorded; one that is not is repeated by another gateway.
_ASKED_WITHIN_S = 1.0
# What is being taken back then may still get its answer; one that comes later is not heard, and it ends as unknown.
_COMPENSATED_WITHIN_S = 5.0
# A worker uses its own grace to the end, then closes its connections and makes its last settle calls.
_KILL_AFTER_GRACE_S = 7.0


class StartRefused(Exception):
    """The gateway does not start; the message says why and what to do."""


async def serve(settings: ServeSettings, log: Log) -> None:
    """Run a gateway from start to end. Returns after SIGTERM or SIGINT; raises StartRefused. Main thread only."""
    signals = _Signals()
    _raise_descriptor_limit()
    async with AsyncExitStack() as ending:
        holder = _open_policies(settings.policies, settings.listen, settings.admin)
        url = settings.store or await _start_embedded_store(settings, log, ending)
        directory = Path(ending.enter_context(TemporaryDirectory(prefix="fencegate-")))
        metrics, variables = _metrics(directory / "metrics")
        marking = _marking(settings, metrics, log, ending)
        store = await _connect(url, settings, marking.incarnation, ending)
        fitness = await _fit(store, settings, metrics, log)
        listen = _hold(settings.listen, ending)
        snapshot = _take_snapshot(settings.policies, directory / "policies")
        editions = Editions(directory / "edition", BootClock())
        ending.callback(editions.close)
        assignment = _assignment(settings, holder, snapshot.current, listen, url, log)
        assignment = replace(assignment, edition=str(directory / "edition"))
        workers = Workers(
            settings.workers, lambda: replace(assignment, credentials=holder.credentials), variables, log, metrics
        )
        policies = Policies(holder, snapshot, log, metrics, partial(_put_in_force, editions, workers))
        inquiry, retention = _inquiry(store, holder, metrics, log, ending), _retention(settings)
        sweeping = Sweeping(store, inquiry, retention, lambda: holder.current, log)
        notifying = Notifying(Outbox(store), _webhooks(settings, ending), lambda: holder.current, metrics, log)
        signals.on_reload, signals.on_hurry = policies.reload, workers.kill
        running = Running(
            *(store, lambda: holder.current, policies.reload, lambda: workers.ready, signals.stop.is_set, metrics, log),
            _compensating(store, holder, metrics, log, ending),
            lambda: fitness.unfit,
            counting=Counting(store, asyncio.get_running_loop().time),
            audit_retain_s=settings.audit_retain,
        )
        admin, for_operators = await _listen_for_operators(running, settings, log, ending)
        _say_what_is_in_force(holder, log)
        workers.start()
        ending.push_async_callback(workers.stop, assignment.grace_s + _KILL_AFTER_GRACE_S)
        async with asyncio.TaskGroup() as beside:
            tasks = [
                beside.create_task(policies.watch()),
                beside.create_task(for_operators.watch()),
                beside.create_task(sweeping.run()),
                beside.create_task(notifying.run()),
                beside.create_task(marking.run()),
                beside.create_task(fitness.run()),
                *([beside.create_task(reap_orphans())] if os.getpid() == 1 else []),
                beside.create_task(_announce(workers, _url(listen, settings.tls_cert), admin, log)),
            ]
            await signals.stop.wait()
            await signals.drained(settings.drain, log)
            for task in tasks:
                task.cancel()
        log.info("stopping: accepted requests are finished first", grace_s=assignment.grace_s)
    log.info("stopped")


def _raise_descriptor_limit() -> None:
    """As many connections as the system allows; the soft limit of a login shell is for programs that use select()."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _connections(wanted: int, log: Log) -> int:
    """As many of a worker's descriptors as its callers may take: upstreams, the store and spooled bodies want some."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 3 // 4
    if wanted > most:
        log.warning("the system allows fewer connections than --max-connections", wanted=wanted, allowed=most)
    return min(wanted, most)


class _Signals:
    """SIGHUP reloads; the first SIGTERM or SIGINT stops, a second one hurries."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self.on_reload: Callable[[], object] | None = None
        self.on_hurry: Callable[[], object] | None = None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)

    async def drained(self, within_s: float, log: Log) -> None:
        """Callers are still taken until whoever sends them has seen that it should not. A second signal hurries."""
        if not within_s:
            return
        log.info("draining: not ready any more, and callers are still taken", seconds=within_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._hurry.wait()

    def _reload(self) -> None:
        # Before there is anything to reload, the files are still to be read.
        if self.on_reload is not None:
            self.on_reload()

    def _stop(self) -> None:
        if self.stop.is_set() and self.on_hurry is not None:
            self._hurry.set()
            self.on_hurry()
        self.stop.set()


def _open_policies(directory: Path, *listening: Address) -> PolicyHolder:
    """Port 0 is anybody's: no policy can name the one that the system will choose."""
    own = tuple((address.host, address.port) for address in listening if address.port)
    opened = PolicyHolder.open(directory, environment(), listeners=own)
    if isinstance(opened, PolicyHolder):
        return opened
    shown = "\n".join(str(finding) for finding in opened)
    raise StartRefused(
        f"{shown}\nThe policies in {directory} have errors; `fencegate check {directory}` shows them again."
    )


def _take_snapshot(source: Path, target: Path) -> Snapshot:
    target.mkdir()
    snapshot = Snapshot(source, target)
    if not snapshot.take():
        raise StartRefused(f"The policies in {source} changed while they were read. Start again.")
    return snapshot


def _put_in_force(editions: Editions, workers: Workers, read_within_s: float) -> None:
    """The page first: a worker that hears of it looks there."""
    editions.publish(read_within_s)
    workers.reload()


def _metrics(directory: Path) -> tuple[ParentMetrics, dict[str, str]]:
    """The parent's metrics, and the environment of workers that write theirs to the same directory."""
    directory.mkdir()
    return ParentMetrics(directory), environment() | {"PROMETHEUS_MULTIPROC_DIR": str(directory)}


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
    marking = Marking(settings.data_dir, name, teller(metrics, log), log)
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
        raise StartRefused(f"{error} Name another store with --store, or none for the bundled one.") from None
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
        raise StartRefused(_cannot_listen("--listen", address, error)) from None
    return bound_address(held)


def _cannot_listen(option: str, address: Address, error: OSError) -> str:
    return f"{option} {address} cannot be listened on: {error.strerror or error}. Give another address."


def _assignment(
    settings: ServeSettings, holder: PolicyHolder, policies: Path, listen: Address, url: str, log: Log
) -> Assignment:
    longest_s = max(upstream.timeouts.total_s for upstream in holder.current.upstreams)
    return Assignment(
        listen=listen,
        policies=str(policies),
        store=url,
        store_timeout_s=settings.store_timeout,
        grace_s=settings.grace if settings.grace is not None else longest_s + _GRACE_BEYOND_TOTAL_S,
        log_format=log.form,
        log_level=settings.log_level,
        tls=_tls_files("--tls-cert", settings.tls_cert, settings.tls_key, settings.tls_client_ca),
        trusted_proxies=tuple(map(str, settings.trusted_proxies)),
        quarantine=QuarantineBounds(settings.quarantine_retain, settings.quarantine_bytes),
        queue_bytes=settings.queue_bytes,
        durability=settings.durability,
        max_connections=_connections(settings.max_connections, log),
        max_waiting=settings.max_waiting,
        traces=_traces(settings.otlp, settings.trace_ratio, log),
    )


def _traces(otlp: str | None, ratio: float, log: Log) -> Traces | None:
    try:
        return traces_to(otlp, ratio, log)
    except NoExporter as refused:
        raise StartRefused(str(refused)) from None


def _tls_files(option: str, cert: Path | None, key: Path | None, client_ca: Path | None = None) -> TlsFiles | None:
    """A listener's files, usable now: what a worker would find wrong with them stops the start."""
    if cert is None or key is None:
        return None
    files = TlsFiles(str(cert), str(key), None if client_ca is None else str(client_ca))
    try:
        files.context()
    except TlsFault as fault:
        raise StartRefused(f"{option}: {fault}") from None
    return files


async def _listen_for_operators(
    running: Running, settings: ServeSettings, log: Log, ending: AsyncExitStack
) -> tuple[str, Accepting]:
    """The listener's URL, and what accepts there."""
    files = _tls_files("--admin-tls-cert", settings.admin_tls_cert, settings.admin_tls_key)
    app = build_admin(
        running,
        token=settings.admin_token,
        on_loopback=settings.admin.is_loopback,
        known_as=own_name(settings.admin_url),
    )
    runner = web.AppRunner(
        app, access_log=None, handle_signals=False, shutdown_timeout=1.0, keepalive_timeout=_OPERATOR_IDLE_S
    )
    await runner.setup()
    ending.push_async_callback(runner.cleanup)
    assert runner.server is not None
    try:
        sockets = listen_alone(settings.admin)
    except OSError as error:
        raise StartRefused(_cannot_listen("--admin", settings.admin, error)) from None
    accepting = Accepting(runner.server, sockets, files, log)
    ending.callback(accepting.close)
    await accepting.open()
    return _url(bound_address(sockets[0]), settings.admin_tls_cert), accepting


def _retention(settings: ServeSettings) -> Retention:
    return Retention(settings.audit_retain, settings.audit_events)


def _inquiry(
    store: FenceStore, holder: PolicyHolder, metrics: ParentMetrics, log: Log, ending: AsyncExitStack
) -> Inquiry:
    inquiry = Inquiry(Questions(store), _sender(ending), lambda: holder.current, metrics, log)
    ending.push_async_callback(inquiry.close, _ASKED_WITHIN_S)
    return inquiry


def _compensating(
    store: FenceStore, holder: PolicyHolder, metrics: ParentMetrics, log: Log, ending: AsyncExitStack
) -> Compensating:
    rules, sender = (lambda: holder.current), _sender(ending)
    compensating = Compensating(Compensations(store), sender, rules, BootClock(), metrics, log)
    ending.push_async_callback(compensating.close, _COMPENSATED_WITHIN_S)
    return compensating


def _webhooks(settings: ServeSettings, ending: AsyncExitStack) -> Post:
    return Webhooks(_sender(ending), settings.admin_url).post


def _sender(ending: AsyncExitStack) -> HttpSender:
    """Connections of the parent's own."""
    sender = HttpSender(BootClock())
    ending.callback(sender.close)
    return sender


def _url(address: Address, cert: Path | None) -> str:
    return f"{'http' if cert is None else 'https'}://{address}"


def _say_what_is_in_force(holder: PolicyHolder, log: Log) -> None:
    _say_who_may_call(holder, log)
    _say_what_is_observed(holder, log)


def _say_who_may_call(holder: PolicyHolder, log: Log) -> None:
    principals = holder.current.principals
    if principals:
        log.info("every request needs the key of a principal", principals=len(principals))
    else:
        log.info(f"every caller is {ANONYMOUS}: no principals are configured")


def _say_what_is_observed(holder: PolicyHolder, log: Log) -> None:
    """Observing is for a start, and easily forgotten."""
    observed = [entry.rule for entry in holder.current.entries if entry.rule.mode == "observe"]
    if observed:
        first = f"{observed[0].upstream.name}/{observed[0].name}"
        log.warning("rules only observe, and refuse nothing for fence or intent", rules=len(observed), first=first)


async def _announce(workers: Workers, proxy: str, admin: str, log: Log) -> None:
    await workers.wait_ready()
    log.info("ready", proxy=proxy, admin=admin, workers=workers.ready)
