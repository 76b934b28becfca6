"""`fencegate demo`: the story of a paused agent, told live; then everything stays up to be tried."""

import signal
import sys
from pathlib import Path

import click


@click.command("demo")
@click.option("--once", is_flag=True, help="End after the story instead of staying up.")
def command(once: bool) -> None:
    """Tell the story of A and B live: a gateway, a sample upstream, and agents that are really stopped."""
    from gateway.cli.story.scenes import SceneFailed, Scenes, Teller
    from gateway.cli.story.stage import StageFailed, set_stage

    _end_as_ctrl_c_does()
    click.echo("Starting a store, a sample upstream and a gateway in front of it …")
    try:
        with set_stage() as stage:
            scenes = Scenes(stage, Teller())
            scenes.paused_agent()
            scenes.first_write_of_the_old()
            scenes.write_in_flight()
            scenes.broken_off()
            if not once:
                # Another terminal has no environment of ours on its PATH.
                commands = Path(sys.executable).parent
                told = {"gateway": stage.gateway, "admin": stage.admin, "directory": stage.directory}
                click.echo(_TO_TRY.format(commands=commands, **told))
                _until_told_to_end()
    except (StageFailed, SceneFailed) as failed:
        raise click.ClickException(str(failed)) from None


def _end_as_ctrl_c_does() -> None:
    """Also when it is told to end, or its terminal is closed: what was started is ended on the way out."""
    for told in (signal.SIGTERM, signal.SIGHUP):
        # Under `nohup` it stays.
        if signal.getsignal(told) is not signal.SIG_IGN:
            signal.signal(told, signal.default_int_handler)


def _until_told_to_end() -> None:
    try:
        signal.pause()
    except KeyboardInterrupt:
        click.echo("Ending.")


_TO_TRY = """
It stays up until Ctrl-C. Policies and logs are in {directory} .

The operators' console is at http://{admin}/ , and the first scene as a timeline at
http://{admin}/#/resources/report%2F7 (the others are of report/8, /9 and /10).

To try, in another terminal:

  # a lease, and a write under it
  TOKEN=$(curl -s http://{gateway}/-/fence/leases -H 'Content-Type: application/json' \\
    -d '{{"resource": "report/1", "holder": "me", "ttl_s": 300}}' | sed 's/.*"token": "\\([^"]*\\)".*/\\1/')
  curl -i -X PUT http://{gateway}/reports/1 -H "Fencing-Token: $TOKEN" \\
    -H 'Content-Type: application/json' -d '{{"text": "mine"}}'

  # the same action twice: it is executed once, and answered twice
  for attempt in 1 2; do curl -i http://{gateway}/reports/1/comments -H "Fencing-Token: $TOKEN" \\
    -H 'Idempotency-Key: my-comment' -H 'Content-Type: application/json' -d '{{"text": "done"}}'; done

  # without a token; a read; somebody else takes over; then your write again
  curl -i -X PUT http://{gateway}/reports/1 -d '{{}}'
  curl -i http://{gateway}/reports/1
  curl -s http://{gateway}/-/fence/leases -H 'Content-Type: application/json' \\
    -d '{{"resource": "report/1", "holder": "another", "ttl_s": 300, "takeover": true}}'
  curl -i -X PUT http://{gateway}/reports/1 -H "Fencing-Token: $TOKEN" -d '{{"text": "mine again"}}'

  # a payment, asked for, approved, delivered and taken back: policies/PAYMENT.md tells it in ten commands

  # what the operator sees
  export FENCEGATE_ADMIN={admin} PATH="{commands}:$PATH"
  fencegate leases
  fencegate audit --resource report/1
  fencegate audit verify
  curl -s http://{admin}/metrics | grep ^fencegate_requests_total
"""
