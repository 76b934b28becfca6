"""The scenes, told step by step with the requests and answers as they went over the wire."""

import contextlib
import json
import time
from collections.abc import Iterator

import click

from gateway.cli.story.stage import AgentProcess, Stage, get_json, post_json

# Long enough for a step, short enough that nobody waits for its end.
_TTL_S = 1.0


class SceneFailed(Exception):
    """The gateway did not do what the story says."""


class Teller:
    """Prints the steps; `answered` fails the story when an answer is not what the scene is about."""

    def title(self, text: str) -> None:
        click.echo()
        click.secho(text, bold=True)

    def note(self, text: str) -> None:
        click.echo(f"  {text}")

    def asked(
        self, agent: AgentProcess, method: str, path: str, body: dict[str, object], key: str | None = None
    ) -> None:
        named = "" if key is None else f"   Idempotency-Key: {key}"
        click.secho(f"  {agent.name} → {method} {path} {json.dumps(body)}{named}", fg="cyan")

    def answered(self, agent: AgentProcess, heard: dict[str, object], wanted: int) -> None:
        headers = heard["headers"]
        assert isinstance(headers, dict)
        marks = "  ".join(f"{name}: {value}" for name, value in headers.items())
        colour = "green" if heard["status"] in (200, 201) else "red"
        click.secho(f"  {agent.name} ← {heard['status']}  {marks}", fg=colour)
        body = heard["body"]
        if isinstance(body, dict) and "detail" in body:
            click.echo(f"      {body['detail']}")
            shown = ("action", "epoch", "highest_epoch")
            click.echo("      " + "  ".join(f"{name}: {body[name]}" for name in shown if name in body))
        elif isinstance(body, dict) and "token" in body:
            click.echo(f"      token {str(body['token'])[:17]}…  for {body['ttl_s']:g} s")
        if heard["status"] != wanted:
            raise SceneFailed(f"{agent.name} was answered {heard['status']}, not {wanted}: {json.dumps(body)}")


class Scenes:
    """The story of A and B, four times."""

    def __init__(self, stage: Stage, teller: Teller) -> None:
        self._stage = stage
        self._tell = teller

    def paused_agent(self) -> None:
        """A takes the lease and is paused; B takes over and writes; A wakes and is refused."""
        tell = self._tell
        tell.title("1  A falls asleep, B takes over and writes, A wakes up with its old result")
        with self._agents() as (a, b):
            self._lease(a, "report/7", ttl_s=_TTL_S)
            tell.note(f"A (process {a.pid}) works on the report and is stopped in the middle of it (SIGSTOP).")
            a.pause()
            tell.note("Its lease runs out. B has been told to take over, and waits for the lease to be free.")
            self._lease(b, "report/7", wait_s=10)
            self._write(b, "PUT", "/reports/7", {"text": "written by B"}, 200)
            tell.note("A is continued (SIGCONT). It knows nothing of all this, and writes what it had in hand.")
            a.say("PUT", "/reports/7", {"text": "the old result of A"})
            a.go_on()
            tell.asked(a, "PUT", "/reports/7", {"text": "the old result of A"})
            tell.answered(a, a.hear(), 412)
        self._executed("7", [{"text": "written by B"}])

    def first_write_of_the_old(self) -> None:
        """A writes first; after the takeover it is refused, although B has not written yet."""
        tell = self._tell
        tell.title("2  The other order: A has written, B takes over, and A is refused before B writes anything")
        with self._agents() as (a, b):
            self._lease(a, "report/8", ttl_s=60)
            self._write(a, "PUT", "/reports/8", {"text": "first part, by A"}, 200)
            tell.note("A's lease has a minute left. B takes it over, as an operator or a scheduler may decide.")
            self._lease(b, "report/8", takeover=True)
            self._write(a, "PATCH", "/reports/8", {"more": "second part, by A"}, 412)
            self._write(b, "PATCH", "/reports/8", {"more": "second part, by B"}, 200)
        self._executed("8", [{"text": "first part, by A"}, {"more": "second part, by B"}])

    def write_in_flight(self) -> None:
        """A's write is under way at a slow upstream; B's newer one waits for its end."""
        tell = self._tell
        tell.title("3  A's write is already on its way to a slow upstream when B takes over")
        with self._agents() as (a, b):
            self._lease(a, "report/9", ttl_s=60)
            slow: dict[str, object] = {"text": "slow, by A"}
            tell.asked(a, "PUT", "/reports/9?slow_s=2", slow)
            a.say("PUT", "/reports/9?slow_s=2", slow)
            self._until_in_flight("report/9")
            self._lease(b, "report/9", takeover=True)
            tell.note("No fence can call back what is on the wire. So B's write waits until A's has ended.")
            tell.asked(b, "PUT", "/reports/9", {"text": "newer, by B"})
            started = time.monotonic()
            b.say("PUT", "/reports/9", {"text": "newer, by B"})
            tell.answered(a, a.hear(), 200)
            tell.answered(b, b.hear(), 200)
            tell.note(f"B's write waited {time.monotonic() - started:.1f} s, and nothing was overwritten.")
        self._executed("9", [{"text": "slow, by A"}, {"text": "newer, by B"}])

    def broken_off(self) -> None:
        """The upstream executes A's comment and breaks off; B repeats the step, and it takes effect once."""
        tell, path, key = self._tell, "/reports/10/comments?hang_up=1", "comment-1"
        comment: dict[str, object] = {"text": "done, see chapter 3"}
        tell.title("4  A's comment is executed, but no answer comes back; B takes over and repeats A's steps")
        with self._agents() as (a, b):
            self._lease(a, "report/10", ttl_s=60)
            heard = self._comment(a, path, comment, key, 504)
            self._lease(b, "report/10", takeover=True)
            self._comment(b, path, comment, key, 409)
            tell.note("Nobody knows, so nobody guesses. An operator looks at the report, and the comment is there:")
            self._resolve(heard)
            self._comment(b, path, comment, key, 200)
        self._executed("10", [comment])

    @contextlib.contextmanager
    def _agents(self) -> Iterator[tuple[AgentProcess, AgentProcess]]:
        with contextlib.ExitStack() as running:
            agents = []
            for name in ("agent-a", "agent-b"):
                agent = AgentProcess(name, self._stage.gateway)
                running.callback(agent.end)
                agents.append(agent)
            yield agents[0], agents[1]

    def _lease(self, agent: AgentProcess, resource: str, ttl_s: float = 60, **more: object) -> None:
        body: dict[str, object] = {"resource": resource, "holder": agent.name, "ttl_s": ttl_s, **more}
        self._tell.asked(agent, "POST", "/-/fence/leases", body)
        agent.say("POST", "/-/fence/leases", body)
        self._tell.answered(agent, agent.hear(), 201)

    def _write(self, agent: AgentProcess, method: str, path: str, body: dict[str, object], wanted: int) -> None:
        self._tell.asked(agent, method, path, body)
        agent.say(method, path, body)
        self._tell.answered(agent, agent.hear(), wanted)

    def _comment(
        self, agent: AgentProcess, path: str, body: dict[str, object], key: str, wanted: int
    ) -> dict[str, object]:
        self._tell.asked(agent, "POST", path, body, key)
        agent.say("POST", path, body, key)
        heard = agent.hear()
        self._tell.answered(agent, heard, wanted)
        return heard

    def _resolve(self, heard: dict[str, object]) -> None:
        """As `fencegate intents resolve` does."""
        problem = heard["body"]
        assert isinstance(problem, dict)
        id, note = problem["intent"]["id"], "the comment is there"
        self._tell.note(f"    fencegate intents resolve {id} --applied --note '{note}'")
        post_json(self._stage.admin, f"/api/v1/intents/{id}/resolve", {"outcome": "applied", "note": note})

    def _until_in_flight(self, resource: str) -> None:
        """Until the gateway itself says that a write of the resource is in flight."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            shown = get_json(self._stage.admin, f"/api/v1/resources/{resource}")
            if isinstance(shown, dict) and shown.get("tickets"):
                return
            time.sleep(0.02)
        raise SceneFailed(f"no write of {resource} came in flight")

    def _executed(self, report: str, wanted: list[dict[str, object]]) -> None:
        """Ask the upstream itself what it did."""
        log = get_json(self._stage.upstream, "/log")
        assert isinstance(log, list)
        bodies = [entry["body"] for entry in log if entry["report"] == report]
        self._tell.note(f"The upstream's own log of report {report}:")
        for body in bodies:
            self._tell.note(f"    executed {json.dumps(body)}")
        if bodies != wanted:
            raise SceneFailed(f"the upstream executed {bodies}, not {wanted}")
