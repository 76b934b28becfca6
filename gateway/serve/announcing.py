"""What the log says of a gateway that starts: who may call, what is only observed, and where it listens."""

from gateway.core.caller import ANONYMOUS
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from gateway.serve.workers import Workers


def say_what_is_in_force(rules: RuleSet, log: Log) -> None:
    _say_who_may_call(rules, log)
    _say_what_is_observed(rules, log)


async def announce(workers: Workers, proxy: str, admin: str, log: Log) -> None:
    """Once all workers accept requests; `proxy` and `admin` are the listeners' URLs."""
    await workers.wait_ready()
    log.info("ready", proxy=proxy, admin=admin, workers=workers.ready)


def _say_who_may_call(rules: RuleSet, log: Log) -> None:
    if rules.principals:
        log.info("every request needs the key of a principal", principals=len(rules.principals))
    else:
        log.info(f"every caller is {ANONYMOUS}: no principals are configured")


def _say_what_is_observed(rules: RuleSet, log: Log) -> None:
    """Observing is for a start, and easily forgotten."""
    observed = [entry.rule for entry in rules.entries if entry.rule.mode == "observe"]
    if observed:
        first = f"{observed[0].upstream.name}/{observed[0].name}"
        log.warning("rules only observe, and refuse nothing for fence or intent", rules=len(observed), first=first)
