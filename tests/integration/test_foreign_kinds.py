"""A third party's kinds of tasks at the station: listed, shown, answered, compared and on record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal
from uuid import UUID, uuid5

import httpx
import pytest
from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.application import Application, Link, Views
from docproc.console.servers import station as create_app
from docproc.engine.component import BACKOFFICE, BaseComponent, Emission
from docproc.engine.component_spec import ComponentSpec
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import ConfigurationError
from docproc.installed import Installed, find_applications
from docproc.loaded import Applications
from docproc.people.assignment import Assignment
from docproc.people.forms import FormKind
from docproc.people.kinds import Shown, Sitting, TaskKinds, Words, asked
from docproc.people.station.context import Viewer
from tests.harness import Harness
from tests.integration.test_amendments import _tasks

HERE = "tests.integration.test_foreign_kinds"
FLOW = """
    sla: {deadline_seconds: 3600}
    stages:
      - {name: weigh, component: scales, backoffice_queue: task.weight SECOND}
      - {name: ship, component: work}
"""
SEEN = {"parcel": "<b>P-7</b>", "weight_kg": 12.5}


# --- what the application "parcels" would bring -----------------------------------------------------------


class Weight(BaseModel):
    weight_kg: float = Field(gt=0)
    is_fragile: bool = False
    size: Literal["S", "M", "L"] | None = None


class WeightKind(FormKind):
    """All that a kind needs where a form will do."""

    title: ClassVar[Words] = {"en": "Weight of a parcel", "es": "Peso de un paquete"}
    question: ClassVar[Words] = {"en": "Is the weight right?", "es": "¿Es correcto el peso?"}
    names: ClassVar[Mapping[str, Words]] = {
        "weight_kg": {"en": "Weight (kg)", "es": "Peso (kg)"},
        "is_fragile": {"en": "Fragile", "es": "Frágil"},
    }
    answer = Weight
    usual_seconds = 20.0


class PhotoKind(WeightKind):
    """The same with a page of its own."""

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        return Shown("parcels/photo.html", {"parcel": asked(sitting.task)["parcel"]})


class Scales(BaseComponent):
    """Asks about every parcel."""

    component_name = "scales"
    asks_people = True

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        kind = message.payload.get("kind", "weight")
        parcel = uuid5(message.request_id, "parcel")
        await tasks.create(session, message, task_type=kind, reference_id=parcel, input_data=dict(SEEN))
        return [(BACKOFFICE, message)]


router = APIRouter()


@router.get("/parcels")
async def parcels(operator: Viewer) -> dict[str, str]:
    return {"for": operator.username}


def _application(folder: Path) -> Application:
    templates, static = folder / "templates", folder / "static"
    (templates / "parcels").mkdir(parents=True)
    static.mkdir()
    (static / "photo.js").write_text("// takes a photo\n")
    page = '{% extends "work.html" %}{% block question %}Photo of {{ parcel }}{% endblock %}'
    (templates / "parcels" / "photo.html").write_text(page)
    views = Views(
        templates=templates,
        static=static,
        station_pages=(f"{HERE}:router",),
        navigation=(Link("queue_title", "/supervisor/parcels", server="backoffice"),),
    )
    kinds = {"weight": f"{HERE}:WeightKind", "photo": f"{HERE}:PhotoKind"}
    scales = ComponentSpec("scales", f"{HERE}:Scales", routing_key="parcel.weigh", asks_people=True)
    return Application("parcels", components=(scales,), task_kinds=kinds, views=views)


# --- the tests ------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path / "parcels")


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """As if the package were installed, for this process."""
    everything = Installed((*find_applications().applications, _application(folder)), ())
    for module in ("docproc.app", "docproc.registry"):
        monkeypatch.setattr(f"{module}.find_applications", lambda: everything)


@pytest.fixture
async def station(sqlite_engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def _asked(engine: Harness, kind: str = "weight", second: str = "") -> UUID:
    engine.workflow("default", FLOW.replace(" SECOND", second))
    await engine.start("scales", "work")
    request_id = await engine.submit("default", kind=kind)

    async def asked() -> bool:
        return bool(await _tasks(engine, request_id))

    await engine.until(asked, "a question waits")
    return request_id


async def _get(station: httpx.AsyncClient, path: str, operator: str = "ana", **more: str) -> str:
    answer = await station.get(path, params={"operator": operator, "lang": "en", **more})
    assert answer.status_code == 200, answer.text
    return answer.text


async def _post(
    station: httpx.AsyncClient, task: BackofficeTask | UUID, what: str, operator: str = "ana", **said: Any
) -> httpx.Response:
    task_id = task if isinstance(task, UUID) else task.id
    return await station.post(f"/tasks/{task_id}/{what}", json={"operator": operator, **said})


async def test_task_of_a_third_party_goes_from_the_list_to_the_audit(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(sqlite_engine)
    (task,) = await _tasks(sqlite_engine, request_id)
    assert "Weight of a parcel" in await _get(station, "/")
    assert "Peso de un paquete" in await _get(station, f"/tasks/{task.id}", lang="es"), "not taken yet"
    assert (await _post(station, task, "claim")).status_code == 200
    page = await _get(station, f"/tasks/{task.id}")
    assert "Is the weight right?" in page and "Weight (kg)" in page and "/static/form.js" in page
    assert 'name="weight_kg" type="number"' in page and 'value="12.5"' in page
    assert "<option>M</option>" in page and 'name="is_fragile" type="checkbox"' in page
    assert "&lt;b&gt;P-7&lt;/b&gt;" in page, "what is known is shown, and never markup"

    refused = await _post(station, task, "submit", weight_kg=-1, size="XL")
    assert refused.status_code == 422
    assert {one["where"] for one in refused.json()["error"]["details"]} == {"weight_kg", "size"}
    form = {"operator": "ana", "weight_kg": "13.75", "is_fragile": "true"}
    assert (await station.post(f"/tasks/{task.id}/submit", data=form)).status_code == 200
    request = await sqlite_engine.finished(request_id)
    assert request.status == "completed", request.error
    said = {"weight_kg": 13.75, "is_fragile": True, "size": None}
    (task,) = await _tasks(sqlite_engine, request_id)
    assert task.output_data == {**said, "operator": "ana"}
    assert request.result_payload == {"kind": "weight", **said, "done": ["ship"]}, "it went on from its stage"

    audit = await _get(station, "/supervisor/audit")
    assert "Weight (kg): <del>12.5</del> → <ins>13.75</ins>" in audit
    assert "Weight of a parcel" in await _get(station, "/supervisor/operators"), "the skill has its name"


async def test_kind_has_a_page_files_and_routes_of_its_own(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    (task,) = await _tasks(sqlite_engine, await _asked(sqlite_engine, "photo"))
    await _post(station, task, "claim")
    page = await _get(station, f"/tasks/{task.id}")
    assert "Photo of &lt;b&gt;P-7" in page and 'id="submit"' in page
    assert "takes a photo" in await _get(station, "/static/parcels/photo.js")
    assert await _get(station, "/parcels") == '{"for":"ana"}'
    assert "/supervisor/parcels" in await _get(station, "/supervisor"), "among the tabs"
    pages = await station.get(f"/tasks/{task.id}/pages/0.png", params={"operator": "ana"})
    assert pages.status_code == 403, "documents show pages of their own tasks only"


async def test_answers_of_all_kinds_are_described(station: httpx.AsyncClient) -> None:
    described = (await station.get("/openapi.json")).json()["paths"]["/tasks/{task_id}/submit"]["post"]
    parts = described["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert {name: part["type"] for name, part in parts.items()} == {
        "operator": "string", "doc_type": "string", "splits": "object", "besides": "object",
        "extracted_data": "object",
        "where": "object", "weight_kg": "number", "is_fragile": "boolean", "size": "string",
        **dict.fromkeys(("text", "a", "b", "c", "d", "correct"), "string"), "remove": "boolean",
        **dict.fromkeys(("feedback_correct", "feedback_incorrect"), "string"),
    }  # fmt: skip


async def test_what_nobody_can_answer_goes_on_as_it_was(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(sqlite_engine)
    (task,) = await _tasks(sqlite_engine, request_id)
    await _post(station, task, "claim")
    assert (await _post(station, task, "cannot-read", reason="wet")).status_code == 200
    request = await sqlite_engine.finished(request_id)
    assert request.result_payload == {"kind": "weight", "done": ["ship"]}


async def test_two_readers_who_disagree_are_settled_by_a_supervisor(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(sqlite_engine, second=", second_reader: {fields: [weight_kg]}")
    (first,) = await _tasks(sqlite_engine, request_id)
    await _post(station, first, "claim")
    await _post(station, first, "submit", weight_kg=13)
    await sqlite_engine.finished(request_id)
    second = (await station.post("/next", json={"operator": "luis"})).json()["task_id"]
    assert (await _post(station, UUID(second), "submit", "luis", weight_kg=14)).status_code == 200
    rows = {task.needs_role: task for task in await _tasks(sqlite_engine, request_id)}
    dispute = rows["supervisor"]
    assert asked(dispute)["review"] == ["weight_kg"]
    await station.post("/heartbeat", json={"operator": "sofia"})
    await sqlite_engine.query("UPDATE operators SET role = 'supervisor' WHERE username = 'sofia'")
    assert (await _post(station, dispute, "claim", "sofia")).status_code == 200
    page = await _get(station, f"/tasks/{dispute.id}", "sofia")
    assert "you decide" in page and "<td>13.0</td><td>14.0</td>" in page


async def test_task_that_no_application_knows_is_listed_and_given_to_nobody(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(sqlite_engine)
    await sqlite_engine.query("UPDATE backoffice_tasks SET task_type = 'customs_form'")
    (task,) = await _tasks(sqlite_engine, request_id)
    assert "customs form" in await _get(station, "/")
    claimed = await _post(station, task, "claim")
    assert claimed.status_code == 503 and "customs_form" in claimed.text
    assert (await station.post("/next", json={"operator": "ana"})).status_code == 204
    assert await Assignment(sqlite_engine.app).offer() == 0
    (task,) = await _tasks(sqlite_engine, request_id)
    assert (task.status, task.assigned_to) == ("pending", None)


def test_kinds_say_what_is_wrong_with_them() -> None:
    kinds = TaskKinds({"weight": f"{HERE}:WeightKind", "other": f"{HERE}:Weight", "gone": f"{HERE}:Nothing"})
    assert kinds.skills == ("gone", "other", "weight")
    assert kinds["weight"] is kinds["weight"] and kinds.usual_seconds("weight") == 20
    for task_type, told in {
        "customs": "no application",
        "other": "not a TaskKind",
        "gone": "imported",
    }.items():
        with pytest.raises(ConfigurationError, match=told):
            kinds[task_type]


def test_two_applications_cannot_have_the_same_type(tmp_path: Path, sqlite_engine: Harness) -> None:
    app = sqlite_engine.app
    rival = Application("rival", task_kinds={"extraction": "a:b"})
    app.applications = Applications([*app.applications.all, rival])
    with pytest.raises(ConfigurationError, match="two applications offer the kind of task 'extraction'"):
        TaskKinds.of(app)
