"""The manifests: what the published schemas say of them, whether their parts fit together, and the promises in them."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

from gateway.cli import main
from gateway.policy.load import load_policies
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.policy.ruleset import RuleSet
from gateway.serve.snapshot import Snapshot
from gateway.serve.starting import GRACE_BEYOND_TOTAL_S
from gateway.serve.supervisor import KILL_AFTER_GRACE_S
from gateway.settings import read_serve_settings
from gateway.store.embedded import _STOP_WITHIN_S
from tests.deploy.manifests import KUBERNETES, Object, overlay
from tests.gateway_process import POLICY, call, running
from tests.pages import ROOT
from tests.recording import RecordingUpstream
from tests.until import until

EXAMPLE = overlay("example")
POLICIES = KUBERNETES / "overlays" / "example" / "policies"
# The oldest whose fields are all there (unhealthyPodEvictionPolicy), and the newest that is published.
VERSIONS = ("1.27", "1.37")
BUILTIN = [each for each in EXAMPLE.objects if each["kind"] != "ServiceMonitor"]
GATEWAY = EXAMPLE.pods()["fencegate"]
CONTAINER = GATEWAY["spec"]["containers"][0]


def called(each: Object) -> str:
    return f"{each['kind']} {each['metadata']['name']}"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("each", BUILTIN, ids=called)
def test_an_object_is_of_its_schema(each: Object, version: str) -> None:
    """Without a field that the schema does not know."""
    kubernetes_validate.validate(each, version, strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
def test_kustomize_finds_the_same_objects() -> None:
    """All in the namespace, and the policies under a name that stays when they change."""
    built = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / "overlays" / "example")], capture_output=True, check=True
    ).stdout
    objects = list(yaml.safe_load_all(built))

    assert Counter(map(called, objects)) == Counter(map(called, EXAMPLE.objects))
    assert {each["metadata"]["namespace"] for each in objects} == {"fencegate"}
    (image,) = (
        each["spec"]["template"]["spec"]["containers"][0]["image"]
        for each in objects
        if called(each) == "Deployment fencegate"
    )
    assert image == "registry.example.com/fencegate:0.1.0"


def _ports(pod: Object) -> set[object]:
    found = [port for container in pod["spec"]["containers"] for port in container["ports"]]
    return {port["name"] for port in found} | {port["containerPort"] for port in found}


def test_whoever_selects_pods_finds_some() -> None:
    """With the ports that are named."""
    for service in EXAMPLE.of("Service"):
        pods = EXAMPLE.selected(service["spec"]["selector"])
        assert pods, called(service)
        assert all(port["targetPort"] in _ports(pod) for port in service["spec"]["ports"] for pod in pods)
    for budget in EXAMPLE.of("PodDisruptionBudget"):
        assert EXAMPLE.selected(budget["spec"]["selector"]["matchLabels"])
    for maker in (*EXAMPLE.of("Deployment"), *EXAMPLE.of("StatefulSet")):
        assert EXAMPLE.selected(maker["spec"]["selector"]["matchLabels"]) == [maker["spec"]["template"]]
    for spread in GATEWAY["spec"]["topologySpreadConstraints"]:
        assert EXAMPLE.selected(spread["labelSelector"]["matchLabels"]) == [GATEWAY]
    assert EXAMPLE.named("StatefulSet", "fencegate-store")["spec"]["serviceName"] == "fencegate-store"


def test_network_policies_name_ports_of_the_pods_that_they_are_about() -> None:
    """And of those that they let those pods reach."""
    for policy in EXAMPLE.of("NetworkPolicy"):
        about = EXAMPLE.selected(policy["spec"]["podSelector"].get("matchLabels", {}))
        for rule in policy["spec"].get("ingress", ()):
            assert all(port["port"] in _ports(pod) for port in rule["ports"] for pod in about), called(policy)
        for rule in policy["spec"].get("egress", ()):
            for peer in rule["to"]:
                reached = EXAMPLE.selected(peer["podSelector"]["matchLabels"])
                assert all(port["port"] in _ports(pod) for port in rule["ports"] for pod in reached), called(policy)


def test_every_pod_has_a_policy_for_who_reaches_it() -> None:
    """Without one all others do."""
    about = [policy["spec"] for policy in EXAMPLE.of("NetworkPolicy") if "Ingress" in policy["spec"]["policyTypes"]]
    for name, pod in EXAMPLE.pods().items():
        assert any(pod in EXAMPLE.selected(spec["podSelector"]["matchLabels"]) for spec in about), name


def test_what_pods_mount_and_name_is_there() -> None:
    """ConfigMaps, Secrets and their keys, volumes, and the ports of probes."""
    for pod in EXAMPLE.pods().values():
        volumes = {volume["name"] for volume in pod["spec"].get("volumes", ())}
        volumes |= {
            claim["metadata"]["name"]
            for maker in EXAMPLE.of("StatefulSet")
            for claim in maker["spec"]["volumeClaimTemplates"]
        }
        for container in pod["spec"]["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
            for source in container.get("envFrom", ()):
                assert EXAMPLE.named("Secret", source["secretRef"]["name"])
            for variable in container.get("env", ()):
                if "valueFrom" in variable:
                    named = variable["valueFrom"]["secretKeyRef"]
                    assert named["key"] in EXAMPLE.named("Secret", named["name"])["stringData"]
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                assert container.get(probe, {}).get("httpGet", {"port": "admin"})["port"] in {*_ports(pod), "admin"}
    for volume in GATEWAY["spec"]["volumes"]:
        assert "configMap" not in volume or EXAMPLE.named("ConfigMap", volume["configMap"]["name"])


def test_prometheus_is_shown_a_port_and_a_token_that_are_there() -> None:
    """/metrics wants the admin token."""
    (monitor,) = EXAMPLE.of("ServiceMonitor")
    services = [
        service
        for service in EXAMPLE.of("Service")
        if monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"].get("labels", {}).items()
    ]
    (endpoint,) = monitor["spec"]["endpoints"]
    credentials = endpoint["authorization"]["credentials"]

    assert [service["metadata"]["name"] for service in services] == ["fencegate-admin"]
    assert endpoint["port"] in [port["name"] for port in services[0]["spec"]["ports"]]
    assert credentials["key"] in EXAMPLE.named("Secret", credentials["name"])["stringData"]


@pytest.mark.parametrize("name", sorted(EXAMPLE.pods()))
def test_a_pod_is_restricted(name: str) -> None:
    """As the Pod Security Standard `restricted` has it, and with a root file system that cannot be written to."""
    spec = EXAMPLE.pods()[name]["spec"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]


def test_it_runs_as_the_image_s_user() -> None:
    """The marks are in a directory of that user's."""
    (user,) = re.findall(r"^USER (\d+):(\d+)$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    context = GATEWAY["spec"]["securityContext"]

    assert (str(context["runAsUser"]), str(context["runAsGroup"])) == user


def test_large_bodies_wait_on_a_disk() -> None:
    """TMPDIR is a volume, and not one in memory."""
    variables = {each["name"]: each.get("value") for each in CONTAINER["env"]}
    (mount,) = (mount for mount in CONTAINER["volumeMounts"] if mount["mountPath"] == variables["TMPDIR"])
    (volume,) = (volume for volume in GATEWAY["spec"]["volumes"] if volume["name"] == mount["name"])

    assert "medium" not in volume["emptyDir"]


def _options() -> dict[str, Any]:
    command, *words = CONTAINER["args"]
    assert command == "serve"
    return dict(word.removeprefix("--").split("=", 1) for word in words)


def test_a_pod_is_left_the_time_that_its_gateway_takes_to_stop() -> None:
    """Callers that still come, the longest write of the policies, the workers' end and the rest."""
    settings = read_serve_settings({"policies": POLICIES, **_options()})
    rules = load_policies(POLICIES, {"REPORTS_TOKEN": "x"})
    assert isinstance(rules, RuleSet)
    assert settings.grace is not None
    longest_s = max(upstream.timeouts.total_s for upstream in rules.upstreams)

    assert settings.grace >= longest_s + GRACE_BEYOND_TOTAL_S
    needs_s = settings.drain + settings.grace + KILL_AFTER_GRACE_S + _STOP_WITHIN_S
    assert GATEWAY["spec"]["terminationGracePeriodSeconds"] >= needs_s


def test_the_secrets_are_without_values() -> None:
    """Nobody's password is in a repository; and a gateway that is not given any does not start."""
    secrets = [secret["stringData"] for secret in EXAMPLE.of("Secret")]

    assert {value for secret in secrets for value in secret.values()} == {""}
    found = CliRunner().invoke(main, ["check", str(POLICIES)], env={"REPORTS_TOKEN": ""})
    assert found.exit_code == 1
    assert "REPORTS_TOKEN" in found.output


def _mount(directory: Path, policy: str) -> None:
    """Write a ConfigMap's files as the kubelet does: in a directory of their own, which a link is turned to."""
    files = directory / f"..{len(list(directory.iterdir()))}"
    files.mkdir(parents=True)
    (files / "reports.yaml").write_text(policy)
    turned = directory / "..data_tmp"
    turned.symlink_to(files.name)
    turned.replace(directory / "..data")
    shown = directory / "reports.yaml"
    if not shown.is_symlink():
        shown.symlink_to(Path("..data", shown.name))


def test_a_changed_configmap_is_seen(tmp_path: Path) -> None:
    """Its link was turned to other files; the copy that workers read is of these."""
    mounted, copies = tmp_path / "mounted", tmp_path / "copies"
    mounted.mkdir()
    copies.mkdir()
    _mount(mounted, POLICY.format(port=1))
    holder = PolicyHolder.open(mounted, {})
    assert isinstance(holder, PolicyHolder)
    snapshot = Snapshot(mounted, copies)
    assert snapshot.take()

    _mount(mounted, POLICY.format(port=2))

    assert [holder.changed(), holder.changed()] == [False, True]
    assert isinstance(holder.reload(), Reloaded)
    assert holder.current.upstreams[0].origin.port == 2
    assert snapshot.take()
    assert (snapshot.current / "reports.yaml").read_text() == POLICY.format(port=2)


@pytest.mark.slow
async def test_a_running_gateway_obeys_a_changed_configmap(tmp_path: Path) -> None:
    """Its workers send to where the new policy says."""
    mounted = tmp_path / "policies"
    mounted.mkdir()
    async with RecordingUpstream() as old, RecordingUpstream() as new:
        _mount(mounted, POLICY.format(port=old.port))
        async with running(tmp_path) as gateway:
            _mount(mounted, POLICY.format(port=new.port))
            await until(lambda: bool(gateway.logged("the policies were reloaded")))

            async def arrives() -> bool:
                await call(gateway.proxy, "GET", "/reports/7")
                return bool(new.seen)

            await until(arrives)
