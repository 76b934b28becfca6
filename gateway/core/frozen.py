"""The values that every write makes: frozen to whoever checks the types, and plain dataclasses when they run.

A frozen one sets each of its fields through `object.__setattr__`, which takes six times as long; a write makes twenty
values with a hundred fields.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_T]) -> type[_T]:
    """Instead of `@dataclass(frozen=True, slots=True)`, where one is made for each request."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
