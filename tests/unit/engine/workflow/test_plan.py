"""Plans: what the compiler concludes about a flow, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import pytest

from docproc.engine.transport import Topology
from docproc.engine.workflow.definition import OnFailure
from docproc.engine.workflow.plan import PlanError, compile_plan
from docproc.errors import PermanentError
from docproc.registry import QUEUE_BINDINGS
from tests.unit.engine.workflow.flows import COMPONENTS, LINEAR, TOPOLOGY, plan_of, workflow_of

DIAMOND = """
    stages:
      - {name: start, component: work}
      - {name: left, component: work, after: start}
      - {name: right, component: work, after: start}
      - {name: meet, component: work, after: [left, right]}
"""

NESTED = """
    stages:
      - {name: cut, component: split}
      - {name: lines, component: split_lines}
      - {name: read, component: work}
      - {name: page, component: gather_lines}
      - {name: all, component: gather}
"""

REGROUPED = """
    stages:
      - {name: cut, component: split}
      - {name: regroup, component: regroup}
      - {name: read, component: work}
      - {name: all, component: gather_pairs}
"""


def _refusal(text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        plan_of(text)
    assert caught.value.remedy
    return caught.value


# --- order ----------------------------------------------------------------------------------------------


def test_list_order_is_the_flow() -> None:
    plan = plan_of(LINEAR)
    assert plan.first == ("cut",)
    following = {name: step.following for name, step in plan.steps.items()}
    assert following == {
        "cut": ("read",), "read": ("ask",), "ask": ("all",), "all": ("end",), "end": (),
    }  # fmt: skip
    assert [step.previous for step in plan.steps.values()] == [(), ("cut",), ("read",), ("ask",), ("all",)]


def test_after_makes_branches_that_meet() -> None:
    plan = plan_of(DIAMOND)
    assert plan.steps["start"].following == ("left", "right")
    assert plan.steps["meet"].previous == ("left", "right")
    assert [name for name, step in plan.steps.items() if step.joins_branches] == ["meet"]
    assert plan.steps["meet"].branch_join_name == "meet:branches"


def test_after_can_turn_the_list_around() -> None:
    plan = plan_of(
        """
        stages:
          - {name: last, component: work, after: middle}
          - {name: first, component: work, after: []}
          - {name: middle, component: work, after: first}
        """
    )
    assert plan.first == ("first",)
    assert plan.steps["first"].following == ("middle",)
    assert plan.steps["last"].following == ()


def test_a_flow_may_start_in_branches() -> None:
    plan = plan_of(
        """
        stages:
          - {name: a, component: work}
          - {name: b, component: work, after: []}
          - {name: meet, component: work, after: [a, b]}
        """
    )
    assert plan.first == ("a", "b")


def test_a_branch_may_be_a_shortcut() -> None:
    plan = plan_of(
        """
        stages:
          - {name: a, component: work}
          - {name: b, component: work}
          - {name: c, component: work, after: [a, b]}
        """
    )
    assert plan.steps["a"].following == ("b", "c")
    assert plan.steps["c"].previous == ("a", "b")


def test_cycle_is_refused_and_told_in_the_order_of_the_flow() -> None:
    error = _refusal(
        """
        stages:
          - {name: a, component: work, after: c}
          - {name: b, component: work}
          - {name: c, component: work}
        """
    )
    cycle = str(error).removeprefix("the stages form a cycle: ").split(" → ")
    assert cycle[0] == cycle[-1] and set(cycle) == {"a", "b", "c"}
    follows = {("a", "b"), ("b", "c"), ("c", "a")}
    assert all(pair in follows for pair in pairwise(cycle))
    assert (error.stage, error.key) == ("a", "after")  # where it is written


def test_a_stage_after_itself_is_a_cycle() -> None:
    error = _refusal("stages: [{name: a, component: work, after: a}]")
    assert "a → a" in str(error)


def test_a_stage_after_an_unknown_one_is_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: a, component: work}
          - {name: b, component: work, after: [a, nobody]}
        """
    )
    assert (error.stage, error.key) == ("b", "after")
    assert "'nobody'" in str(error)
    assert "a, b" in error.remedy


def test_naming_a_branch_twice_is_refused_because_it_arrives_once() -> None:
    error = _refusal(
        """
        stages:
          - {name: a, component: work}
          - {name: b, component: work, after: [a, a]}
        """
    )
    assert (error.stage, error.key) == ("b", "after")
    assert "twice" in str(error)


def test_two_stages_of_one_name_are_refused() -> None:
    error = _refusal("stages: [{name: a, component: work}, {name: a, component: heavy}]")
    assert (error.stage, error.key) == ("a", "name")


def test_several_ends_are_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: start, component: work}
          - {name: left, component: work, after: start}
          - {name: right, component: work, after: start}
        """
    )
    assert (error.stage, error.key) == ("right", "after")
    assert "left, right" in str(error)
    assert "after: [left, right]" in error.remedy


# --- components and addresses ---------------------------------------------------------------------------


def test_unknown_component_is_refused_with_the_known_ones() -> None:
    error = _refusal("stages: [{name: a, component: wrok}]")
    assert (error.stage, error.key) == ("a", "component")
    assert "'wrok'" in str(error)
    assert "work" in error.remedy and "gather" in error.remedy


def test_a_step_knows_its_queue_and_routing_key() -> None:
    step = plan_of(LINEAR).steps["read"]
    assert (step.queue, step.routing_key) == ("q.work", "work")


def test_two_stages_may_share_a_component() -> None:
    plan = plan_of("stages: [{name: a, component: work}, {name: b, component: work}]")
    assert plan.steps["a"].queue == plan.steps["b"].queue == "q.work"


def test_routing_key_may_be_written_when_it_is_the_right_one() -> None:
    assert plan_of("stages: [{name: a, component: work, routing_key: work}]").steps["a"].queue == "q.work"


@pytest.mark.parametrize("key", ["heavy", "page.ocr", "nowhere"])
def test_routing_key_that_leads_elsewhere_is_refused(key: str) -> None:
    error = _refusal(f"stages: [{{name: a, component: work, routing_key: {key}}}]")
    assert (error.stage, error.key) == ("a", "routing_key")
    assert repr(key) in str(error) and "q.work" in str(error)
    assert "routing_key: work" in error.remedy


def test_component_without_any_binding_is_refused() -> None:
    workflow = workflow_of("stages: [{name: a, component: work}]")
    with pytest.raises(PlanError) as caught:
        compile_plan(workflow, COMPONENTS, Topology(QUEUE_BINDINGS))
    assert caught.value.key == "routing_key"


def test_unknown_stage_is_a_permanent_error_that_lists_the_stages() -> None:
    with pytest.raises(PermanentError, match=r"no stage 'gone'.*cut, read, ask, all, end"):
        plan_of(LINEAR).step("gone")


@pytest.mark.parametrize(("key", "stage"), [("work", "read"), ("gather", "all"), ("page.ocr", None)])
def test_stage_is_found_by_its_routing_key(key: str, stage: str | None) -> None:
    assert plan_of(LINEAR).stage_for_key(key) == stage


def test_plan_carries_the_content_version() -> None:
    assert plan_of(LINEAR).version == workflow_of(LINEAR).content_version


# --- units ----------------------------------------------------------------------------------------------


def test_units_are_followed_from_fan_out_to_join() -> None:
    plan = plan_of(LINEAR)
    assert [step.unit for step in plan.steps.values()] == ["request", "item", "item", "item", "request"]
    assert [step.collected_by for step in plan.steps.values()] == [None, "all", "all", "all", None]
    assert [step.fans_out_to for step in plan.steps.values()] == ["all", None, None, None, None]
    assert [step.opened_by for step in plan.steps.values()] == [None, None, None, "cut", None]
    assert [step.is_join for step in plan.steps.values()] == [False, False, False, True, False]


def test_join_counts_under_the_name_its_component_says_or_its_stage() -> None:
    assert plan_of(LINEAR).steps["all"].join_name == "gathering"
    collected = plan_of("stages: [{name: cut, component: split}, {name: mine, component: collect}]")
    assert collected.steps["mine"].join_name == "mine"


def test_nested_fan_out_stacks_its_units() -> None:
    plan = plan_of(NESTED)
    assert {n: s.unit for n, s in plan.steps.items()} == {
        "cut": "request", "lines": "item", "read": "line", "page": "line", "all": "item",
    }  # fmt: skip
    assert {n: s.collected_by for n, s in plan.steps.items()} == {
        "cut": None, "lines": "all", "read": "page", "page": "page", "all": "all",
    }  # fmt: skip
    assert (plan.steps["cut"].fans_out_to, plan.steps["lines"].fans_out_to) == ("all", "page")
    assert (plan.steps["page"].opened_by, plan.steps["all"].opened_by) == ("lines", "cut")


def test_join_that_gives_another_unit_fans_out_again() -> None:
    plan = plan_of(REGROUPED)
    regroup = plan.steps["regroup"]
    assert (regroup.is_join, regroup.opened_by, regroup.fans_out_to) == (True, "cut", "all")
    assert (plan.steps["read"].unit, plan.steps["read"].collected_by) == ("pair", "all")


def test_join_may_give_the_unit_it_took_again() -> None:
    plan = plan_of(
        """
        stages:
          - {name: cut, component: split}
          - {name: sift, component: sift}
          - {name: all, component: gather}
        """
    )
    assert plan.steps["sift"].fans_out_to == "all"
    assert plan.steps["all"].opened_by == "sift"


def test_branches_of_a_unit_meet_inside_its_fan_out() -> None:
    plan = plan_of(
        """
        stages:
          - {name: cut, component: split}
          - {name: left, component: work, after: cut}
          - {name: right, component: work, after: cut}
          - {name: all, component: gather, after: [left, right]}
        """
    )
    assert plan.steps["all"].joins_branches and plan.steps["all"].opened_by == "cut"


def test_several_units_may_be_taken() -> None:
    for between in ("", "      - {name: regroup, component: regroup}\n"):
        gather = "gather_pairs" if between else "gather"
        plan = plan_of(
            "    stages:\n      - {name: cut, component: split}\n"
            + between
            + f"      - {{name: x, component: either}}\n      - {{name: all, component: {gather}}}\n"
        )
        assert plan.steps["x"].collected_by == "all"


@pytest.mark.parametrize(
    ("text", "stage", "said"),
    [
        ("stages: [{name: all, component: gather}]", "all", "takes item, but the flow starts with 'request'"),
        (
            "stages: [{name: cut, component: split}, {name: again, component: split}]",
            "again",
            "takes request, but 'cut' gives 'item'",
        ),
        (
            "stages: [{name: a, component: work}, {name: x, component: either}]",
            "x",
            "takes item or pair, but 'a' gives 'request'",
        ),
        (
            "stages: [{name: cut, component: split}, {name: all, component: gather_pairs}]",
            "all",
            "takes pair, but 'cut' gives 'item'",
        ),
    ],
)
def test_unit_that_does_not_fit_is_refused(text: str, stage: str, said: str) -> None:
    error = _refusal(text)
    assert (error.stage, error.key) == (stage, "component")
    assert said in str(error)


def test_join_with_nothing_to_collect_is_refused() -> None:
    error = _refusal("stages: [{name: a, component: work}, {name: all, component: collect}]")
    assert (error.stage, error.key) == ("all", "component")
    assert "nothing to collect" in str(error)


@pytest.mark.parametrize(
    ("text", "end", "unit"),
    [
        ("stages: [{name: cut, component: split}]", "cut", "item"),
        ("stages: [{name: cut, component: split}, {name: a, component: work}]", "a", "item"),
        (
            "stages: [{name: cut, component: split}, {name: l, component: split_lines}, "
            "{name: p, component: gather_lines}]",
            "p",
            "item",
        ),
        ("stages: [{name: cut, component: split}, {name: p, component: regroup}]", "p", "pair"),
    ],
)
def test_loose_units_at_the_end_are_refused(text: str, end: str, unit: str) -> None:
    error = _refusal(text)
    assert (error.stage, error.key) == (end, "component")
    assert f"loose {unit!r} units" in str(error)


def test_branches_that_bring_different_units_are_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: start, component: work}
          - {name: cut, component: split, after: start}
          - {name: whole, component: work, after: start}
          - {name: meet, component: collect, after: [cut, whole]}
        """
    )
    assert (error.stage, error.key) == ("meet", "after")
    assert "'cut' gives 'item'" in str(error) and "'whole' gives 'request'" in str(error)


def test_branches_that_split_alike_but_apart_are_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: start, component: work}
          - {name: one, component: split, after: start}
          - {name: two, component: split, after: start}
          - {name: meet, component: collect, after: [one, two]}
        """
    )
    assert (error.stage, error.key) == ("meet", "after")


def test_branches_may_each_split_and_join_for_themselves() -> None:
    plan = plan_of(
        """
        stages:
          - {name: one, component: split, after: []}
          - {name: join_one, component: collect}
          - {name: two, component: split, after: []}
          - {name: join_two, component: collect}
          - {name: meet, component: work, after: [join_one, join_two]}
        """
    )
    assert (plan.steps["one"].fans_out_to, plan.steps["two"].fans_out_to) == ("join_one", "join_two")


def test_one_fan_out_collected_in_two_places_is_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: cut, component: split}
          - {name: one, component: collect, after: cut}
          - {name: two, component: collect, after: cut}
          - {name: meet, component: work, after: [one, two]}
        """
    )
    assert error.key == "component"
    assert "'cut' are already collected by" in str(error)


def test_two_joins_that_count_under_one_name_are_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: cut, component: split}
          - {name: all, component: gather}
          - {name: cut_again, component: split}
          - {name: all_again, component: gather}
        """
    )
    assert (error.stage, error.key) == ("all_again", "component")
    assert "'all' and 'all_again' would both count under 'gathering'" in str(error)


def test_splitting_twice_in_a_row_works_with_joins_of_their_own() -> None:
    plan = plan_of(
        """
        stages:
          - {name: cut, component: split}
          - {name: all, component: gather}
          - {name: cut_again, component: split}
          - {name: all_again, component: collect}
        """
    )
    assert plan.steps["cut"].fans_out_to == "all"
    assert plan.steps["cut_again"].fans_out_to == "all_again"


# --- settings that a stage cannot use -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "key", "said"),
    [
        ("{name: x, component: work, backoffice_queue: task.extraction}", "backoffice_queue", "never asks"),
        ("{name: x, component: ask, when_no_time: wait}", "when_no_time", "no person is asked"),
        ("{name: x, component: work, aggregation: {type: fan_in}}", "aggregation", "collects nothing"),
        ("{name: x, component: work, parallel: true}", "parallel", "there is one"),
        ("{name: x, component: work, window: 5}", "window", "does not fan out"),
        ("{name: x, component: ask, backoffice_queue: task.nobody}", "backoffice_queue", "'task.nobody'"),
        ("{name: x, component: ask, backoffice_queue: page.ocr}", "backoffice_queue", "'page.ocr'"),
    ],
)
def test_setting_that_a_stage_cannot_use_is_refused(stage: str, key: str, said: str) -> None:
    error = _refusal(f"stages: [{stage}, {{name: end, component: work}}]")
    assert (error.stage, error.key) == ("x", key)
    assert said in str(error)


@pytest.mark.parametrize(
    ("skipped", "key"),
    [("cut", "split"), ("all", "gather")],
)
def test_stage_that_changes_units_cannot_be_skipped(skipped: str, key: str) -> None:
    text = LINEAR.replace(f"component: {key}}}", f"component: {key}, when: payload.x == 1}}")
    error = _refusal(text)
    assert (error.stage, error.key) == (skipped, "when")


def test_last_stage_cannot_be_skipped_because_it_ends_the_request() -> None:
    error = _refusal("stages: [{name: a, component: work}, {name: b, component: work, when: payload.x == 1}]")
    assert (error.stage, error.key) == ("b", "when")


def test_count_of_other_units_than_a_join_collects_is_refused() -> None:
    error = _refusal(
        """
        stages:
          - {name: cut, component: split}
          - {name: all, component: gather, aggregation: {expect_count_from: page_count}}
        """
    )
    assert (error.stage, error.key) == ("all", "aggregation")
    assert "item_count" in error.remedy


def test_settings_are_accepted_where_they_have_a_use() -> None:
    plan = plan_of(
        """
        stages:
          - {name: cut, component: split, window: 8}
          - {name: ask, component: ask, backoffice_queue: task.extraction, when: payload.x, parallel: true}
          - {name: all, component: gather, aggregation: {expect_count_from: item_count}}
        """
    )
    assert plan.steps["cut"].stage.window == 8
    assert plan.steps["ask"].stage.backoffice_queue == "task.extraction"
    assert plan.steps["all"].stage.aggregation is not None


# --- failures -------------------------------------------------------------------------------------------


def test_failure_continues_below_the_request_and_fails_it_above() -> None:
    plan = plan_of(LINEAR)
    assert {name: step.on_failure for name, step in plan.steps.items()} == {
        "cut": OnFailure.FAIL_REQUEST,
        "read": OnFailure.CONTINUE,
        "ask": OnFailure.CONTINUE,
        "all": OnFailure.CONTINUE,
        "end": OnFailure.FAIL_REQUEST,
    }


@pytest.mark.parametrize("choice", list(OnFailure))
def test_stage_may_say_what_its_failure_means(choice: OnFailure) -> None:
    plan = plan_of(LINEAR.replace("name: read,", f"name: read, on_failure: {choice},"))
    assert plan.steps["read"].on_failure is choice


def test_topology_of_the_tests_binds_every_component_once() -> None:
    assert len(set(TOPOLOGY.bindings.values())) == len(TOPOLOGY.bindings)


def test_join_stage_named_as_another_ones_count_is_refused() -> None:
    error = _refusal(REGROUPED.replace("name: regroup", "name: pairs"))
    assert "'pairs' and 'all' would both count under 'pairs'" in str(error)
    assert "Rename" in error.remedy
