"""Pictures of a flow: every stage appears, and appears once."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console

from docproc.engine.workflow.graph import mermaid, tree
from tests.unit.engine.workflow.flows import plan_of

FLOWS = {
    "linear": """
        sla: {deadline_seconds: 60}
        stages:
          - {name: cut, component: split}
          - {name: read, component: work, timeout_seconds: 15}
          - {name: sort, component: ask, backoffice_queue: task.classification}
          - {name: check, component: ask, backoffice_queue: task.extraction}
          - {name: all, component: gather}
    """,
    "diamond": """
        stages:
          - {name: start, component: work}
          - {name: left, component: work, after: start}
          - {name: right, component: work, after: start}
          - {name: meet, component: work, after: [left, right]}
          - {name: end, component: work}
    """,
    "shortcut": """
        stages:
          - {name: start, component: work}
          - {name: detour, component: work}
          - {name: meet, component: work, after: [start, detour]}
    """,
    "starts in branches": """
        stages:
          - {name: one, component: work, after: []}
          - {name: two, component: work, after: []}
          - {name: meet, component: work, after: [one, two]}
          - {name: end, component: work}
    """,
    "branches in branches": """
        stages:
          - {name: start, component: work}
          - {name: left, component: work, after: start}
          - {name: left_a, component: work, after: left}
          - {name: left_b, component: work, after: left}
          - {name: left_meet, component: work, after: [left_a, left_b]}
          - {name: right, component: work, after: start}
          - {name: meet, component: work, after: [left_meet, right]}
    """,
    "meetings written in reverse": """
        stages:
          - {name: end, component: work, after: [meet, c]}
          - {name: meet, component: work, after: [a, b]}
          - {name: start, component: work, after: []}
          - {name: c, component: work, after: start}
          - {name: b, component: work, after: start}
          - {name: a, component: work, after: start}
    """,
    "crossing": """
        stages:
          - {name: start, component: work}
          - {name: a, component: work, after: start}
          - {name: b, component: work, after: start}
          - {name: c, component: work, after: start}
          - {name: ab, component: work, after: [a, b]}
          - {name: bc, component: work, after: [b, c]}
          - {name: end, component: work, after: [ab, bc]}
    """,
    "like names": """
        stages:
          - {name: a-b, component: work}
          - {name: a_b, component: work}
          - {name: a.b, component: work}
          - {name: a__b, component: work}
    """,
    "conditions": """
        stages:
          - {name: start, component: work}
          - {name: maybe, component: work, when: 'payload["kind"] == "a" and payload.n < 3'}
          - {name: list, component: work, when: 'tenant_id in [tenant_id] and priority in [unit_key]'}
          - {name: end, component: work}
    """,
}


def _drawn(text: str) -> str:
    console = Console(file=StringIO(), width=200, color_system=None)
    console.print(tree(plan_of(text)))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def _tree_stages(text: str) -> list[str]:
    """The stages in the order drawn: each label is `name (component) …`."""
    return re.findall(r"([\w.-]+) \(\w+\)", _drawn(text))


def _nodes(text: str) -> dict[str, str]:
    """Mermaid node id -> stage name, from the lines that define a stage."""
    found = re.findall(r'^ +(\w+)(?:\[|\{\{)"([\w.-]+)<br/>', mermaid(plan_of(text)), re.MULTILINE)
    assert len({node for node, _ in found}) == len(found)
    return dict(found)


def _edges(text: str) -> set[tuple[str, str]]:
    nodes = _nodes(text)
    found = re.findall(r"^ +(\w+) (?:-->|-\.->)\|\w+\| (\w+)$", mermaid(plan_of(text)), re.MULTILINE)
    return {(nodes[a], nodes[b]) for a, b in found}


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_tree_draws_every_stage_once(flow: str) -> None:
    assert sorted(_tree_stages(flow)) == sorted(plan_of(flow).steps)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_tree_draws_a_stage_after_all_that_come_before_it(flow: str) -> None:
    drawn = _tree_stages(flow)
    for step in plan_of(flow).steps.values():
        assert all(drawn.index(before) < drawn.index(step.name) for before in step.previous)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_mermaid_defines_every_stage_once(flow: str) -> None:
    assert sorted(_nodes(flow).values()) == sorted(plan_of(flow).steps)


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_mermaid_draws_every_edge(flow: str) -> None:
    steps = plan_of(flow).steps
    assert _edges(flow) == {(name, following) for name, step in steps.items() for following in step.following}


def test_linear_run_stays_on_one_level() -> None:
    lines = _drawn(FLOWS["linear"]).splitlines()[1:]
    assert {line.index(line.lstrip("│├└─ ")[0]) for line in lines} == {4}


def test_branches_are_indented_and_their_meeting_is_not() -> None:
    lines = {line.lstrip("│├└─ ").split(" ")[0]: line for line in _drawn(FLOWS["diamond"]).splitlines()}
    depth = {name: len(line) - len(line.lstrip("│├└─ ")) for name, line in lines.items()}
    assert depth["start"] == depth["meet"] == depth["end"] == 4
    assert depth["left"] == depth["right"] == 8


def test_tree_says_what_each_stage_does() -> None:
    drawn = _drawn(FLOWS["linear"])
    assert "answers within 60 s" in drawn.splitlines()[0]
    assert plan_of(FLOWS["linear"]).version in drawn.splitlines()[0]
    assert "cut (split) request · fans out" in drawn
    assert "sort (ask) item · asks people" in drawn
    assert "all (gather) item · collects" in drawn
    assert "meet (work) request · after left + right" in _drawn(FLOWS["diamond"])


def test_tree_tells_a_join_that_splits_again() -> None:
    drawn = _drawn(
        """
        stages:
          - {name: cut, component: split}
          - {name: regroup, component: regroup}
          - {name: all, component: gather_pairs}
        """
    )
    assert "regroup (regroup) item · regroups" in drawn


def test_tree_shows_conditions_as_they_are_written() -> None:
    drawn = _drawn(FLOWS["conditions"])
    assert 'when payload["kind"] == "a" and payload.n < 3' in drawn
    assert "when tenant_id in [tenant_id] and priority in [unit_key]" in drawn


def test_mermaid_shows_joins_conditions_time_limits_and_units() -> None:
    picture = mermaid(plan_of(FLOWS["linear"]))
    assert picture.startswith("flowchart TD\n")
    assert 's_all{{"all<br/><small>gather</small>"}}' in picture
    assert 's_read["read<br/><small>work · 15 s</small>"]' in picture
    assert "s_cut -->|item| s_read" in picture


def test_mermaid_dashes_the_way_into_a_stage_that_may_be_skipped() -> None:
    picture = mermaid(plan_of(FLOWS["conditions"]))
    assert "s_start -.->|request| s_maybe" in picture
    assert "s_list -->|request| s_end" in picture


def test_mermaid_labels_cannot_be_broken_by_a_condition() -> None:
    (label,) = re.findall(r's_maybe\["(.*)"\]', mermaid(plan_of(FLOWS["conditions"])))
    assert '"' not in label
    assert "payload.n &lt; 3" in label


def test_mermaid_draws_each_back_office_queue_under_its_own_name() -> None:
    picture = mermaid(plan_of(FLOWS["linear"]))
    people = dict(re.findall(r'-\. "not sure" \.-> (\w+)\(\["([\w.]+)"\]\)', picture))
    assert sorted(people.values()) == ["task.classification", "task.extraction"]
