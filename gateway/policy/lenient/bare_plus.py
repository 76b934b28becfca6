"""A `+` that is not escaped in a path: a plus to most servers, and a blank to those that decode a path as a form.

To Amazon S3, Yii, CakePHP and Cloudant `/docs/the+plan` is `/docs/the plan`; `%2B` is a plus to all.
"""

from gateway.core.rule import Mount
from gateway.core.target import Target

_FAULT = (
    "the path has a `+`, a blank to some servers, which `mount.plus: refuse` refuses; write `%2B` for a plus, `%20` "
    "for a blank, or `plus: opaque` where the API takes it as it is"
)


def has_bare_plus(target: Target, mount: Mount) -> bool:
    """Whether there is one, and the mount does not say that it is a plus."""
    return mount.plus == "refuse" and "+" in target.path


def plus_fault(path: str, mount: Mount) -> str | None:
    """Of a path that a policy itself spells: with such a plus no write has it. None: it has none, or may have it."""
    return _FAULT if mount.plus == "refuse" and "+" in path else None
