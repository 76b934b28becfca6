"""The figures for people, a line each, and for machines."""

from dataclasses import dataclass

from tests.bench.figure import Figure

_WIDTHS = (70, 12, 12, 8, 8, 5)


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of one goal, in order."""

    name: str
    figures: list[Figure]


def heading(name: str, about: str) -> str:
    cells = _row((about, "ours", "beside", "ratio", "goal", "met"))
    return f"\n{name}\n{cells}"


def row(figure: Figure) -> str:
    """`ours` is the gateway; `beside` what it is compared with."""
    values = (_spelled(figure.ours), _spelled(figure.beside), _spelled(figure.ratio, 2))
    met = {True: "yes", False: "NO", None: ""}[figure.is_met]
    cells = _row((f"{figure.what}, {figure.unit}", *values, "" if figure.goal is None else str(figure.goal), met))
    return f"{cells}  {figure.note}".rstrip()


def document(groups: list[Group]) -> dict[str, list[dict[str, object]]]:
    """By group; a goal is told as text, as in the table."""
    return {group.name: [_told(figure) for figure in group.figures] for group in groups}


def _told(figure: Figure) -> dict[str, object]:
    told: dict[str, object] = {"what": figure.what, "unit": figure.unit, "ours": figure.ours}
    told |= {"beside": figure.beside, "ratio": figure.ratio, "met": figure.is_met, "note": figure.note}
    return told | {"goal": None if figure.goal is None else str(figure.goal)}


def _row(cells: tuple[str, ...]) -> str:
    first, *rest = (cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
    return " ".join([first.strip().ljust(_WIDTHS[0]), *rest]).rstrip()


def _spelled(value: float | None, digits: int | None = None) -> str:
    """Three digits are more than the next run will show again."""
    if value is None:
        return ""
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
