"""`fencegate deliver`: send what gateways on the same store have queued, until it is told to stop."""

import click

from gateway.cli.service import A_PATH, run_service, service_options
from gateway.serve.deliverer import deliver
from gateway.settings import read_deliver_settings


@click.command("deliver")
@click.option("--policies", metavar="DIR", type=A_PATH, help="The same directory as the gateways'.  [required]")
@click.option("--store", metavar="URL", help="The gateways' store, as for serve.  [required]")
@click.option("--metrics", metavar="HOST:PORT", help="Where /metrics, /healthz and /readyz are answered.  [nowhere]")
@click.option("--durability", metavar="process|disk|replica:N", help="As for serve.  [process]")
@click.option("--store-timeout", metavar="SECONDS", help="How long to wait for the store.  [2]")
@click.option(
    "--grace", metavar="SECONDS", help="How long deliveries may take to end at shutdown.  [largest total + 5]"
)
@service_options
def command(**options: object) -> None:
    """Deliver what was queued. Every gateway does that too; this is for a host that should do nothing else.

    SIGHUP reads the policies again, SIGTERM ends: what is being sent is finished first.
    """
    run_service(read_deliver_settings, deliver, options)
