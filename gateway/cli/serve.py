"""`fencegate serve`: run the gateway until it is told to stop."""

import click

from gateway.cli.service import A_PATH, run_service, service_options
from gateway.serve.supervisor import serve
from gateway.settings import read_serve_settings


@click.command("serve")
@click.option("--policies", metavar="DIR", type=A_PATH, help="Directory with one YAML file per upstream.  [required]")
@click.option("--listen", metavar="HOST:PORT", help="Where agents' requests come in.  [127.0.0.1:8080]")
@click.option("--admin", metavar="HOST:PORT", help="Where operators and Prometheus come in.  [127.0.0.1:8081]")
@click.option("--tls-cert", metavar="FILE", type=A_PATH, help="Serve agents over TLS, with this certificate in PEM.")
@click.option("--tls-key", metavar="FILE", type=A_PATH, help="Its private key.")
@click.option(
    "--tls-client-ca", metavar="FILE", type=A_PATH, help="Take agents with a certificate of these authorities only."
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    metavar="CIDR",
    multiple=True,
    help="Believe X-Forwarded-* and Forwarded of proxies at these addresses. May be given several times.",
)
@click.option(
    "--admin-tls-cert", metavar="FILE", type=A_PATH, help="Serve operators over TLS, with this certificate in PEM."
)
@click.option("--admin-tls-key", metavar="FILE", type=A_PATH, help="Its private key.")
@click.option("--admin-url", metavar="URL", help="Where operators reach --admin: for the links in notifications.")
@click.option(
    "--store",
    metavar="URL",
    help="redis://, rediss:// or unix://PATH; redis+sentinel://HOST:PORT,…/SERVICE; redis+cluster://HOST:PORT,…; "
    "rediss+… for TLS.  [a bundled one in the data directory]",
)
@click.option(
    "--data-dir",
    metavar="DIR",
    type=A_PATH,
    help="Where the bundled store keeps its data, and this gateway the marks by which it notices that any store has "
    "lost some. It is made if it is missing, but for a store that is allowed to be unsafe.  [.fencegate]",
)
@click.option("--workers", metavar="N", help="Processes that carry traffic.  [1]")
@click.option("--max-connections", metavar="N", help="Callers' connections that a worker takes at a time.  [10000]")
@click.option("--max-waiting", metavar="N", help="Requests that may wait in a worker at a time.  [4000]")
@click.option(
    "--drain", metavar="SECONDS", help="How long callers are still taken after SIGTERM, with /readyz at 503.  [0]"
)
@click.option(
    "--allow-unsafe-store", is_flag=True, default=None, help="Start on a store that `fencegate doctor` finds unfit."
)
@click.option(
    "--durability",
    metavar="process|disk|replica:N",
    help="How safe a record is before anything is sent or answered because of it.  [process]",
)
@click.option("--store-timeout", metavar="SECONDS", help="How long a write waits for the store.  [2]")
@click.option("--grace", metavar="SECONDS", help="How long writes may take to end at shutdown.  [largest total + 5]")
@click.option("--audit-retain", metavar="DURATION", help="How long events of the audit trail are kept.  [7d]")
@click.option("--audit-events", metavar="N", help="How many of them are kept in all; the oldest go.  [500000]")
@click.option("--quarantine-retain", metavar="DURATION", help="How long late results are kept.  [7d]")
@click.option("--quarantine-bytes", metavar="N", help="How much of them is kept in all; the oldest go.  [268435456]")
@click.option("--queue-bytes", metavar="N", help="How much may wait for delivery or approval in all.  [268435456]")
@service_options
def command(**options: object) -> None:
    """Run the gateway. Each option may come from the environment: --data-dir from FENCEGATE_DATA_DIR, and so on.

    SIGHUP reloads policies and certificates, SIGTERM ends: accepted writes are finished first. A second one ends at
    once.
    """
    run_service(read_serve_settings, serve, options)
