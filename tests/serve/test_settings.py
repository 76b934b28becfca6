"""Settings: an option beats the environment, and what is wrong is said with what to write."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.settings import SettingsError, read_deliver_settings, read_serve_settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from the machine that runs the tests."""
    for name in ("POLICIES", "LISTEN", "ADMIN", "ADMIN_TOKEN", "STORE", "WORKERS", "GRACE", "TRUSTED_PROXIES"):
        monkeypatch.delenv(f"FENCEGATE_{name}", raising=False)


def test_only_the_policies_have_no_default() -> None:
    """Without anything else the gateway listens on loopback with one worker and a store of its own."""
    settings = read_serve_settings({"policies": "policies"})

    assert settings.listen == Address("127.0.0.1", 8080)
    assert settings.admin == Address("127.0.0.1", 8081)
    assert settings.data_dir == Path(".fencegate")
    assert settings.workers == 1
    assert settings.store is None
    assert (settings.audit_retain, settings.audit_events) == (604_800.0, 500_000)
    assert (settings.quarantine_retain, settings.quarantine_bytes) == (604_800.0, 256 << 20)
    assert settings.queue_bytes == 256 << 20
    assert not settings.allow_unsafe_store


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90s", 90.0), ("30m", 1800.0), ("12h", 43_200.0), ("7d", 604_800.0), ("604800", 604_800.0)],
)
def test_a_duration_is_written_with_its_unit(written: str, seconds: float) -> None:
    """As in policies; a plain number is of seconds."""
    assert read_serve_settings({"policies": "policies", "audit_retain": written}).audit_retain == seconds


def test_the_environment_has_the_options_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """FENCEGATE_LISTEN is --listen, and so on."""
    monkeypatch.setenv("FENCEGATE_POLICIES", "policies")
    monkeypatch.setenv("FENCEGATE_LISTEN", "[::1]:90")
    monkeypatch.setenv("FENCEGATE_WORKERS", "3")

    settings = read_serve_settings({"listen": None})

    assert (settings.listen, settings.workers) == (Address("::1", 90), 3)


def test_trusted_proxies_are_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of repeated options, or of one variable with commas; no option at all leaves the variable in force."""
    monkeypatch.setenv("FENCEGATE_TRUSTED_PROXIES", "10.1.0.0/16, 2001:db8::1")
    given = {"policies": "policies"}

    assert read_serve_settings(given | {"trusted_proxies": ()}).trusted_proxies == (
        ip_network("10.1.0.0/16"),
        ip_network("2001:db8::1"),
    )
    one = read_serve_settings(given | {"trusted_proxies": ("192.0.2.7",)})
    assert one.trusted_proxies == (ip_network("192.0.2.7"),)


def test_an_option_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever types an option means it."""
    monkeypatch.setenv("FENCEGATE_WORKERS", "3")

    assert read_serve_settings({"policies": "policies", "workers": 2}).workers == 2


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("policies", None, "--policies or FENCEGATE_POLICIES must be a directory with policy files"),
        ("listen", "8080", "--listen or FENCEGATE_LISTEN must be HOST:PORT, as in 127.0.0.1:8080"),
        ("listen", "::1:8080", "--listen or FENCEGATE_LISTEN must be HOST:PORT"),
        ("listen", "localhost:99999", "--listen or FENCEGATE_LISTEN must be HOST:PORT"),
        ("admin", "localhost:", "--admin or FENCEGATE_ADMIN must be HOST:PORT"),
        ("workers", "0", "--workers or FENCEGATE_WORKERS must be a whole number from 1 to 256"),
        ("store", "http://store", "--store or FENCEGATE_STORE must be a URL that begins with redis://"),
        ("store", "redis+sentinel://h:1", "--store or FENCEGATE_STORE must be a URL that begins with redis://"),
        ("store", "redis+cluster://h:1/1", "--store or FENCEGATE_STORE must be a URL that begins with redis://"),
        ("store_timeout", "0", "--store-timeout or FENCEGATE_STORE_TIMEOUT must be a number of seconds, more than 0"),
        ("durability", "fsync", "--durability or FENCEGATE_DURABILITY must be process, disk or replica:N"),
        ("durability", "replica:0", "--durability or FENCEGATE_DURABILITY must be process, disk or replica:N"),
        ("audit_retain", "a week", "--audit-retain or FENCEGATE_AUDIT_RETAIN must be a duration from 60s to 3650d, as"),
        ("audit_retain", "59s", "--audit-retain or FENCEGATE_AUDIT_RETAIN must be a duration from 60s to 3650d"),
        ("audit_retain", "nan", "--audit-retain or FENCEGATE_AUDIT_RETAIN must be a duration from 60s to 3650d"),
        ("quarantine_retain", "59s", "--quarantine-retain or FENCEGATE_QUARANTINE_RETAIN must be a duration from 60s"),
        (
            "quarantine_bytes",
            "1024",
            "--quarantine-bytes or FENCEGATE_QUARANTINE_BYTES must be a whole number from 1048",
        ),
        ("audit_events", "9999", "--audit-events or FENCEGATE_AUDIT_EVENTS must be a whole number from 10000"),
        ("trusted_proxies", ("10.0.0.1/8",), "--trusted-proxy or FENCEGATE_TRUSTED_PROXIES must be addresses or net"),
        ("trusted_proxies", ("proxy.internal",), "--trusted-proxy or FENCEGATE_TRUSTED_PROXIES must be addresses"),
        ("trusted_proxies", ("10.0.0.0/8", "::/0"), "--trusted-proxy or FENCEGATE_TRUSTED_PROXIES must be addresses"),
        ("admin_url", "fence.internal", "--admin-url or FENCEGATE_ADMIN_URL must be the URL of the admin listener"),
        ("admin_url", "https://user@fence.internal", "--admin-url or FENCEGATE_ADMIN_URL must be the URL"),
        ("otlp", "collector:4318", "--otlp or FENCEGATE_OTLP must be the URL of an OpenTelemetry collector that takes"),
        ("otlp", "http://user:secret@collector", "--otlp or FENCEGATE_OTLP must be the URL of an OpenTelemetry"),
        ("trace_ratio", "2", "--trace-ratio or FENCEGATE_TRACE_RATIO must be a number from 0 to 1"),
        ("trace_ratio", "nan", "--trace-ratio or FENCEGATE_TRACE_RATIO must be a number from 0 to 1"),
        ("log_format", "xml", "--log-format or FENCEGATE_LOG_FORMAT must be json or text"),
        ("admin_token", "short", "FENCEGATE_ADMIN_TOKEN must be 16 or more visible ASCII characters"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_write(option: str, value: object, sentence: str) -> None:
    """The message gives both names of the setting, and never the value, which may be a secret."""
    with pytest.raises(SettingsError) as raised:
        read_serve_settings({"policies": "policies"} | {option: value} if value else {})

    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    "store",
    [
        *("redis://h", "rediss://u:p@h:1/2?ssl_ca_certs=ca.pem", "unix:///run/store.sock?db=1"),
        *("redis+sentinel://h:1,h:2/fence", "rediss+sentinel://u:p@h/fence/1?sentinel_password=q"),
        *("redis+cluster://h:1,h:2", "rediss+cluster://u:p@[::1]:1/?ssl_cert_reqs=none"),
    ],
)
def test_a_store_is_one_server_or_several(store: str) -> None:
    """Sentinels name the primary of a service; of a cluster some nodes are enough."""
    assert read_serve_settings({"policies": "policies", "store": store}).store == store


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tls_cert": "a"}, "--tls-cert and --tls-key belong together"),
        ({"admin_tls_key": "a"}, "--admin-tls-cert and --admin-tls-key belong together"),
        ({"tls_client_ca": "a"}, "--tls-client-ca wants --tls-cert and --tls-key"),
    ],
    ids=["a certificate alone", "a key alone", "authorities without a certificate"],
)
def test_tls_is_asked_for_as_a_whole(options: dict[str, str], sentence: str) -> None:
    """A listener that is meant to be encrypted never comes up in plain text."""
    with pytest.raises(SettingsError, match=sentence):
        read_serve_settings({"policies": "policies"} | options)


@pytest.mark.parametrize("admin", ["0.0.0.0:8081", "[::]:8081", "192.0.2.1:8081", "gateway.internal:8081"])
def test_an_admin_listener_that_others_reach_needs_a_token(admin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can advance an epoch can stop a writer: on loopback any user may, elsewhere a token decides."""
    with pytest.raises(SettingsError, match="no admin token is set"):
        read_serve_settings({"policies": "policies", "admin": admin})

    monkeypatch.setenv("FENCEGATE_ADMIN_TOKEN", "0123456789abcdef")
    assert read_serve_settings({"policies": "policies", "admin": admin}).admin_token == "0123456789abcdef"


@pytest.mark.parametrize("admin", ["127.0.0.1:0", "127.8.0.1:0", "localhost:0", "[::1]:0"])
def test_a_loopback_admin_listener_needs_no_token(admin: str) -> None:
    """The default start needs no secret."""
    assert read_serve_settings({"policies": "policies", "admin": admin}).admin.is_loopback


def test_the_bundled_store_has_no_replicas() -> None:
    """Every write would be refused."""
    asked = {"policies": "policies", "durability": "replica:1"}
    with pytest.raises(SettingsError, match="name another with --store, or write --durability disk"):
        read_serve_settings(asked)

    assert read_serve_settings(asked | {"store": "redis://store"}).durability == "replica:1"


def test_secrets_are_not_shown() -> None:
    """Settings are logged and shown in tracebacks; a token and a store's password are not."""
    shown = repr(read_serve_settings({"policies": "p", "admin_token": "0123456789abcdef", "store": "redis://:pw@h"}))

    assert "0123456789abcdef" not in shown
    assert "pw" not in shown


def test_a_deliverer_needs_the_policies_and_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are the gateways'; it has no store of its own."""
    with pytest.raises(SettingsError, match=r"--policies .*\n--store or FENCEGATE_STORE must be a URL"):
        read_deliver_settings({"policies": None, "store": None})
    monkeypatch.setenv("FENCEGATE_STORE", "redis://localhost")

    settings = read_deliver_settings({"policies": "policies", "grace": "3"})

    assert (settings.store, settings.grace, settings.store_timeout) == ("redis://localhost", 3.0, 2.0)


def test_who_watches_a_deliverer_from_elsewhere_needs_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the admin listener; nobody watches it where no address is given."""
    given = {"policies": "policies", "store": "redis://localhost", "metrics": "0.0.0.0:9091"}
    monkeypatch.delenv("FENCEGATE_ADMIN_TOKEN", raising=False)
    with pytest.raises(SettingsError, match=r"--metrics 0\.0\.0\.0:9091 can be reached from other machines"):
        read_deliver_settings(given)
    monkeypatch.setenv("FENCEGATE_ADMIN_TOKEN", "0123456789abcdef")

    assert read_deliver_settings(given).metrics == Address("0.0.0.0", 9091)
    assert read_deliver_settings(given | {"metrics": None}).metrics is None
