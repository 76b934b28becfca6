"""One thing that `doctor` looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `what_to_do` where it is `ok`: it can be used like this, and something would be better."""

    name: str
    ok: bool
    saw: str
    what_to_do: str = ""
