"""The dashboard: what is committed is what the generator gives, and asks for what exists."""

import json

import pytest

from deploy.grafana.dashboard import TARGET, panels, render
from deploy.grafana.panel import Panel
from deploy.reference import metrics
from tests.deploy.promql import asked, faults, recorded
from tests.deploy.test_rules import RECORDED


def test_the_committed_dashboard_is_the_generated_one() -> None:
    """Otherwise: `python -m deploy.grafana.dashboard`."""
    assert TARGET.read_text() == render()


@pytest.mark.parametrize("panel", tuple(panels()), ids=lambda panel: panel.title)
def test_a_panel_asks_for_what_the_gateway_tells(panel: Panel) -> None:
    """Each metric, label and value; and somebody reads what it is."""
    for query in panel.queries:
        assert list(faults(query.expr)) == []
        assert recorded(query.expr) <= RECORDED
    assert panel.description


def test_every_metric_is_drawn() -> None:
    """One that nobody sees is not worth its cost."""
    drawn = {name for panel in panels() for query in panel.queries for name in asked(query.expr)}

    assert {metric.name for metric in metrics()} - drawn == set()


def test_panels_do_not_overlap() -> None:
    """Each has its place on a grid of 24 columns."""
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(render())["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and max(x for x, _ in cells) < 24
        taken |= cells
