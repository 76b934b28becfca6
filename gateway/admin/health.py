"""Whether the gateway lives, whether it can serve, and its metrics."""

from aiohttp import web

from gateway.admin.running import RUNNING, Running
from gateway.core.budget import Fullest
from gateway.core.census import Census, writers
from gateway.core.faults import PartUnavailable, StoreUnavailable
from gateway.core.problem import instant
from gateway.metrics.parent import CONTENT_TYPE
from gateway.store.fence import FenceStore
from gateway.store.loss import losses


async def healthz(_request: web.Request) -> web.Response:
    """The process is up: restarting it would help nobody."""
    return web.json_response({"status": "up"})


async def readyz(request: web.Request) -> web.Response:
    """Whether writes can pass now: 200, or 503 with every reason why not."""
    return readiness(await _reasons(request.app[RUNNING]))


def readiness(reasons: list[str]) -> web.Response:
    if reasons:
        return web.json_response({"status": "not ready", "reasons": reasons}, status=503)
    return web.json_response({"status": "ready"})


async def metrics(request: web.Request) -> web.Response:
    """Prometheus' text format, for all processes of this gateway."""
    running = request.app[RUNNING]
    is_up = await store_is_up(running.store)
    rules, census = running.rules(), await _census(running) if is_up else None
    budgets = await _budgets(running) if is_up else ()
    observed = frozenset(
        (entry.rule.upstream.name, entry.rule.name) for entry in rules.entries if entry.rule.mode == "observe"
    )
    exposition = running.metrics.exposition(
        store_up=is_up,
        workers_ready=running.workers_ready(),
        census=census,
        writers=writers(census.in_flight if census else (), (each.name for each in rules.upstreams), observed),
        budgets=budgets,
    )
    return web.Response(body=exposition, headers={"Content-Type": CONTENT_TYPE})


async def _reasons(running: Running) -> list[str]:
    # That there are policies needs no line: without a valid set the gateway does not start, and it never loses one.
    reasons = []
    if running.is_stopping():
        reasons.append("the gateway is stopping")
    if running.workers_ready() == 0:
        reasons.append("no worker accepts requests")
    if not running.policies_are_known():
        reasons.append("for too long nobody has said that the policies are in force, and workers refuse writes")
    reasons += await reasons_of_store(running.store)
    reasons += [f"the store is unsafe: {check.name}: {check.saw}; {check.what_to_do}" for check in running.unfit()]
    return reasons


async def reasons_of_store(store: FenceStore) -> list[str]:
    """Why no write can pass because of the store; empty where it may."""
    try:
        await store.ping()
        loss = await losses.regressed(store)
    except PartUnavailable as away:
        return [f"a part of the store is away: {away}"]
    except StoreUnavailable as away:
        return [f"the store is away: {away}"]
    if loss is None:
        return []
    since = instant(loss.since_ms)
    return [f"the store has lost acknowledged work, as was found at {since}: `fencegate store` shows more"]


async def _census(running: Running) -> Census | None:
    """None where the store does not say."""
    try:
        return await running.counting.census()
    except StoreUnavailable:
        return None


async def _budgets(running: Running) -> tuple[Fullest, ...]:
    """Of all rules in force; none where the store does not say."""
    budgeted = [entry.rule for entry in running.rules().entries if entry.rule.budgets]
    try:
        return await running.counting.budgets(budgeted) if budgeted else ()
    except StoreUnavailable:
        return ()


async def store_is_up(store: FenceStore) -> bool:
    """Whether every server of it takes writes now."""
    try:
        await store.ping()
    except StoreUnavailable:
        return False
    return True
