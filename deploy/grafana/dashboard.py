"""The Grafana dashboard as code: `python -m deploy.grafana.dashboard` writes `fencegate.json` beside this file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from deploy.grafana.panel import Panel
from deploy.grafana.rows import ROWS

TARGET = Path(__file__).with_name("fencegate.json")

_WIDTH = 24
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panels() -> Iterator[Panel]:
    for row in ROWS:
        yield from row.panels


def render() -> str:
    """The dashboard as Grafana imports it, from version 10 on."""
    drawn: list[dict[str, object]] = []
    top = 0
    for row in ROWS:
        drawn.append(_titled("row", row.title, len(drawn) + 1, (0, top, _WIDTH, 1)) | {"collapsed": False})
        top, left, height = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > _WIDTH:
                top, left = top + height, 0
            drawn.append(_drawn(panel, len(drawn) + 1, (left, top, panel.width, panel.height)))
            left, height = left + panel.width, panel.height
        top += height
    return json.dumps(_dashboard(drawn), indent=2) + "\n"


def _dashboard(drawn: list[dict[str, object]]) -> dict[str, object]:
    job = {
        "name": "job",
        "label": "Store",
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": "label_values(fencegate_build_info, job)", "refId": "job"},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
    datasource = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    return {
        "uid": "fencegate",
        "title": "fencegate",
        "tags": ["fencegate"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [datasource, job]},
        "panels": drawn,
    }


def _titled(kind: str, title: str, number: int, place: tuple[int, int, int, int]) -> dict[str, object]:
    return {"type": kind, "title": title, "id": number, "gridPos": dict(zip("xywh", place, strict=True))}


def _drawn(panel: Panel, number: int, place: tuple[int, int, int, int]) -> dict[str, object]:
    targets = [
        {"refId": chr(ord("A") + at), "datasource": _DATASOURCE, "expr": query.expr, "legendFormat": query.legend}
        for at, query in enumerate(panel.queries)
    ]
    custom: dict[str, object] = {"fillOpacity": 10, "showPoints": "never"} if panel.kind == "timeseries" else {}
    return {
        **_titled(panel.kind, panel.title, number, place),
        "description": panel.description,
        "datasource": _DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": custom}, "overrides": []},
        "targets": targets,
    }


def main() -> None:
    TARGET.write_text(render())
    sys.stdout.write(f"{TARGET} is written\n")


if __name__ == "__main__":
    main()
