"""Workers and people for a load: by formulas with known results, by simulation, and both compared."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from docproc.capacity import output
from docproc.capacity.calibration import Calibration, Machine, RequestKind, ServiceTime, StageTimes
from docproc.capacity.load import Load, load_of
from docproc.capacity.picture import picture
from docproc.capacity.planning import plan, staff
from docproc.capacity.quantities import per_second, share
from docproc.capacity.queueing import erlang_c, response
from docproc.capacity.simulation import simulate
from docproc.errors import UsageError


def stage(name: str, unit: str, seconds: float, scv: float = 0.0) -> StageTimes:
    return StageTimes(
        stage=name, component=f"{name}_component", unit=unit, time=ServiceTime(seconds=seconds, scv=scv)
    )


def calibration() -> Calibration:
    digital = (
        stage("split", "request", 0.02),
        stage("read", "page", 0.05, 0.5),
        stage("extract", "document", 0.1, 0.3),
    )
    scanned = (
        stage("split", "request", 0.02),
        stage("read", "page", 1.5, 0.2),
        stage("extract", "document", 0.2),
    )
    units = {"page": 2.0, "document": 1.0}
    return Calibration(
        made_at=datetime(2026, 11, 18, tzinfo=UTC),
        workflow="default",
        machine=Machine(processor="test", cores=2),
        kinds={
            "digital": RequestKind(requests=10, units=units, stages=digital, overhead_seconds=0.05),
            "scanned": RequestKind(requests=10, units=units, stages=scanned, overhead_seconds=0.05),
        },
    )


def load(volume: str = "2000/h", *, pages: float = 4, deadline: float = 30, scanned: float = 0.6) -> Load:
    return load_of(
        calibration(),
        per_second=per_second(volume),
        deadline_seconds=deadline,
        units={"page": pages},
        shares={"digital": 1 - scanned, "scanned": scanned},
    )


# --- what people type -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"), [("2000/h", 2000 / 3600), ("3/s", 3.0), ("90 / min", 1.5), ("86400/d", 1.0)]
)
def test_volumes_are_rates(text: str, value: float) -> None:
    assert per_second(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "2000", "0/h", "-3/s", "3/year", "many/h"])
def test_what_is_no_volume_is_told_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        per_second(text)
    assert "2000/h" in caught.value.remedy


@pytest.mark.parametrize(("text", "value"), [("60%", 0.6), ("0.25", 0.25), ("100 %", 1.0), ("0", 0.0)])
def test_shares_may_be_percentages(text: str, value: float) -> None:
    assert share(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["101%", "1.5", "most", ""])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        share(text)


# --- service times ----------------------------------------------------------------------------------------


def test_service_time_has_the_variation_of_its_sample() -> None:
    found = ServiceTime.of([1.0, 3.0])
    assert (found.seconds, found.scv, found.messages) == (2.0, 0.25, 2)


def test_units_that_are_not_named_grow_with_the_one_that_is() -> None:
    (digital,) = load(pages=10, scanned=0).flows
    assert {one.unit: one.number for one in digital.visits} == {"request": 1, "page": 10, "document": 5}


def test_kinds_that_were_not_measured_are_told() -> None:
    measured = calibration().model_copy(update={"kinds": {"digital": calibration().kinds["digital"]}})
    with pytest.raises(UsageError, match="no scanned files"):
        load_of(measured, per_second=1, deadline_seconds=1, units={}, shares={"scanned": 1.0})


# --- formulas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "offered", "waiting"), [(1, 0.5, 0.5), (2, 1.0, 1 / 3), (5, 4.0, 0.5541)]
)
def test_share_that_waits_is_erlangs(servers: int, offered: float, waiting: float) -> None:
    assert erlang_c(servers, offered) == pytest.approx(waiting, abs=1e-4)


def one_stage(seconds: float, scv: float, rate: float, deadline: float = 10.0) -> Load:
    only = RequestKind(requests=1, units={}, stages=(stage("work", "request", seconds, scv),))
    measured = calibration().model_copy(update={"kinds": {"only": only}})
    return load_of(measured, per_second=rate, deadline_seconds=deadline, units={}, shares={"only": 1.0})


def test_exponential_service_has_the_textbook_response_time() -> None:
    """M/M/1 at 50 %: twice the service time on average, p95 of ln(20) times that."""
    found = response(one_stage(1.0, 1.0, 0.5), {"work_component": 1})
    assert found.mean == pytest.approx(2.0, rel=0.01)
    assert found.p95 == pytest.approx(2 * math.log(20), rel=0.05)
    assert found.utilisation == {"work_component": pytest.approx(0.5)}


def test_workers_that_cannot_keep_up_answer_never() -> None:
    found = response(one_stage(1.0, 1.0, 1.5), {"work_component": 1})
    assert (found.p95, found.late_share) == (math.inf, 1.0)


@pytest.mark.parametrize(("rate", "workers"), [(0.5, 1), (3.0, 5), (0.1, 1)])
def test_formula_and_simulation_agree(rate: float, workers: int) -> None:
    load = one_stage(1.0, 0.5, rate)
    by_formula = response(load, {"work_component": workers}).p95
    simulated = simulate(load, {"work_component": workers}, requests=20_000)
    assert by_formula == pytest.approx(simulated.percentile(0.95), rel=0.15)


def test_simulation_joins_the_units_of_a_request() -> None:
    """Nobody else is there: four pages on two workers take two rounds, on four one."""
    alone = load("1/h", pages=4, scanned=1.0)
    workers = {"split_component": 1, "read_component": 2, "extract_component": 2}
    two = simulate(alone, workers, requests=200).percentile(0.5)
    four = simulate(alone, {**workers, "read_component": 4}, requests=200).percentile(0.5)
    assert two == pytest.approx(0.05 + 0.02 + 3.0 + 0.2, rel=0.25)
    assert four < two - 1


# --- plans ------------------------------------------------------------------------------------------------


def test_plan_keeps_the_deadline_with_workers_that_are_not_too_busy() -> None:
    found = plan(load())
    assert found.is_enough
    assert found.formula.p95 <= 30 and found.simulated.percentile(0.95) <= 30
    assert all(busy <= 0.8 for busy in found.formula.utilisation.values())
    # 0.556 requests/s of 4 pages, each 0.6 · 1.5 s + 0.4 · 0.05 s: 2.04 workers' time for reading.
    assert found.workers == {"split_component": 1, "read_component": 3, "extract_component": 1}


def test_tight_deadline_needs_more_workers_than_the_volume() -> None:
    relaxed, tight = plan(load(deadline=30)), plan(load(deadline=4))
    assert tight.is_enough
    assert tight.workers["read_component"] > relaxed.workers["read_component"]


def test_twice_the_volume_needs_about_twice_the_workers() -> None:
    once, ten = plan(load("20000/h")), plan(load("200000/h"), requests=500)
    ratio = ten.workers["read_component"] / once.workers["read_component"]
    assert 8 <= ratio <= 11


def test_deadline_that_no_number_of_workers_keeps_is_told() -> None:
    found = plan(load(deadline=1.0), requests=300)
    assert not found.is_enough
    assert any("do not help" in line for line in output.sentences(found))


def test_people_are_neither_idle_nor_drowned() -> None:
    found = staff(2000 / 3600, asked=0.2, handling_seconds=40, patience_seconds=30, hours=24, shift_hours=8)
    assert (found.present, found.shifts) == (6, 3)
    assert found.tasks_per_hour == pytest.approx(400)
    assert found.wait_seconds <= 30


# --- what is written --------------------------------------------------------------------------------------


def test_plan_as_json_patch_and_picture(tmp_path: Path) -> None:
    found = plan(load(), staff=staff(0.5, asked=0.1, handling_seconds=30, patience_seconds=30))
    told = output.as_json(found)
    assert told["enough"] is True and told["workers"]["read_component"]["replicas"] == 3
    assert told["people"]["operators_per_shift"] >= 1
    patch = yaml.safe_load(output.kustomize_patch(found))
    assert {"name": "read-component", "count": 3} in patch["replicas"]
    drawn = ElementTree.fromstring(picture(found))
    assert drawn.find("{http://www.w3.org/2000/svg}polyline") is not None


def test_calibration_is_kept_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deeper" / "capacity.json"
    calibration().save(path)
    assert Calibration.load(path) == calibration()


@pytest.mark.parametrize("content", [None, "{}", "not json"])
def test_missing_or_foreign_calibration_says_how_to_make_one(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "capacity.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError) as caught:
        Calibration.load(path)
    assert "docproc capacity calibrate" in caught.value.remedy
