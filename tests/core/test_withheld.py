"""Which of an agent's fields never reach an upstream as they came."""

import pytest

from gateway.core.rule import NativeKey, Origin, Upstream
from gateway.core.withheld import withheld

PLAIN = Upstream("api", Origin("http", "localhost", 80))
OWN = Upstream(
    "api",
    Origin("http", "localhost", 80),
    credentials=((b"X_Account", b"ours"),),
    epoch_header=b"X-Epoch",
    native_key=NativeKey(b"X-Request-Key"),
)


@pytest.mark.parametrize(
    "name", [b"host", b"te", b"expect", b"proxy", b"content-length", b"fencegate-key", b"fencing-any"]
)
@pytest.mark.parametrize("believed", [False, True])
def test_a_connections_own_and_the_gateways_never_do(name: bytes, believed: bool) -> None:
    """Whoever sent them."""
    assert withheld(PLAIN, believed=believed).covers(name)


@pytest.mark.parametrize("name", [b"x-account", b"x-epoch", b"x-request-key"])
def test_what_the_gateway_sends_itself_is_its_own(name: bytes) -> None:
    """Credentials, the epoch and the key, where the policy names them; in no spelling an agent's word."""
    assert withheld(OWN, believed=True).covers(name)
    assert not withheld(PLAIN, believed=False).covers(name)


@pytest.mark.parametrize(("name", "dropped"), [(b"x-account", True), (b"x-epoch", False), (b"x-request-key", False)])
def test_an_observed_write_keeps_its_agents_own_key_and_epoch(name: bytes, dropped: bool) -> None:
    """The gateway puts none in their place; its credentials replace the agent's all the same."""
    assert withheld(OWN, believed=False, observed=True).covers(name) is dropped
    assert withheld(OWN, believed=False, observed=True).covers(b"fencing-token")


@pytest.mark.parametrize(
    "name",
    [
        *(b"x-forwarded-user", b"x-forwarded-for", b"forwarded", b"x-real-ip", b"client-ip", b"remote-user"),
        *(b"x-remote-groups", b"x-webauth-user", b"x-envoy-original-path", b"client-cert"),
        *(b"x-envoy-internal", b"x-envoy-external-address", b"x-authentik-username", b"x-userinfo"),
        *(b"x-endpoint-api-userinfo", b"x-apigateway-api-userinfo", b"impersonate-user", b"impersonate-group"),
        *(b"impersonate-uid", b"impersonate-extra-scopes", b"x-authenticated-scope", b"x-pomerium-claim-email"),
        *(b"x-redmine-switch-user", b"es-security-runas-user", b"mscrmcallerid", b"callerobjectid"),
        *(b"as-user", b"x-gerrit-runas", b"x-on-behalf-of", b"dropbox-api-select-user", b"x-auth-couchdb-roles"),
        *(b"x-docusign-act-as-user", b"x-zendesk-on-behalf-of", b"api-username", b"x-trino-user", b"x-presto-user"),
        *(b"sudo", b"x-hasura-role", b"x-hasura-user-id", b"x-middleware-subrequest"),
        *(b"x-sendfile-type", b"x-waws-unencoded-url"),
        *(b"x-vouch-user", b"x-ms-token-aad-id-token", b"ms-aspnetcore-clientcert", b"x-appengine-cron"),
        *(b"wl-proxy-client-cert", b"-wsru", b"iv-user", b"x-arr-ssl", b"x-accel-mapping", b"x-cf-proxy-signature"),
    ],
)
def test_who_sent_it_is_a_trusted_proxys_to_say(name: bytes) -> None:
    """From anybody else it is dropped."""
    assert withheld(PLAIN, believed=False).covers(name)
    assert not withheld(PLAIN, believed=True).covers(name)


def test_what_the_upstream_is_told_of_the_way_is_the_gateways() -> None:
    """A trusted proxy's own word is continued, not passed."""
    told = Upstream("api", Origin("http", "localhost", 80), forwarded="rfc7239")

    assert withheld(told, believed=True).covers(b"forwarded")
    assert not withheld(told, believed=True).covers(b"x-forwarded-user")
