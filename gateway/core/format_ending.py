"""Endings of a path that a server takes for a format: to Rails `/docs/7.json` is document 7, as `/docs/7` is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormatEndings:
    """What a server cuts off a path's last segment. `named`: only these, in lower case; None: whatever follows a dot.

    Spring's suffix patterns take an empty one too, and Rails one of any characters but dots.
    """

    named: frozenset[str] | None = None

    def has(self, segment: str) -> bool:
        """Whether the server would read another value than the decoded segment."""
        _, dot, ending = segment.rpartition(".")
        return bool(dot) and (self.named is None or ending.casefold() in self.named)
