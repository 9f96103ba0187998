"""The picture of a flow: every stage once, edges from left to right, people below who ask."""

from __future__ import annotations

from pathlib import Path

from docproc.alerts.axes import StageAxis
from docproc.alerts.flow_picture import HEIGHT, WIDTH, Waiting, draw
from docproc.app import App
from docproc.settings import Settings
from tests.unit.engine.workflow.flows import plan_of


def axis(stage: str, per_minute: float, asked: float = 0.0) -> StageAxis:
    return StageAxis(stage, stage, 60 * per_minute, 0, asked, per_minute, 0.5, 1.0, 2.0)


def test_stages_stand_from_left_to_right_with_what_goes_along(tmp_path: Path) -> None:
    app = App(Settings.load(_env_file=None, home=tmp_path))
    axes = {"ocr": axis("ocr", 20), "classify": axis("classify", 10, 60)}
    found = draw(app.loader.plan("default"), axes, {"q.ocr": Waiting(14, 90.0)}, {"ocr": "leer"})
    assert [node.stage for node in found.nodes] == [stage.name for stage in app.loader.load("default").stages]
    assert [node.x for node in found.nodes] == sorted({node.x for node in found.nodes})
    ocr = found.nodes[1]
    assert (ocr.lines, ocr.waiting, ocr.age) == (("leer",), 14, 90.0)
    assert [edge.rate for edge in found.edges][:3] == [20, 10, None]
    assert found.edges[0].weight > found.edges[1].weight > found.edges[2].weight
    assert [one.share for one in found.detours] == [0.1, None, None]
    assert found.people is not None and found.people[1] > ocr.y + HEIGHT
    assert found.width >= found.nodes[-1].x + WIDTH
    # Names too long for one line take two.
    assert found.nodes[3].lines == ("classification", "aggregation")


def test_parallel_branches_stand_below_each_other() -> None:
    plan = plan_of(
        """
        stages:
          - {name: a, component: work}
          - {name: b, component: work, after: [a]}
          - {name: c, component: work, after: [a]}
          - {name: d, component: work, after: [b, c]}
        """
    )
    places = {node.stage: (node.x, node.y) for node in draw(plan, {}, {}, {}).nodes}
    assert places["b"][0] == places["c"][0] and places["b"][1] < places["c"][1]
    assert places["d"][0] > places["c"][0] > places["a"][0]
