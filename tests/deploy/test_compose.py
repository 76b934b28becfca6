"""The composition: what the Compose specification says of it, and whether its parts fit each other and the program."""

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from compose_spec import PyCompose

from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.serve.starting import GRACE_BEYOND_TOTAL_S
from gateway.serve.supervisor import KILL_AFTER_GRACE_S
from gateway.settings import read_serve_settings
from gateway.store.doctor import examine
from gateway.store.embedded import find_server
from tests.deploy.balancing import free_port
from tests.deploy.manifests import overlay
from tests.pages import ROOT
from tests.raw import ask
from tests.store.fences import opened
from tests.store.server import Server
from tests.until import until

_REFERENCE = re.compile(r"\$\{(?P<name>\w+)(?::(?:-(?P<default>[^}]*)|\?[^}]*))?\}")
DEPLOY = ROOT / "deploy"
SECRET = "letters1and2digits"
TEXT = _REFERENCE.sub(lambda found: found["default"] or SECRET, (DEPLOY / "compose.yaml").read_text())
# Untyped: YAML, whose shape is the specification's to check.
COMPOSITION: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES = COMPOSITION["services"]
CONFIGS = {name: yaml.safe_load(config["content"]) for name, config in COMPOSITION["configs"].items()}


def test_it_is_a_composition() -> None:
    """Of known fields, whose networks and files are there."""
    PyCompose.from_yaml(TEXT).validate()


def test_its_volumes_are_there() -> None:
    """Those that are named, and directories of this repository."""
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            if volume["type"] == "volume":
                assert volume["source"] in COMPOSITION["volumes"]
            else:
                assert (DEPLOY / volume["source"]).is_dir()


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_can_do_little(name: str) -> None:
    """No capability that it does not need, and none to be gained."""
    service = SERVICES[name]

    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_only_the_gateway_reaches_the_store_and_the_apis() -> None:
    """There is no way around it."""
    on = {
        network: {name for name, service in SERVICES.items() if network in service["networks"]}
        for network in COMPOSITION["networks"]
    }

    assert on["store"] == {"gateway", "store"}
    assert on["upstreams"] == {"gateway", "sample"}
    assert COMPOSITION["networks"]["store"]["internal"] and COMPOSITION["networks"]["upstreams"]["internal"]


def test_the_gateway_s_environment_is_of_settings() -> None:
    """A misspelled variable would be passed over in silence."""
    variables = SERVICES["gateway"]["environment"]
    given = {name.removeprefix("FENCEGATE_").lower(): value for name, value in variables.items() if name != "TMPDIR"}

    settings = read_serve_settings({"policies": "policies", **given})

    assert set(given) <= set(type(settings).model_fields)
    assert urlsplit(settings.store or "").password == SECRET


def test_it_is_left_the_time_that_a_gateway_takes_to_stop() -> None:
    """Else it is killed with writes in flight."""
    rules = load_policies(DEPLOY / "policies", {})
    assert isinstance(rules, RuleSet)
    longest_s = max(upstream.timeouts.total_s for upstream in rules.upstreams)
    needs_s = longest_s + GRACE_BEYOND_TOTAL_S + KILL_AFTER_GRACE_S

    assert int(SERVICES["gateway"]["stop_grace_period"].removesuffix("s")) >= needs_s


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_it_can_be_waited_for(name: str) -> None:
    """`up --wait` fails for good at a service whose image's check is switched off."""
    assert not SERVICES[name].get("healthcheck", {}).get("disable", False)


def test_the_policy_names_the_sample() -> None:
    """By its name in the network, and the port that it listens on."""
    rules = load_policies(DEPLOY / "policies", {})
    assert isinstance(rules, RuleSet)
    (upstream,) = rules.upstreams

    assert upstream.origin.host in SERVICES
    assert f'("", {upstream.origin.port})' in SERVICES["sample"]["command"][0]


async def test_the_sample_answers(tmp_path: Path) -> None:
    """A write comes back."""
    port = free_port()
    program = SERVICES["sample"]["command"][0].replace('("", 9000)', f'("127.0.0.1", {port})')
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=asyncio.subprocess.DEVNULL)
    try:

        async def answers() -> bool:
            try:
                return (await ask(port, "PUT", "/reports/7", body=b"{}")).body == b"{}"
            except ConnectionError:
                return False

        await until(answers)
    finally:
        process.kill()
        await process.wait()


def _in_compose() -> list[str]:
    command: list[str] = SERVICES["store"]["command"]
    return command


def _in_kubernetes() -> list[str]:
    (container,) = overlay("example").pods()["fencegate-store"]["spec"]["containers"]
    return [SECRET if word == "$(PASSWORD)" else word for word in container["command"]]


@pytest.mark.parametrize("words", [_in_compose(), _in_kubernetes()], ids=["compose", "kubernetes"])
async def test_the_store_is_fit_to_keep_a_fence(words: list[str], tmp_path: Path) -> None:
    """`fencegate doctor` finds nothing, and nobody comes in without the password."""
    program, *options = words
    server = Server(find_server(), tmp_path, *[str(tmp_path) if word == "/data" else word for word in options])
    server.start()
    try:
        async with opened(server.url.replace("unix://", f"unix://:{SECRET}@")) as store:
            checks = await examine(store.link)
    finally:
        server.kill()

    assert program == "valkey-server"
    assert [check for check in checks if not check.ok] == []


def test_prometheus_scrapes_the_gateway_by_the_rules_of_the_repository() -> None:
    """With the token that /metrics wants."""
    told = CONFIGS["prometheus"]
    mounts = {volume["target"]: volume["source"] for volume in SERVICES["prometheus"]["volumes"]}
    (scrape,) = told["scrape_configs"]

    for file in told["rule_files"]:
        directory, _, name = file.rpartition("/")
        assert (DEPLOY / mounts[directory] / name).is_file()
    assert scrape["authorization"] == {"credentials": SECRET}
    assert scrape["static_configs"] == [{"targets": ["gateway:8081"]}]
    # The rules and the dashboard know gateways by the job of the file beside them.
    beside = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    assert scrape["job_name"] == beside["scrape_configs"][0]["job_name"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool (apt-get install prometheus)")
def test_prometheus_takes_its_file(tmp_path: Path) -> None:
    """As its own tool says."""
    file = tmp_path / "prometheus.yml"
    text = COMPOSITION["configs"]["prometheus"]["content"]
    file.write_text(text.replace("/etc/prometheus/fencegate", str(DEPLOY / "prometheus")))

    checked = subprocess.run(["promtool", "check", "config", str(file)], capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stderr


def test_grafana_is_given_the_dashboard() -> None:
    """And a Prometheus to ask."""
    (provider,) = CONFIGS["dashboards"]["providers"]
    mounts = {volume["target"]: volume["source"] for volume in SERVICES["grafana"]["volumes"]}
    (source,) = CONFIGS["datasource"]["datasources"]

    assert list((DEPLOY / mounts[provider["options"]["path"]]).glob("*.json"))
    assert urlsplit(source["url"]).hostname in SERVICES
