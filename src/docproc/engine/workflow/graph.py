"""Pictures of a flow: Mermaid for documents, a tree for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as as_html

from rich.markup import escape as as_text
from rich.tree import Tree

from docproc.engine.workflow.plan import Plan, Step


def mermaid(plan: Plan) -> str:
    """The flow as a Mermaid flowchart; joins are hexagons, optional stages dashed, people on the side."""
    lines = ["flowchart TD"]
    for step in plan.steps.values():
        left, right = ("{{", "}}") if step.is_join else ("[", "]")
        lines.append(f'    {_node(step.name)}{left}"{step.name}<br/><small>{_caption(step)}</small>"{right}')
    for step in plan.steps.values():
        lines.extend(_edges(plan, step))
        if step.stage.compensate is not None:
            lines.append(f'    {_node(step.name)} -. "undone by" .-> {_node(step.stage.compensate)}')
        if step.stage.backoffice_queue:
            queue = step.stage.backoffice_queue
            lines.append(f'    {_node(step.name)} -. "not sure" .-> {_node(queue, "people")}(["{queue}"])')
    return "\n".join(lines) + "\n"


def _edges(plan: Plan, step: Step) -> list[str]:
    edges = []
    for name in step.following:
        arrow = "-->" if plan.steps[name].stage.when is None else "-.->"
        label = f"|{_unit_given(plan, step)}|"
        edges.append(f"    {_node(step.name)} {arrow}{label} {_node(name)}")
    return edges


def _unit_given(plan: Plan, step: Step) -> str:
    return plan.steps[step.following[0]].unit


def _node(name: str, kind: str = "s") -> str:
    """An identifier that Mermaid accepts, another one for each name: `a-b` is not `a_b`."""
    spelled = {"_": "__"}
    return f"{kind}_" + "".join(c if c.isalnum() else spelled.get(c, f"_{ord(c):x}") for c in name)


def _caption(step: Step) -> str:
    stage = step.stage
    parts = [stage.component]
    if stage.when:
        parts.append("when " + as_html(stage.when.replace('"', "'"), quote=False))
    if stage.timeout_seconds:
        parts.append(f"{stage.timeout_seconds:g} s")
    return " · ".join(parts)


def tree(plan: Plan) -> Tree:
    """The flow for a terminal; a stage where branches meet is drawn once, under the last of them."""
    workflow = plan.workflow
    sla = f" · answers within {workflow.sla.deadline_seconds:g} s" if workflow.sla else ""
    root = Tree(f"[bold]{workflow.name}[/] [dim]{plan.version}{sla}[/]")
    drawn: set[str] = set()
    _grow(root, plan, plan.first, drawn)
    return root


def _grow(parent: Tree, plan: Plan, names: Sequence[str], drawn: set[str]) -> None:
    """Draw what follows one stage: a linear run stays on one level, only real branches indent."""
    for name in names:
        step = plan.steps[name]
        if step.joins_branches:
            continue  # drawn below, by whoever drew its last branch
        place = parent.add("[dim]branch[/]") if len(names) > 1 else parent
        place.add(_label(step))
        drawn.add(name)
        _grow(place, plan, step.following, drawn)
    if len(names) > 1:
        while (meeting := _meeting(plan, drawn)) is not None:
            parent.add(_label(meeting))
            drawn.add(meeting.name)
            _grow(parent, plan, meeting.following, drawn)


def _meeting(plan: Plan, drawn: set[str]) -> Step | None:
    """A stage, not drawn yet, whose branches are all drawn."""
    waiting = (s for s in plan.steps.values() if s.joins_branches and s.name not in drawn)
    return next((step for step in waiting if drawn.issuperset(step.previous)), None)


def _label(step: Step) -> str:
    notes = [f"[cyan]{step.unit}[/]"]
    if step.fans_out_to and not step.is_join:
        notes.append("fans out")
    if step.is_join:
        notes.append("collects" if not step.fans_out_to else "regroups")
    if step.joins_branches:
        notes.append("after " + " + ".join(step.previous))
    if step.stage.when:
        notes.append(f"[yellow]when {as_text(step.stage.when)}[/]")
    if step.stage.backoffice_queue:
        notes.append("[magenta]asks people[/]")
    return f"[bold]{step.name}[/] [dim]({step.stage.component})[/] " + " · ".join(notes)
