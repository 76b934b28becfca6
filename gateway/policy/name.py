"""The names that a policy gives: they are values of metrics' labels and words of log lines."""

import re

from gateway.policy.finding import Wrong

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def parse_name(text: str) -> str | Wrong:
    """The name, or what to write instead."""
    if _NAME.fullmatch(text):
        return text
    return Wrong("a name is 1 to 64 letters, digits, `.`, `_` and `-`, and begins with a letter or digit")
