"""Durations and sizes as fields of a policy's shape: how they are written, and within which bounds."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from gateway.policy.units import DURATION, SIZE, parse_duration, parse_size


def duration(at_most: str) -> BeforeValidator:
    """Seconds, more than none. The bound only catches a slip of the pen, such as `30h` for `30s`."""
    limit = parse_duration(at_most)
    assert limit is not None

    def read(value: object) -> float:
        seconds = parse_duration(value) if isinstance(value, str) else None
        if seconds is None:
            raise ValueError("a duration is wanted; write such as `250ms`, `2s`, `5m`, `24h` or `1d`")
        if not 0 < seconds <= limit:
            raise ValueError(f"this duration must be more than nothing and at most `{at_most}`")
        return seconds

    told = f"A duration of at most `{at_most}`, such as `250ms`, `2s`, `5m`, `24h` or `1d`."
    return BeforeValidator(read, json_schema_input_type=Annotated[str, Field(pattern=DURATION, description=told)])


def size(at_least: str, at_most: str, *, or_none: bool = False) -> BeforeValidator:
    """Bytes. The bounds only catch a slip of the pen, such as a gigabyte for a megabyte."""
    lower, upper = parse_size(at_least), parse_size(at_most)
    assert lower is not None
    assert upper is not None

    def read(value: object) -> int | None:
        if or_none and value == "none":
            return None
        plain = isinstance(value, int) and not isinstance(value, bool)
        count = parse_size(str(value)) if plain or isinstance(value, str) else None
        if count is None:
            raise ValueError("a size is wanted; write such as `64KiB`, `10MiB`, `1GiB` or a count of bytes")
        if not lower <= count <= upper:
            raise ValueError(f"this size must be at least `{at_least}` and at most `{at_most}`")
        return count

    none = ", or `none`" if or_none else ""
    told = f"A size from `{at_least}` to `{at_most}`, such as `64KiB`, `10MiB` or a count of bytes{none}."
    pattern = f"{SIZE}|^none$" if or_none else SIZE
    written = Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=pattern)]
    return BeforeValidator(read, json_schema_input_type=Annotated[written, Field(description=told)])
