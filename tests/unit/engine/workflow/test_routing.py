"""Routing: where emitted messages go, under which identity, and what survives every hop."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from docproc.engine.component import BACKOFFICE, NEXT
from docproc.engine.message import Failure, PipelineMessage
from docproc.engine.workflow.routing import BranchArrival, Route, Routed, Router
from docproc.errors import PermanentError, UnroutableError
from tests.unit.engine.workflow.flows import LINEAR, REQUEST, TOPOLOGY, message, plan_of

DIAMOND = """
    stages:
      - {name: start, component: heavy}
      - {name: left, component: work, after: start}
      - {name: right, component: slow, after: start}
      - {name: meet, component: poison, after: [left, right]}
"""

SKIPPING = """
    stages:
      - {name: start, component: work}
      - {name: maybe, component: heavy, when: payload.long}
      - {name: perhaps, component: slow, when: payload.slow}
      - {name: end, component: work}
"""


def status_of(route: Routed) -> str | None:
    """What the request becomes by sending it."""
    return route.standing.status if route.standing else None


def router(text: str) -> Router:
    return Router(plan_of(text), TOPOLOGY)


def sent(routes: Sequence[Route]) -> list[Routed]:
    assert all(isinstance(route, Routed) for route in routes), routes
    return [route for route in routes if isinstance(route, Routed)]


def only(routes: Sequence[Route]) -> Routed:
    (route,) = sent(routes)
    return route


def unit(of: PipelineMessage, unit_key: str, **fields: Any) -> PipelineMessage:
    return of.model_copy(update={"unit_key": unit_key, **fields})


# --- entering -------------------------------------------------------------------------------------------


def test_request_enters_at_the_first_stage_under_its_version() -> None:
    routing = router(LINEAR)
    route = only(routing.enter(message(workflow_name="whatever")))
    assert route.message.current_stage == "cut"
    assert route.message.workflow_name == "flow"
    assert route.message.workflow_version == routing.plan.version
    assert (route.exchange, route.routing_key, route.queue) == ("doc.direct", "split", "q.split")
    assert status_of(route) == "splitting"


def test_request_enters_all_first_stages_where_the_flow_starts_in_branches() -> None:
    routes = sent(
        router(
            """
            stages:
              - {name: a, component: work, after: []}
              - {name: b, component: heavy, after: []}
              - {name: meet, component: work, after: [a, b]}
            """
        ).enter(message())
    )
    assert [route.message.current_stage for route in routes] == ["a", "b"]
    assert routes[0].message.message_id != routes[1].message.message_id


def test_first_stage_may_be_skipped_on_entering() -> None:
    routing = router(
        "stages: [{name: a, component: work, when: payload.x}, {name: b, component: heavy}]",
    )
    assert only(routing.enter(message())).message.current_stage == "b"
    assert only(routing.enter(message(payload={"x": 1}))).message.current_stage == "a"


# --- NEXT, BACKOFFICE and routing keys ------------------------------------------------------------------


def test_next_goes_to_the_next_stage_on_the_direct_exchange() -> None:
    handled = message("read", "item:1")
    route = only(router(LINEAR).resolve(handled, [(NEXT, handled)]))
    assert (route.exchange, route.routing_key, route.queue) == ("doc.direct", "ask", "q.ask")
    assert route.message.current_stage == "ask"
    assert route.message.source_component == "work"
    assert route.message.unit_key == "item:1"


def test_next_carries_the_status_its_component_stands_for() -> None:
    handled = message("ask", "item:1")
    assert status_of(only(router(LINEAR).resolve(handled, [(NEXT, handled)]))) == "consolidating"
    handled = message("read", "item:1")
    assert only(router(LINEAR).resolve(handled, [(NEXT, handled)])).standing is None


def test_next_after_the_last_stage_publishes_nothing() -> None:
    handled = message("end")
    assert router(LINEAR).resolve(handled, [(NEXT, handled)]) == []


def test_emitting_nothing_publishes_nothing() -> None:
    assert router(LINEAR).resolve(message("read", "item:1"), []) == []


def test_backoffice_goes_to_the_stage_s_queue_and_stays_in_its_stage() -> None:
    handled = message("ask", "item:1", attempt=2)
    route = only(router(LINEAR).resolve(handled, [(BACKOFFICE, handled)]))
    assert (route.exchange, route.routing_key) == ("doc.backoffice", "task.classification")
    assert route.queue == "q.backoffice.classification"
    assert route.message.current_stage == "ask"
    assert (route.message.unit_key, route.message.attempt) == ("item:1", 1)
    assert route.message.message_id != handled.message_id


def test_backoffice_without_a_queue_is_a_permanent_error() -> None:
    handled = message("read", "item:1")
    with pytest.raises(PermanentError, match=r"'read' sent a unit to the back office.*Add backoffice_queue"):
        router(LINEAR).resolve(handled, [(BACKOFFICE, handled)])


def test_person_asked_by_a_join_answers_for_the_whole_group() -> None:
    routing = router(
        """
        stages:
          - {name: cut, component: split}
          - {name: judge, component: judge, backoffice_queue: task.extraction}
          - {name: end, component: work}
        """
    )
    last = message("judge", "item:7")
    asked = only(routing.resolve(last, [(BACKOFFICE, unit(last, ""))])).message
    assert asked.unit_key == ""
    assert only(routing.after(asked)).message.unit_key == ""


def test_answer_of_a_person_goes_on_from_its_stage() -> None:
    routing = router(LINEAR)
    handled = message("ask", "item:1", deadline_utc=datetime(2030, 1, 1, tzinfo=UTC))
    asked = only(routing.resolve(handled, [(BACKOFFICE, handled)])).message
    onward = only(routing.after(asked)).message
    assert (onward.current_stage, onward.unit_key) == ("all", "item:1")
    assert (asked.source_component, onward.source_component) == ("ask", "backoffice")
    assert (onward.trace_id, onward.deadline_utc) == (handled.trace_id, handled.deadline_utc)


def test_any_other_target_is_a_routing_key() -> None:
    handled = message("read", "item:1")
    route = only(router(LINEAR).resolve(handled, [("heavy", handled)]))
    assert (route.exchange, route.routing_key, route.queue) == ("doc.direct", "heavy", "q.heavy")
    assert route.message.current_stage == "end"


def test_routing_key_of_a_stage_carries_that_stage_s_status() -> None:
    handled = message("read", "item:1")
    assert status_of(only(router(LINEAR).resolve(handled, [("gather", handled)]))) == "consolidating"


def test_routing_key_outside_the_flow_keeps_the_stage() -> None:
    handled = message("read", "item:1")
    route = only(router(LINEAR).resolve(handled, [("page.ocr", handled)]))
    assert (route.queue, route.message.current_stage, route.standing) == ("q.ocr", "read", None)


def test_routing_key_without_a_queue_is_unroutable() -> None:
    handled = message("read", "item:1")
    with pytest.raises(UnroutableError) as caught:
        router(LINEAR).resolve(handled, [("nowhere", handled)])
    assert (caught.value.routing_key, caught.value.exchange) == ("nowhere", "doc.direct")


def test_several_targets_of_one_message_each_get_theirs() -> None:
    handled = message("ask", "item:1")
    routes = sent(
        router(LINEAR).resolve(handled, [(NEXT, handled), (BACKOFFICE, handled), ("heavy", handled)])
    )
    assert [route.queue for route in routes] == ["q.gather", "q.backoffice.classification", "q.heavy"]
    assert len({route.message.message_id for route in routes}) == 3


def test_message_of_an_unknown_stage_is_a_permanent_error() -> None:
    handled = message("removed")
    with pytest.raises(PermanentError, match="no stage 'removed'"):
        router(LINEAR).resolve(handled, [(NEXT, handled)])


# --- what survives --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [NEXT, BACKOFFICE, "heavy"])
def test_identity_survives_whatever_the_component_built(target: str) -> None:
    handled = message(
        "ask",
        "item:1",
        tenant_id="acme",
        workflow_name="flow",
        workflow_version="v1",
        deadline_utc=datetime(2030, 1, 1, tzinfo=UTC),
        generation=3,
        priority=8,
        replay_of=uuid4(),
    )
    built = PipelineMessage(
        request_id=uuid4(),
        tenant_id="intruder",
        workflow_name="other",
        workflow_version="v2",
        current_stage="cut",
        source_component="nobody",
        unit_key="item:99",
        deadline_utc=datetime(2031, 1, 1, tzinfo=UTC),
        attempt=7,
        replay_of=uuid4(),
        failure=Failure(stage="x", component="x", error="x", message_id=uuid4()),
        payload={"found": 1},
        page_index=4,
    )
    found = only(router(LINEAR).resolve(handled, [(target, built)])).message
    assert found.request_id == REQUEST
    assert found.trace_id == handled.trace_id
    assert found.tenant_id == "acme"
    assert (found.workflow_name, found.workflow_version) == ("flow", "v1")
    assert found.deadline_utc == handled.deadline_utc
    assert found.source_component == "ask"
    assert found.unit_key == "item:1"
    assert found.generation == 3
    assert found.priority == 8
    assert (found.attempt, found.replay_of, found.failure) == (1, None, None)
    assert found.message_id not in (built.message_id, handled.message_id)
    # What belongs to the application is carried as it is.
    assert (found.payload, found.page_index) == ({"found": 1}, 4)


def test_component_may_choose_another_priority() -> None:
    handled = message("read", "item:1", priority=3)
    chosen = handled.model_copy(update={"priority": 9})
    assert only(router(LINEAR).resolve(handled, [(NEXT, chosen)])).message.priority == 9


def test_emitted_message_itself_is_left_alone() -> None:
    handled = message("read", "item:1")
    before = handled.encode()
    router(LINEAR).resolve(handled, [(NEXT, handled)])
    assert handled.encode() == before


def test_a_join_may_go_on_in_a_later_generation() -> None:
    handled = message("all", "item:1", generation=1)
    onward = unit(handled, "", generation=2)
    assert only(router(LINEAR).resolve(handled, [(NEXT, onward)])).message.generation == 2


def test_fan_out_stamps_the_generation_its_units_are_counted_in() -> None:
    handled = message("cut")
    routes = sent(router(LINEAR).resolve(handled, [(NEXT, unit(handled, "item:0"))], generation=4))
    assert [route.message.generation for route in routes] == [4]


# --- ids ------------------------------------------------------------------------------------------------


def test_same_output_of_the_same_message_has_the_same_id() -> None:
    handled = message("cut", message_id=UUID(int=7))
    emissions = [(NEXT, unit(handled, f"item:{i}")) for i in range(3)]
    first, second = (
        [route.message.message_id for route in sent(router(LINEAR).resolve(handled, emissions))]
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) == 3


def test_child_ids_do_not_depend_on_what_the_component_built() -> None:
    handled = message("read", "item:1")
    fresh = [PipelineMessage(request_id=uuid4(), payload={"run": n}) for n in range(2)]
    ids = {only(router(LINEAR).resolve(handled, [(NEXT, built)])).message.message_id for built in fresh}
    assert len(ids) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"message_id": UUID(int=8)},
        {"unit_key": "item:2"},
        {"generation": 2},
        {"current_stage": "ask"},
    ],
)
def test_another_parent_unit_generation_or_stage_gives_another_id(other: dict[str, Any]) -> None:
    handled = message("read", "item:1", message_id=UUID(int=7))
    changed = handled.model_copy(update=other)
    routing = router(LINEAR)
    one = only(routing.resolve(handled, [(NEXT, handled)])).message.message_id
    two = only(routing.resolve(changed, [(NEXT, changed)])).message.message_id
    assert one != two


def test_entering_twice_gives_the_same_message() -> None:
    entering = message()
    ids = [only(router(LINEAR).enter(entering)).message.message_id for _ in range(2)]
    assert ids[0] == ids[1] != entering.message_id


# --- fan-out --------------------------------------------------------------------------------------------


def test_fan_out_names_its_units() -> None:
    handled = message("cut")
    routes = sent(router(LINEAR).resolve(handled, [(NEXT, unit(handled, f"item:{i}")) for i in range(3)]))
    assert [route.message.unit_key for route in routes] == ["item:0", "item:1", "item:2"]
    assert {route.message.group_key for route in routes} == {""}


NESTED = """
    stages:
      - {name: cut, component: split}
      - {name: lines, component: split_lines}
      - {name: page, component: gather_lines}
      - {name: all, component: gather}
"""


@pytest.mark.parametrize("local", ["line:2", "item:1/line:2"])
def test_nested_fan_out_names_its_units_below_its_own(local: str) -> None:
    handled = message("lines", "item:1")
    found = only(router(NESTED).resolve(handled, [(NEXT, unit(handled, local))])).message
    assert (found.unit_key, found.group_key) == ("item:1/line:2", "item:1")


def test_nested_join_goes_on_as_the_unit_it_is_part_of() -> None:
    handled = message("page", "item:1/line:2")
    found = only(router(NESTED).resolve(handled, [(NEXT, handled)])).message
    assert (found.current_stage, found.unit_key) == ("all", "item:1")


def test_part_with_a_prefix_of_its_whole_is_not_mistaken_for_it() -> None:
    handled = message("lines", "item:1")
    found = only(router(NESTED).resolve(handled, [(NEXT, unit(handled, "item:10"))])).message
    assert found.unit_key == "item:1/item:10"


@pytest.mark.parametrize("stage", ["cut", "lines"])
def test_fan_out_without_a_unit_key_of_its_own_is_refused(stage: str) -> None:
    handled = message(stage, "" if stage == "cut" else "item:1")
    for local in ("", handled.unit_key):
        with pytest.raises(PermanentError, match=f"'{stage}' fans out but emitted.*Set unit_key"):
            router(NESTED).resolve(handled, [(NEXT, unit(handled, local))])


@pytest.mark.parametrize(
    ("stage", "whole", "local"),
    [("cut", "", "scan.pdf/3"), ("lines", "item:1", "a/b"), ("lines", "item:1", "item:1/a/b")],
)
def test_unit_key_more_than_one_level_down_is_refused(stage: str, whole: str, local: str) -> None:
    # It would be counted in a group that nobody opened, and its join would wait for ever.
    handled = message(stage, whole)
    with pytest.raises(PermanentError, match="not one level below"):
        router(NESTED).resolve(handled, [(NEXT, unit(handled, local))])


def test_regrouping_join_may_reuse_the_name_of_the_unit_that_came_last() -> None:
    routing = router(
        """
        stages:
          - {name: cut, component: split}
          - {name: sift, component: sift}
          - {name: all, component: gather}
        """
    )
    last = message("sift", "item:1")
    routes = sent(routing.resolve(last, [(NEXT, unit(last, f"item:{i}")) for i in (0, 1)]))
    assert [route.message.unit_key for route in routes] == ["item:0", "item:1"]


def test_regrouping_join_must_name_its_units() -> None:
    routing = router(
        """
        stages:
          - {name: cut, component: split}
          - {name: regroup, component: regroup}
          - {name: all, component: gather_pairs}
        """
    )
    last = message("regroup", "item:1")
    with pytest.raises(PermanentError, match="without a unit_key of its own"):
        routing.resolve(last, [(NEXT, unit(last, ""))])
    assert only(routing.resolve(last, [(NEXT, unit(last, "pair:0"))])).message.unit_key == "pair:0"


def test_stage_that_does_not_fan_out_cannot_rename_its_unit() -> None:
    handled = message("read", "item:1")
    assert only(router(LINEAR).resolve(handled, [(NEXT, unit(handled, "x"))])).message.unit_key == "item:1"


# --- twins ----------------------------------------------------------------------------------------------


def test_twins_of_a_fan_out_are_refused() -> None:
    handled = message("cut")
    twins = [(NEXT, unit(handled, "item:0")), (NEXT, unit(handled, "item:0"))]
    with pytest.raises(PermanentError, match="two messages with the same target and unit_key"):
        router(LINEAR).resolve(handled, twins)


def test_two_next_from_a_stage_that_does_not_fan_out_are_refused() -> None:
    handled = message("read", "item:1")
    with pytest.raises(PermanentError, match="'read' emitted two messages"):
        router(LINEAR).resolve(handled, [(NEXT, handled), (NEXT, handled)])


def test_twins_on_their_way_to_a_meeting_of_branches_are_refused() -> None:
    handled = message("left")
    with pytest.raises(PermanentError, match="'left' emitted two messages"):
        router(DIAMOND).resolve(handled, [(NEXT, handled), (NEXT, handled)])


# --- branches -------------------------------------------------------------------------------------------


def test_next_goes_into_every_branch() -> None:
    handled = message("start")
    routes = sent(router(DIAMOND).resolve(handled, [(NEXT, handled)]))
    assert [(r.message.current_stage, r.queue) for r in routes] == [("left", "q.work"), ("right", "q.slow")]
    assert routes[0].message.message_id != routes[1].message.message_id


@pytest.mark.parametrize("branch", ["left", "right"])
def test_branch_arrives_at_the_stage_where_it_meets_the_others(branch: str) -> None:
    handled = message(branch, payload={"from": branch}, generation=2)
    (arrival,) = router(DIAMOND).resolve(handled, [(NEXT, handled)])
    assert isinstance(arrival, BranchArrival)
    assert (arrival.step.name, arrival.branch) == ("meet", branch)
    assert arrival.message.payload == {"from": branch}
    assert arrival.message.generation == 2


def test_unit_whose_branches_have_met_goes_into_the_stage() -> None:
    routing = router(DIAMOND)
    met = message("left", payload={"merged": True})
    route = only(routing.into(routing.plan.step("meet"), met, UUID(int=1)))
    assert (route.message.current_stage, route.message.payload) == ("meet", {"merged": True})
    assert route.message.message_id == only(
        routing.into(routing.plan.step("meet"), met, UUID(int=1))
    ).message.message_id  # fmt: skip


# --- when -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "stage"),
    [
        ({"long": 1, "slow": 1}, "maybe"),
        ({"long": 1}, "maybe"),
        ({"slow": 1}, "perhaps"),
        ({}, "end"),
    ],
)
def test_stages_whose_condition_is_false_are_skipped(payload: dict[str, Any], stage: str) -> None:
    handled = message("start", payload=payload)
    route = only(router(SKIPPING).resolve(handled, [(NEXT, handled)]))
    assert route.message.current_stage == stage
    assert route.message.source_component == "work"


def test_condition_is_asked_of_what_was_emitted() -> None:
    handled = message("start", payload={})
    emitted = handled.model_copy(update={"payload": {"slow": True}})
    assert only(router(SKIPPING).resolve(handled, [(NEXT, emitted)])).message.current_stage == "perhaps"


def test_condition_that_cannot_be_decided_is_a_permanent_error() -> None:
    text = SKIPPING.replace("payload.long", "payload.long > 3")
    handled = message("start")
    with pytest.raises(PermanentError, match="cannot be decided"):
        router(text).resolve(handled, [(NEXT, handled)])


BRANCH_SKIPS = """
    stages:
      - {name: start, component: heavy}
      - {name: left, component: work, after: start, when: payload.left}
      - {name: left_more, component: work, when: payload.more}
      - {name: right, component: slow, after: start, when: payload.right}
      - {name: meet, component: poison, after: [left_more, right], when: payload.meet}
      - {name: end, component: heavy}
"""


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"left": 1, "right": 1}, ["left", "right"]),
        ({"left": 1}, ["left", "right ⇢ meet"]),
        ({"more": 1, "right": 1}, ["left_more", "right"]),
        ({"right": 1}, ["left_more ⇢ meet", "right"]),
        ({}, ["left_more ⇢ meet", "right ⇢ meet"]),
    ],
)
def test_skipped_branch_counts_as_arrived(payload: dict[str, Any], expected: list[str]) -> None:
    handled = message("start", payload=payload)
    routes = router(BRANCH_SKIPS).resolve(handled, [(NEXT, handled)])
    assert [
        f"{r.branch} ⇢ {r.step.name}" if isinstance(r, BranchArrival) else r.message.current_stage
        for r in routes
    ] == expected


@pytest.mark.parametrize(("payload", "stage"), [({"meet": 1}, "meet"), ({}, "end")])
def test_stage_where_branches_meet_may_be_skipped_itself(payload: dict[str, Any], stage: str) -> None:
    routing = router(BRANCH_SKIPS)
    met = message("left", payload=payload)
    route = only(routing.into(routing.plan.step("meet"), met, UUID(int=1)))
    assert route.message.current_stage == stage


# --- failures -------------------------------------------------------------------------------------------


def test_failed_unit_goes_straight_to_its_join_with_its_failure() -> None:
    routing = router(LINEAR)
    failure = Failure(stage="read", component="work", error="broken", message_id=uuid4())
    failed = message("read", "item:1", attempt=3, failure=failure)
    route = routing.arrive_failed(failed, routing.plan.step("all"))
    assert isinstance(route, Routed)
    assert (route.queue, route.message.current_stage) == ("q.gather", "all")
    assert (route.message.unit_key, route.message.failure, route.message.attempt) == ("item:1", failure, 1)
    assert route.message.message_id != failed.message_id


def test_address_keeps_the_identity_a_message_already_has() -> None:
    routing = router(LINEAR)
    known = message("all", "item:1", attempt=2)
    route = routing.address(routing.plan.step("all"), known)
    assert route.message == known
    assert (route.queue, status_of(route), route.held_by) == ("q.gather", "consolidating", None)
