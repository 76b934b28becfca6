"""Where traces go, and what is said where they cannot."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.log import Log
from gateway.serve import exporting
from gateway.serve.exporting import NoExporter, Traces, traces_to

URL = "http://collector:4318"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No collector but what a test names."""
    for name in ("ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL", "TRACES_PROTOCOL"):
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}", raising=False)


def installed(monkeypatch: pytest.MonkeyPatch, *, is_so: bool) -> None:
    monkeypatch.setattr(exporting, "can_export", lambda: is_so)


def test_nothing_is_traced_where_nobody_asks_for_it() -> None:
    """Not even said."""
    assert traces_to(None, 1.0, Log()) is None


@pytest.mark.parametrize(
    ("otlp", "variables", "url"),
    [
        pytest.param(URL, {}, f"{URL}/v1/traces", id="an option"),
        pytest.param(f"{URL}/", {}, f"{URL}/v1/traces", id="with a slash"),
        pytest.param(f"{URL}/v1/traces", {}, f"{URL}/v1/traces", id="with the path"),
        pytest.param(None, {"EXPORTER_OTLP_ENDPOINT": URL}, f"{URL}/v1/traces", id="the environment"),
        pytest.param(None, {"EXPORTER_OTLP_TRACES_ENDPOINT": f"{URL}/otlp"}, f"{URL}/otlp", id="that of traces"),
        pytest.param(
            "http://own:4318", {"EXPORTER_OTLP_ENDPOINT": URL}, "http://own:4318/v1/traces", id="an option first"
        ),
        pytest.param(
            None, {"EXPORTER_OTLP_ENDPOINT": URL, "EXPORTER_OTLP_PROTOCOL": "grpc"}, None, id="another protocol"
        ),
        pytest.param(None, {"EXPORTER_OTLP_ENDPOINT": URL, "TRACES_EXPORTER": "none"}, None, id="no traces"),
        pytest.param(URL, {"SDK_DISABLED": "true"}, None, id="switched off"),
    ],
)
def test_where_traces_go(
    otlp: str | None, variables: dict[str, str], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To whom the option names, else to whom OpenTelemetry's variables name for every program."""
    installed(monkeypatch, is_so=True)
    for name, value in variables.items():
        monkeypatch.setenv(f"OTEL_{name}", value)

    assert traces_to(otlp, 0.5, Log(level="error")) == (None if url is None else Traces(url, 0.5))


def test_without_the_extra_asking_for_traces_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    installed(monkeypatch, is_so=False)

    with pytest.raises(NoExporter, match=r"pip install '\.\[otel\]'"):
        traces_to(URL, 1.0, Log())


def test_the_environments_collector_may_be_for_others(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the extra that is said, and the gateway starts."""
    installed(monkeypatch, is_so=False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", URL)

    assert traces_to(None, 1.0, Log()) is None
    assert "the extra `otel` is not installed" in capfd.readouterr().err


def test_a_password_in_the_environments_url_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor what stands behind a question mark."""
    installed(monkeypatch, is_so=True)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://me:secret@collector/otlp?key=secret")

    assert traces_to(None, 1.0, Log()) is not None
    said = capfd.readouterr().err
    assert "https://collector/otlp" in said
    assert "secret" not in said


def test_a_gateway_without_traces_loads_nothing_of_it() -> None:
    """Megabytes, and an extra that is seldom installed. redis-py takes a part of it where it is."""
    program = "import sys, gateway.cli, gateway.serve.worker, gateway.serve.deliverer; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert "gateway.serve.exporting" in loaded
    assert "gateway.serve.otlp" not in loaded
    assert not [name for name in loaded if name.startswith(("opentelemetry.exporter", "google.protobuf", "requests"))]


def test_one_module_imports_opentelemetry() -> None:
    """All others work without the extra."""
    root = Path(exporting.__file__).parents[1]

    importing = [
        path.relative_to(root).as_posix() for path in root.rglob("*.py") if "from opentelemetry" in path.read_text()
    ]

    assert importing == ["serve/otlp.py"]
