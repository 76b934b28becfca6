"""One thing that `doctor` looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `what_to_do` is empty where `ok`."""

    name: str
    ok: bool
    saw: str
    what_to_do: str = ""
