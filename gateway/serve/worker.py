"""A worker: listens on the port that its parent holds, and carries requests until it is told to stop.

Started by `workers.py`, which also says what passes between the two.
"""

import asyncio
import gc
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from gateway.claims.verification import Verification
from gateway.core.arrival import TrustedProxies
from gateway.core.clock import Clock
from gateway.core.faults import StoreUnavailable
from gateway.core.places import Places
from gateway.flow.admission import Admission
from gateway.flow.barring import Barring
from gateway.flow.clock import BootClock
from gateway.flow.delivery import Deliverer
from gateway.flow.gate import Gate
from gateway.flow.inline import Inline
from gateway.flow.lease import Leases
from gateway.flow.naming import Naming
from gateway.flow.parking import Parking
from gateway.flow.pauses import Pauses
from gateway.flow.quota import Quotas
from gateway.flow.read import Reading
from gateway.flow.standing import Standing
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.metrics.worker import Metrics
from gateway.ongoing import ongoing, stop
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.proxy.agent_api import AgentApi
from gateway.proxy.listener import Listener
from gateway.proxy.server import Bounds, ProxyServer
from gateway.serve.accepting import Accepting
from gateway.serve.assignment import Assignment, read_assignment
from gateway.serve.delivering import Means, delivering
from gateway.serve.edition import Page
from gateway.serve.exporting import exporting
from gateway.serve.faults import report_faults
from gateway.serve.inforce import InForce
from gateway.serve.marking import begin_memory, process_name
from gateway.serve.port import listen_beside
from gateway.serve.recorder import Recorder
from gateway.serve.tls import TlsFault
from gateway.serve.workers import READY
from gateway.settings import environment
from gateway.store.connect import open_store
from gateway.store.durability import read_durability
from gateway.store.fence import FenceStore
from gateway.store.loss.incarnation import Incarnation
from gateway.store.pauses import PauseRecords
from gateway.store.quotas import QuotaUse
from gateway.store.tether import die_with_parent
from gateway.upstream.document import Documents
from gateway.upstream.own import OwnListeners
from gateway.upstream.sender import HttpSender

if TYPE_CHECKING:
    from gateway.claims.verifier import Verifier

# 192 bits, in base64url.
_SECRET_BYTES = 24
# What is left to do once the last caller has its answer: settle calls, each bounded by the store's timeout.
_SETTLE_WITHIN_S = 5.0
# A request that is on its way on an open connection comes within a network's round trip.
_LINGER_S = 0.5
# Objects made and not yet freed between two looks for cycles among them; at a few hundred bytes each, some megabytes.
_COLLECT_AFTER = 20_000


async def run_worker(assignment: Assignment, log: Log) -> None:
    """Serve until SIGTERM; then finish what was accepted, for as long as the assignment allows.

    Raises StoreUnavailable if the store cannot be reached at the start.
    """
    told_to_stop = asyncio.Event()
    told_to_reload = asyncio.Event()
    loop = asyncio.get_running_loop()
    log.gather(loop.call_soon)
    loop.add_signal_handler(signal.SIGTERM, told_to_stop.set)
    loop.add_signal_handler(signal.SIGHUP, told_to_reload.set)
    # Nothing follows the assignment but the end, when the parent is gone: for a system without the kernel's own way.
    loop.add_reader(sys.stdin.fileno(), os._exit, 1)

    page = Page(Path(assignment.edition), BootClock())
    number = page.number()
    policies = PolicyHolder.open(Path(assignment.policies), environment(), assignment.credentials)
    if not isinstance(policies, PolicyHolder):
        # The parent found them valid; a certificate may have gone since.
        log.error("a worker cannot load the policies and ends", finding=str(policies[0]))
        sys.exit(1)
    _load_libraries(policies.current)
    rules = InForce(policies, page, number, log)
    name = process_name()
    async with proxy(assignment, rules, log, told_to_stop, name) as server:
        log.info("connected to the store", pid=os.getpid(), process=name)
        accepting = Accepting(server, [listen_beside(assignment.listen)], assignment.tls, log)
        await accepting.open()
        sys.stdout.buffer.write(READY)
        sys.stdout.buffer.flush()
        _collect_rarely()
        reloading = ongoing("reloading", partial(_reload_when_told, rules, accepting, told_to_reload))
        watching = ongoing("watching the TLS files", accepting.watch)
        looking = ongoing("looking after the parent", rules.watch)
        await told_to_stop.wait()
        await stop(reloading, watching)
        await accepting.finish()
        await server.finish(assignment.grace_s, _LINGER_S)
        await stop(looking)
    log.write()


@asynccontextmanager
async def proxy(
    assignment: Assignment,
    rules: Callable[[], RuleSet],
    log: Log,
    stopping: asyncio.Event | None = None,
    name: str | None = None,
) -> AsyncIterator[ProxyServer]:
    """Everything between the port and the upstreams. On leaving: the last settle calls, then the connections.

    `stopping`: from then on nothing is taken for delivery. `name`: the process's own in the store, made up without one.
    """
    clock, wakes, tasks = BootClock(), Wakes(), Tasks()
    metrics = _metrics(rules())
    report_faults(log, metrics)
    stopping = stopping or asyncio.Event()
    memory = begin_memory(name or process_name(), metrics, stopping, log)
    store = await _open_store(assignment, rules, wakes, metrics, memory)
    places = Places(assignment.max_waiting, metrics)
    sender = HttpSender(clock, places, _own(assignment))
    claims = Verification(partial(_verifier, clock, sender, log))
    pauses = Pauses(store, PauseRecords(store), clock, wakes)
    await pauses.read()
    watching = ongoing("watching pauses", pauses.watch)
    means = Means(store, sender, clock, wakes, tasks, pauses, metrics, stopping)
    try:
        async with (
            exporting(assignment.traces, metrics.spans, log) as tracing,
            delivering(means, rules, log, grace_s=assignment.grace_s) as deliverer,
        ):
            deliverer.tracing = tracing
            gate, agents = _takers(means, places, claims, rules, deliverer)
            recorder, local = Recorder(metrics, log, tracing), assignment.listen.is_loopback
            bounds, trusted = Bounds(places, assignment.max_connections), _trusted(assignment)
            begin = None if tracing is None else tracing.begin
            yield Listener(
                gate, agents, recorder, rules, trusted, bounds, on_loopback=local, begin_trace=begin
            ).server()
    finally:
        await stop(watching)
        await tasks.drain(_SETTLE_WITHIN_S)
        claims.close()
        sender.close()
        await store.close()
        metrics.write()


def _takers(
    means: Means, places: Places, claims: Verification, rules: Callable[[], RuleSet], deliverer: Deliverer
) -> tuple[Gate, AgentApi]:
    """Who takes requests for upstreams, and who takes the agents' own calls."""
    store, clock, wakes, tasks = means.store, means.clock, means.wakes, means.tasks
    admission = Admission(store, clock, wakes, tasks, means.pauses, places, claims)
    standing = Standing(rules, claims)
    inline = Inline(admission, store, means.sender, clock, tasks, means.observer, standing)
    parking = Parking(store, admission, inline.quarantine, inline.room, clock, deliverer, standing)
    quotas = Quotas(QuotaUse(store), tasks)
    naming, barring = Naming(store, inline.room), Barring(means.pauses, quotas)
    reading = Reading(store, means.sender, standing)
    leases = Leases(store, clock, wakes, tasks, quotas, lambda: secrets.token_urlsafe(_SECRET_BYTES), places)
    gate = Gate(rules, naming, inline, reading, claims, barring, parking)
    return gate, AgentApi(rules, leases, store, claims)


def _metrics(rules: RuleSet) -> Metrics:
    metrics = Metrics(CollectorRegistry(), asyncio.get_running_loop().call_later)
    directory = environment().get("PROMETHEUS_MULTIPROC_DIR")
    metrics.prepare((upstream.name for upstream in rules.upstreams), Path(directory) if directory else None)
    return metrics


async def _open_store(
    assignment: Assignment, rules: Callable[[], RuleSet], wakes: Wakes, metrics: Metrics, incarnation: Incarnation
) -> FenceStore:
    store = await open_store(
        assignment.store,
        gateway=incarnation.name,
        on_wake=wakes.on_wake,
        timeout_s=assignment.store_timeout_s,
        clock=BootClock(),
        incarnation=incarnation,
        durability=read_durability(assignment.durability),
    )
    store.on_call = metrics.store_called
    store.quarantine_bounds = assignment.quarantine
    store.parked_bytes = assignment.queue_bytes
    store.writes_last(lambda: rules().write_lasts_s)
    return store


def _own(assignment: Assignment) -> OwnListeners:
    listeners = (assignment.listen, assignment.admin)
    return OwnListeners((one.host, one.port) for one in listeners if one is not None)


def _trusted(assignment: Assignment) -> TrustedProxies:
    return TrustedProxies(ip_network(network) for network in assignment.trusted_proxies)


def _load_libraries(rules: RuleSet) -> None:
    """Those that only some policies need: no request has to wait for them."""
    if any(entry.rule.signed is not None for entry in rules.entries):
        import_module("gateway.claims.verifier")


def _verifier(clock: Clock, sender: HttpSender, log: Log) -> "Verifier":
    # Not at the top: cryptography takes ten megabytes, which workers without signed claims do not need.
    from gateway.claims.verifier import Verifier

    return Verifier(clock, Documents(sender).fetch, log.warning)


def _collect_rarely() -> None:
    """What was made at the start lives to the end, and a request leaves next to no cycles behind.

    With Python's own thresholds a tenth of a worker's time went into looking at both again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)


async def _reload_when_told(rules: InForce, accepting: Accepting, told: asyncio.Event) -> None:
    """Read certificates and policies again at each SIGHUP: these in a thread, because requests go on meanwhile."""
    while True:
        await told.wait()
        told.clear()
        try:
            await accepting.renew()
            await asyncio.to_thread(rules.reload)
            await asyncio.to_thread(_load_libraries, rules())
        except BaseException:
            # What begins this anew finds that it was told.
            told.set()
            raise


def main() -> None:
    """Read the assignment and serve. Ends with the parent, whatever ends that."""
    die_with_parent(os.getppid(), signal.SIGKILL)
    line = sys.stdin.buffer.readline()
    if not line:
        return
    assignment = read_assignment(line)
    log = Log(assignment.log_format, assignment.log_level)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(run_worker(assignment, log))
        except StoreUnavailable as away:
            log.error("a worker cannot reach the store and ends", reason=str(away))
            sys.exit(1)
        except (TlsFault, OSError) as error:
            # TLS files that the parent found usable may have changed since. An OSError is such as no room for the
            # metrics' files, which would end it later, in the middle of a request.
            log.error("a worker cannot start and ends", reason=str(error))
            sys.exit(1)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's loop where it is installed; None stands for asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


if __name__ == "__main__":
    main()
