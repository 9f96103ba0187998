"""Pictures of a flow: Mermaid for documents, a tree for the terminal."""

from __future__ import annotations

from rich.tree import Tree

from docproc.workflow.plan import Plan, Step


def mermaid(plan: Plan) -> str:
    """The flow as a Mermaid flowchart; joins are hexagons, optional stages dashed, people on the side."""
    lines = ["flowchart TD"]
    for step in plan.steps.values():
        left, right = ("{{", "}}") if step.is_join else ("[", "]")
        lines.append(f'    {_node(step.name)}{left}"{step.name}<br/><small>{_caption(step)}</small>"{right}')
    for step in plan.steps.values():
        lines.extend(_edges(plan, step))
        if step.stage.backoffice_queue:
            lines.append(
                f'    {_node(step.name)} -. "not sure" .-> people(["{step.stage.backoffice_queue}"])'
            )
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


def _node(name: str) -> str:
    return "s_" + "".join(char if char.isalnum() else "_" for char in name)


def _caption(step: Step) -> str:
    stage = step.stage
    parts = [stage.component]
    if stage.when:
        parts.append("when " + stage.when.replace('"', "'"))
    if stage.timeout_seconds:
        parts.append(f"{stage.timeout_seconds:g} s")
    return " · ".join(parts)


def tree(plan: Plan) -> Tree:
    """The flow for a terminal; a stage where branches meet is drawn once, under the last of them."""
    workflow = plan.workflow
    sla = f" · answers within {workflow.sla.deadline_seconds:g} s" if workflow.sla else ""
    root = Tree(f"[bold]{workflow.name}[/] [dim]{plan.version}{sla}[/]")
    drawn: set[str] = set()
    for name in plan.first:
        _grow(root, plan, name, drawn, seen_before=set())
    return root


def _grow(parent: Tree, plan: Plan, name: str, drawn: set[str], seen_before: set[str]) -> None:
    step = plan.steps[name]
    seen_before.add(name)
    # A linear run stays on one level: only real branches indent.
    parent.add(_label(step))
    drawn.add(name)
    ready = [n for n in step.following if all(before in drawn for before in plan.steps[n].previous)]
    if len(step.following) > 1:
        for following in step.following:
            if len(plan.steps[following].previous) == 1:
                branch = parent.add("[dim]branch[/]")
                _grow(branch, plan, following, drawn, seen_before)
        for following in plan.steps:
            if following not in drawn and all(b in drawn for b in plan.steps[following].previous):
                _grow(parent, plan, following, drawn, seen_before)
    else:
        for following in ready:
            if not plan.steps[following].joins_branches:
                _grow(parent, plan, following, drawn, seen_before)


def _label(step: Step) -> str:
    notes = [f"[cyan]{step.unit}[/]"]
    if step.fans_out_to and not step.is_join:
        notes.append("fans out")
    if step.is_join:
        notes.append("collects" if not step.fans_out_to else "regroups")
    if step.joins_branches:
        notes.append("after " + " + ".join(step.previous))
    if step.stage.when:
        notes.append(f"[yellow]when {step.stage.when}[/]")
    if step.stage.backoffice_queue:
        notes.append("[magenta]asks people[/]")
    return f"[bold]{step.name}[/] [dim]({step.stage.component})[/] " + " · ".join(notes)
