"""A workflow as a picture: where each stage stands, and what goes along which edge now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import wrap

from docproc.alerts.axes import StageAxis
from docproc.engine.workflow.plan import Plan, Step

WIDTH, HEIGHT = 126, 64
GAP, ROW = 60, 112
MARGIN, TOP = 8, 26
PEOPLE_HEIGHT, PEOPLE_GAP = 40, 44
_LETTERS = 14


@dataclass(frozen=True, slots=True)
class Node:
    """A stage; `x` and `y` are its upper left corner."""

    stage: str
    component: str
    x: int
    y: int
    # Its name, in one line or two.
    lines: tuple[str, ...]
    waiting: int
    age: float
    axis: StageAxis | None

    @property
    def middle(self) -> int:
        return self.x + WIDTH // 2


@dataclass(frozen=True, slots=True)
class Edge:
    """From one stage to the next; `path` is what SVG draws, `rate` what arrives there in a minute."""

    path: str
    x: int
    y: int
    rate: float | None
    # How thick: the busiest edge of the picture is 4.
    weight: float


@dataclass(frozen=True, slots=True)
class Detour:
    """Questions of a stage to people."""

    path: str
    x: int
    y: int
    share: float | None


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    nodes: list[Node]
    edges: list[Edge]
    detours: list[Detour] = field(default_factory=list)
    # Where the box of people stands; None where the flow asks nobody.
    people: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """What lies in the queue of a stage."""

    number: int = 0
    age: float = 0.0


def draw(
    plan: Plan, axes: Mapping[str, StageAxis], queues: Mapping[str, Waiting], names: Mapping[str, str]
) -> Picture:
    """Stages from left to right, parallel branches below each other, people at the foot."""
    steps = {name: step for name, step in plan.steps.items() if not step.is_compensation}
    columns, rows = _places(steps)
    nodes = {
        name: _node(step, columns[name], rows[name], axes.get(name), queues.get(step.queue, Waiting()), names)
        for name, step in steps.items()
    }
    lowest = TOP + max(rows.values(), default=0) * ROW + HEIGHT
    width = MARGIN * 2 + (max(columns.values(), default=0) + 1) * (WIDTH + GAP) - GAP
    asking = [nodes[name] for name, step in steps.items() if step.stage.backoffice_queue]
    people = _people(asking, lowest) if asking else None
    return Picture(
        width=width,
        height=lowest + (PEOPLE_GAP + PEOPLE_HEIGHT if asking else 0) + MARGIN,
        nodes=list(nodes.values()),
        edges=_edges(steps, nodes, axes),
        detours=[_detour(node, people[1]) for node in asking] if people else [],
        people=people,
    )


def _places(steps: Mapping[str, Step]) -> tuple[dict[str, int], dict[str, int]]:
    """The column is the longest way from the beginning, the row the place among those of the column."""
    columns: dict[str, int] = {}
    left = dict(steps)
    while left:
        for name, step in list(left.items()):
            if all(one in columns for one in step.previous):
                columns[name] = max((columns[one] + 1 for one in step.previous), default=0)
                del left[name]
    rows: dict[str, int] = {}
    taken: dict[int, int] = {}
    for name in steps:
        rows[name] = taken.get(columns[name], 0)
        taken[columns[name]] = rows[name] + 1
    return columns, rows


def _node(
    step: Step, column: int, row: int, axis: StageAxis | None, waiting: Waiting, names: Mapping[str, str]
) -> Node:
    name = names.get(step.stage.component, step.name.replace("_", " "))
    lines = tuple(wrap(name, _LETTERS)[:2]) or (name,)
    x, y = MARGIN + column * (WIDTH + GAP), TOP + row * ROW
    return Node(step.name, step.stage.component, x, y, lines, waiting.number, waiting.age, axis)


def _edges(steps: Mapping[str, Step], nodes: Mapping[str, Node], axes: Mapping[str, StageAxis]) -> list[Edge]:
    busiest = max((one.per_minute for one in axes.values()), default=0.0)
    found = []
    for name, step in steps.items():
        for before in step.previous:
            begin, end = nodes[before], nodes[name]
            x0, y0 = begin.x + WIDTH, begin.y + HEIGHT // 2
            x1, y1 = end.x, end.y + HEIGHT // 2
            bend = (x0 + x1) // 2
            path = f"M{x0} {y0}H{x1 - 5}" if y0 == y1 else f"M{x0} {y0}C{bend} {y0} {bend} {y1} {x1 - 5} {y1}"
            rate = axes[name].per_minute if name in axes else None
            weight = 1.5 + 2.5 * (rate or 0.0) / busiest if busiest else 1.5
            found.append(Edge(path, bend, min(y0, y1) - 8 + abs(y1 - y0) // 2, rate, round(weight, 2)))
    return found


def _people(asking: list[Node], lowest: int) -> tuple[int, int, int]:
    """Its left, its top and its width: below all who ask."""
    left = min(node.x for node in asking)
    right = max(node.x for node in asking) + WIDTH
    return left, lowest + PEOPLE_GAP, max(right - left, 2 * WIDTH + GAP)


def _detour(node: Node, top: int) -> Detour:
    share = node.axis.asked_share if node.axis else None
    foot = node.y + HEIGHT
    return Detour(f"M{node.middle} {foot}V{top - 5}", node.middle + 6, (foot + top) // 2 + 4, share)
