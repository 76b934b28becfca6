"""What is wrong with a policy file, and where."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a file. Lines and columns count from 1, in characters."""

    file: str
    line: int
    column: int
    message: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A text that cannot be compiled, and what to write instead. Whoever knows the place makes it a finding."""

    message: str
