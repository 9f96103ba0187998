"""The engine's promises, on every combination of database and transport."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from docproc.engine.message import PipelineMessage
from docproc.engine.running import dead_letters
from docproc.engine.running.intake import Submission
from docproc.engine.store.tables import DeadLetter
from docproc.errors import UnknownWorkflowError
from tests import components
from tests.harness import Harness, filled

FAN = """
stages:
  - {name: split, component: split}
  - {name: first, component: work}
  - {name: second, component: heavy}
  - {name: gather, component: gather}
"""

POISON = """
stages:
  - {name: split, component: split}
  - {name: poison, component: poison, retry: {attempts: 3, delay_seconds: 0.01}}
  - {name: gather, component: gather}
"""


def items(*numbers: int) -> list[str]:
    return sorted(f"item:{number}" for number in numbers)


# --- flow -------------------------------------------------------------------------------------------


async def test_request_runs_through_fan_out_and_join(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=7)
    assert request.status == "completed"
    assert filled(request.result_payload)["units"] == items(*range(7))
    assert filled(request.result_payload)["done"]["item:3"] == ["first", "second"]
    assert await engine.query("SELECT count(*) FROM messages") == [(0,)]


async def test_two_workers_share_many_requests_and_each_join_fires_once(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    await engine.start()
    requests = [await engine.submit("fan", n=9) for _ in range(12)]
    for request_id in requests:
        assert (await engine.finished(request_id)).status == "completed"
    joins = await engine.query("SELECT received_count, expected_count, is_complete FROM aggregation_state")
    assert [tuple(join) for join in joins] == [(9, 9, True)] * 12
    ends = await engine.query("SELECT count(*) FROM events WHERE kind = 'status' AND outcome = 'completed'")
    assert ends == [(12,)]


async def test_status_moves_forward_and_every_change_is_an_event(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=3)
    changes = [event.outcome for event in await engine.events(request.id, "status")]
    assert changes == ["received", "splitting", "processing", "consolidating", "completed"]


async def test_each_handled_message_leaves_one_event(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=5)
    handled = await engine.events(request.id, "handled")
    assert sorted(event.stage for event in handled) == sorted(
        ["split"] + 5 * ["first"] + 5 * ["second"] + 5 * ["gather"]
    )
    assert {event.outcome for event in handled} == {"done"}
    assert all(event.started_at <= event.finished_at for event in handled)


async def test_trace_and_deadline_reach_the_last_stage(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan", n=2)
    request = await engine.request(request_id)
    await engine.start("split")
    await engine.until(lambda: _bodies(engine, "first"), "the items are queued")
    for body in await _bodies(engine, "first"):
        message = PipelineMessage.parse(body)
        assert message.trace_id == request.trace_id
        assert message.deadline_utc == request.deadline_utc
        assert message.workflow_version == request.workflow_version


async def _bodies(engine: Harness, stage: str) -> list[str]:
    rows = await engine.query("SELECT body FROM messages WHERE stage = :stage", stage=stage)
    return [row.body for row in rows]


async def test_fan_out_of_nothing_still_reaches_the_end(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=0)
    assert request.status == "completed"
    assert filled(request.result_payload)["units"] == []


async def test_join_may_fan_out_again(engine: Harness) -> None:
    engine.workflow(
        "pairs",
        """
        stages:
          - {name: split, component: split}
          - {name: regroup, component: regroup}
          - {name: work, component: work}
          - {name: gather, component: gather_pairs}
        """,
    )
    await engine.start()
    request = await engine.run("pairs", n=5)
    assert filled(request.result_payload)["units"] == ["pair:0", "pair:1", "pair:2"]


async def test_same_workflow_without_a_middle_stage_works_too(engine: Harness) -> None:
    engine.workflow("short", "stages: [{name: split, component: split}, {name: gather, component: gather}]")
    await engine.start()
    assert filled((await engine.run("short", n=3)).result_payload)["units"] == items(0, 1, 2)


async def test_unknown_workflow_is_refused_before_anything_is_written(engine: Harness) -> None:
    with pytest.raises(UnknownWorkflowError, match="there is no workflow 'nope'"):
        await engine.submit("nope")
    assert await engine.query("SELECT count(*) FROM requests") == [(0,)]


# --- branches and conditions ------------------------------------------------------------------------

BRANCHES = """
stages:
  - {name: split, component: split}
  - {name: left, component: work, after: split}
  - {name: right, component: heavy, after: split, when: "payload.index != 1"}
  - {name: both, component: work, after: [left, right]}
  - {name: gather, component: gather}
"""


async def test_branches_meet_once_per_unit_and_a_skipped_branch_counts(engine: Harness) -> None:
    engine.workflow("branches", BRANCHES)
    await engine.start()
    await engine.start()
    request = await engine.run("branches", n=4)
    assert request.status == "completed"
    assert filled(request.result_payload)["units"] == items(0, 1, 2, 3)
    handled = [event.stage for event in await engine.events(request.id, "handled")]
    assert (handled.count("left"), handled.count("right"), handled.count("both")) == (4, 3, 4)


async def test_stage_is_skipped_when_its_condition_does_not_hold(engine: Harness) -> None:
    engine.workflow(
        "maybe",
        """
        stages:
          - {name: split, component: split}
          - {name: odd, component: work, when: "payload.index % 2 == 1"}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    request = await engine.run("maybe", n=3)
    assert filled(request.result_payload)["done"] == {"item:0": None, "item:1": ["odd"], "item:2": None}


# --- failures ---------------------------------------------------------------------------------------


async def test_transient_failure_is_retried_until_it_works(engine: Harness) -> None:
    engine.workflow("poison", POISON)
    await engine.start()
    request = await engine.run("poison", n=4, poison=[2], recovers_at=3)
    assert request.status == "completed"
    tries = [event for event in await engine.events(request.id, "handled") if event.unit_key == "item:2"]
    assert [(t.attempt, t.outcome) for t in tries if t.stage == "poison"] == [
        (1, "retry"),
        (2, "retry"),
        (3, "done"),
    ]


async def test_poison_unit_fails_alone_and_the_request_names_it(engine: Harness) -> None:
    engine.workflow("poison", POISON)
    await engine.start()
    request = await engine.run("poison", n=5, poison=[3])
    assert request.status == "failed"
    assert filled(request.error)["code"] == "units_failed"
    assert [unit["unit"] for unit in filled(request.error)["units"]] == ["item:3"]
    assert "attempt 3 failed" in filled(request.error)["units"][0]["error"]
    assert filled(request.result_payload)["units"] == items(0, 1, 2, 4)
    (letter,) = await _letters(engine)
    assert (letter.stage, letter.unit_key, letter.attempts) == ("poison", "item:3", 3)
    assert [note["attempt"] for note in letter.history] == [1, 2, 3]


async def test_permanent_failure_is_not_retried(engine: Harness) -> None:
    engine.workflow("poison", POISON)
    await engine.start()
    request = await engine.run("poison", n=2, poison=[0], error="permanent")
    assert request.status == "failed"
    (letter,) = await _letters(engine)
    assert (letter.attempts, letter.reason) == (1, "cannot ever work")


async def test_component_whose_own_connection_fails_is_retried_and_buried(engine: Harness) -> None:
    """It must not be mistaken for trouble with our database, which is repeated for ever."""
    engine.workflow(
        "unplugged", "stages: [{name: u, component: unplugged, retry: {attempts: 2, delay_seconds: 0.01}}]"
    )
    await engine.start("unplugged")
    request = await engine.run("unplugged")
    assert request.status == "failed"
    assert "ConnectionRefusedError: nobody listens there" in filled(request.error)["message"]
    assert [event.attempt for event in await engine.events(request.id, "handled")] == [1, 2]


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        ("none", "returned NoneType, not a list"),
        ("message", "returned PipelineMessage, not a list"),
        ("bare", "returned list, not a list of (target, message)"),
        ("empty", "emitted nothing, so the request would never arrive"),
    ],
)
async def test_slip_in_a_component_is_explained_and_the_worker_lives(
    sqlite_engine: Harness, slip: str, says: str
) -> None:
    sqlite_engine.workflow("slip", "stages: [{name: slip, component: slip}]")
    sqlite_engine.workflow("fan", FAN)
    await sqlite_engine.start()
    request = await sqlite_engine.run("slip", slip=slip)
    assert request.status == "failed"
    assert says in filled(request.error)["message"]
    assert (await sqlite_engine.run("fan", n=1)).status == "completed"


async def test_bug_in_a_component_is_kept_with_its_place(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("slip", "stages: [{name: slip, component: slip, retry: {attempts: 1}}]")
    await sqlite_engine.start("slip")
    await sqlite_engine.run("slip")  # no payload.slip: a KeyError
    (letter,) = await _letters(sqlite_engine)
    assert letter.reason == "KeyError: 'slip'"
    assert 'return slips[message.payload["slip"]]' in letter.history[0]["traceback"]


async def test_failing_message_does_not_take_its_group_down(engine: Harness) -> None:
    engine.workflow("poison", POISON)
    request_id = await engine.submit("poison", n=60, poison=[7])
    await engine.start()
    request = await engine.finished(request_id)
    assert len(filled(request.result_payload)["units"]) == 59
    events = [e for e in await engine.events(request.id, "handled") if e.stage == "poison"]
    assert sorted(e.attempt for e in events if e.unit_key != "item:7") == [1] * 59


async def test_substitute_takes_the_place_of_a_failed_unit(engine: Harness) -> None:
    engine.workflow(
        "substitute",
        """
        stages:
          - {name: split, component: split}
          - {name: work, component: substitute, retry: {attempts: 1}}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    request = await engine.run("substitute", n=3, poison=[1])
    assert request.status == "completed"
    assert filled(request.result_payload)["units"] == items(0, 1, 2)


async def test_fail_request_ends_it_at_once_and_replay_lets_the_siblings_go_on(engine: Harness) -> None:
    engine.workflow(
        "strict",
        """
        stages:
          - {name: split, component: split}
          - {name: poison, component: poison, on_failure: fail_request, retry: {attempts: 1}}
          - {name: work, component: work}
          - {name: gather, component: gather}
        """,
    )
    await engine.start("split", "poison")  # nobody works on `work`: the siblings wait there
    request = await engine.run("strict", n=3, poison=[1])
    assert request.status == "failed"
    assert filled(request.error)["code"] == "stage_failed"
    (letter,) = await _letters(engine)
    await engine.query("UPDATE dead_letters SET body = :body", body=_healed(letter.body))
    await engine.start()
    _, copies = await dead_letters.replay(engine.app.outbox, letter.id)
    await engine.app.relay.publish(copies)
    request = await engine.finished(request.id)
    assert (request.status, request.error) == ("completed", None)
    assert filled(request.result_payload)["units"] == items(0, 1, 2)


async def test_replay_reopens_the_request_and_completes_it(engine: Harness) -> None:
    engine.workflow("poison", POISON)
    await engine.start()
    request = await engine.run("poison", n=4, poison=[2])
    (letter,) = await _letters(engine)
    await engine.query("UPDATE dead_letters SET body = :body", body=_healed(letter.body))
    message_id, copies = await dead_letters.replay(engine.app.outbox, letter.id)
    await engine.app.relay.publish(copies)
    request = await engine.finished(request.id)
    assert (request.status, request.error) == ("completed", None)
    assert filled(request.result_payload)["units"] == items(0, 1, 2, 3)
    assert [event.kind for event in await engine.events(request.id, "reopened")] == ["reopened"]
    replayed = [e for e in await engine.events(request.id, "handled") if e.message_id == message_id]
    assert len(replayed) == 1
    with pytest.raises(Exception, match="already replayed"):
        await dead_letters.replay(engine.app.outbox, letter.id)


async def test_asking_people_without_a_backoffice_queue_fails_with_the_reason(engine: Harness) -> None:
    engine.workflow(
        "ask",
        """
        stages:
          - {name: split, component: split}
          - {name: ask, component: ask}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    request = await engine.run("ask", n=2, doubtful=[1])
    assert request.status == "failed"
    assert "has no backoffice_queue" in filled(request.error)["units"][0]["error"]


async def test_unit_sent_to_people_waits_in_the_backoffice_queue(engine: Harness) -> None:
    engine.workflow(
        "ask",
        """
        stages:
          - {name: split, component: split}
          - {name: ask, component: ask, backoffice_queue: task.classification}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    request_id = await engine.submit("ask", n=3, doubtful=[1])
    await engine.until(lambda: _arrived(engine, 2), "the other two arrived")
    (notice,) = await engine.query("SELECT queue, stage, unit_key FROM messages")
    assert tuple(notice) == ("q.backoffice.classification", "ask", "item:1")
    assert (await engine.request(request_id)).status == "consolidating"


async def test_message_of_an_unknown_stage_fails_its_request_with_the_reason(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    request_id = await engine.submit("fan", n=1)
    await engine.query("UPDATE messages SET body = replace(body, '\"split\"', '\"gone\"'), stage = 'gone'")
    await engine.start()
    if engine.app.transport.has_broker:  # the copy at the broker is older than the tampering
        pytest.skip("a broker's copy is what counts here")
    request = await engine.finished(request_id)
    assert request.status == "failed"
    assert "no stage 'gone'" in filled(request.error)["message"]


async def _arrived(engine: Harness, number: int) -> bool:
    return await engine.query("SELECT count(*) FROM fan_in_arrivals") == [(number,)]


async def _letters(engine: Harness) -> list[DeadLetter]:
    async with engine.app.store.reading() as session:
        return list(await session.scalars(select(DeadLetter).order_by(DeadLetter.created_at)))


def _healed(body: bytes) -> bytes:
    message = PipelineMessage.parse(body)
    return message.model_copy(update={"payload": {**message.payload, "poison": []}}).encode()


# --- late corrections -------------------------------------------------------------------------------


async def test_late_correction_opens_a_generation_and_renews_the_result(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=3)
    await _correct(engine, request.id, "item:1", ["corrected"])
    await engine.until(lambda: _generation(engine, request.id, 2), "the second generation is in the result")
    renewed = await engine.request(request.id)
    assert renewed.status == "completed"
    assert filled(renewed.result_payload)["done"] == {
        "item:0": ["first", "second"],
        "item:1": ["corrected"],
        "item:2": ["first", "second"],
    }


async def test_corrections_at_the_same_time_all_count(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    await engine.start()
    request = await engine.run("fan", n=6)
    await asyncio.gather(*(_correct(engine, request.id, f"item:{i}", [f"c{i}"]) for i in range(6)))
    await engine.until(lambda: _generation(engine, request.id, 7), "seven generations")
    done = filled((await engine.request(request.id)).result_payload)["done"]
    assert done == {f"item:{i}": [f"c{i}"] for i in range(6)}


async def _correct(engine: Harness, request_id: object, unit: str, done: list[str]) -> None:
    """As the back office does: the unit goes on from the stage it was taken from."""
    request = await engine.request(request_id)  # type: ignore[arg-type] # a UUID
    message = PipelineMessage(
        request_id=request.id,
        trace_id=request.trace_id,
        workflow_name=request.workflow_name,
        workflow_version=request.workflow_version,
        current_stage="second",
        unit_key=unit,
        payload={"done": done},
    )
    async with engine.app.store.writing() as session:
        copies = await engine.app.outbox.resume(session, message)
    await engine.app.relay.publish(copies)


async def _generation(engine: Harness, request_id: object, number: int) -> bool:
    request = await engine.request(request_id)  # type: ignore[arg-type] # a UUID
    rows = await engine.query(
        "SELECT count(*) FROM aggregation_state WHERE request_id = :r AND is_complete", r=request_id
    )
    pending = await engine.query("SELECT count(*) FROM messages")
    return (
        filled(request.result_payload)["generation"] == number
        and tuple(rows[0]) == (number,)
        and pending == [(0,)]
    )


# --- streams and windows ----------------------------------------------------------------------------


async def test_broken_stream_goes_on_where_it_was_committed(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docproc.engine.running.handler.STREAM_CHUNK", 10)
    engine.workflow(
        "stream",
        """
        stages:
          - {name: split, component: stream_split}
          - {name: work, component: work}
          - {name: gather, component: gather}
        """,
    )
    await engine.start()
    request = await engine.run("stream", n=45, crash_at=27)
    assert request.status == "completed"
    assert len(filled(request.result_payload)["units"]) == 45
    handled = [e.unit_key for e in await engine.events(request.id, "handled") if e.stage == "work"]
    assert len(handled) == len(set(handled)) == 45


async def test_window_bounds_what_is_in_flight(engine: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docproc.engine.running.handler.STREAM_CHUNK", 4)
    engine.workflow(
        "window",
        """
        stages:
          - {name: split, component: stream_split, window: 6}
          - {name: work, component: work}
          - {name: gather, component: gather}
        """,
    )
    await engine.start("stream_split")
    request_id = await engine.submit("window", n=30)
    await engine.until(lambda: _queued(engine, 30), "all are written")
    held = await engine.query("SELECT count(*) FROM messages WHERE state = 'held'")
    assert held == [(24,)]
    await engine.start("work", "gather")
    request = await engine.finished(request_id)
    assert len(filled(request.result_payload)["units"]) == 30


async def _queued(engine: Harness, number: int) -> bool:
    return await engine.query("SELECT count(*) FROM messages WHERE stage = 'work'") == [(number,)]


# --- time limits and heavy work ---------------------------------------------------------------------


async def test_time_limit_ends_handling_in_the_loop(engine: Harness) -> None:
    engine.workflow(
        "slow", "stages: [{name: slow, component: slow, timeout_seconds: 0.1, retry: {attempts: 1}}]"
    )
    await engine.start()
    request = await engine.run("slow", sleep=60)
    assert request.status == "failed"
    assert "timeout_seconds (0.1 s)" in filled(request.error)["message"]


async def test_exclusive_work_is_done_once_though_delivered_twice(engine: Harness) -> None:
    components.Exclusive.calls.clear()
    engine.workflow("paid", "stages: [{name: pay, component: exclusive}]")
    request_id = await engine.submit("paid")
    if engine.app.transport.has_broker:
        (row,) = await engine.query("SELECT id, queue, band, body FROM messages")
        from docproc.engine.running.sending import copy_of

        await engine.app.transport.publish([copy_of(row, engine.app.topology)] * 3)
    await engine.start()
    await engine.start()
    assert (await engine.finished(request_id)).status == "completed"
    assert len(components.Exclusive.calls) == 1


# --- versions ---------------------------------------------------------------------------------------


async def test_running_request_keeps_its_version_and_a_new_one_gets_the_changed_file(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    before = await engine.submit("fan", n=2)
    engine.workflow("fan", FAN.replace("second", "changed"))
    after = await engine.submit("fan", n=2)
    await engine.start()
    assert filled((await engine.finished(before)).result_payload)["done"]["item:0"] == ["first", "second"]
    assert filled((await engine.finished(after)).result_payload)["done"]["item:0"] == ["first", "changed"]
    versions = await engine.query("SELECT version FROM workflow_versions WHERE name = 'fan'")
    assert len(versions) == 2


async def test_new_workflow_file_works_without_restart(engine: Harness) -> None:
    await engine.start()
    engine.workflow("added", FAN)
    assert (await engine.run("added", n=1)).status == "completed"


# --- death ------------------------------------------------------------------------------------------


async def test_submission_is_on_record_before_any_worker_exists(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    request_id = await engine.app.intake.submit(
        Submission("fan", {"n": 2}, external_id="ref-1", channel="sftp", metadata={"client": "acme"})
    )
    request = await engine.request(request_id)
    assert (request.status, request.external_id, request.channel) == ("received", "ref-1", "sftp")
    assert request.metadata_ == {"client": "acme"}
    assert request.sla_seconds == engine.settings.default_sla_seconds
    assert request.deadline_utc is not None
    assert request.deadline_utc - request.created_at <= timedelta(seconds=engine.settings.default_sla_seconds)
    await engine.start()
    assert (await engine.finished(request_id)).status == "completed"
