"""`set_cookie`: whether what an upstream's answers set as cookies reaches agents."""

from gateway.policy import schema


def drops_cookies(shape: schema.Policy) -> bool:
    """Where the policy leaves it out: if the gateway proves to the upstream who it is. An API that answers a credential
    with a session would hand it to the agent, who writes past the gateway with it."""
    if shape.set_cookie is not None:
        return shape.set_cookie == "drop"
    return bool(shape.credentials) or shape.tls.cert is not None
