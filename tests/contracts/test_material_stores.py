"""One suite for every store of materials: the engine's database and MongoDB.

MongoDB is the small server of tests/mongo_server.py, over a socket with the real driver; `MONGODB_URL` has
the
same suite run on a real one.
"""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import DuplicateKeyError, WriteError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.materials.content.stored import AssessmentDocument, ProcessingMetadata, SummaryDocument
from docproc.apps.materials.errors import DocumentsDownError
from docproc.apps.materials.store import Kind, MaterialStore, NewDocument, Stored
from docproc.apps.materials.stores.database import DatabaseStore
from docproc.apps.materials.stores.mongodb import MongoStore
from docproc.settings import Settings
from tests import mongo_server, textbooks
from tests.harness import settings_for

STORES = ("sqlite", "postgresql", "mongodb")
# PyMongo leaves the socket of a refused connection to the garbage collector.
LEAKS = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Subject:
    """A store, and the engine's database beside it."""

    def __init__(self, app: App, store: MaterialStore) -> None:
        self.app = app
        self.store = store

    async def put(self, new: NewDocument) -> Stored:
        async with self.app.store.writing() as session:
            return await self.store.put(session, new)

    async def quiz(
        self, made_by: str, material_id: str = "mat-1", title: str = "La célula", tenant: str = "default"
    ) -> Stored:
        return await self.put(NewDocument(tenant, material_id, textbooks.quiz(title), _metadata(made_by)))


def _metadata(made_by: str) -> ProcessingMetadata:
    return ProcessingMetadata(request_id=made_by, generator="extractive")


@pytest.fixture(scope="module")
def mongo_url() -> Iterator[str]:
    if real := os.environ.get("MONGODB_URL"):
        yield real
        return
    with mongo_server.serving() as mongo:
        yield mongo.url


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    values: dict[str, Any] = {}
    if kind == "postgresql":
        values["database_url"] = request.getfixturevalue("postgres_url")
    if kind == "mongodb":
        values["materials_mongodb_url"] = request.getfixturevalue("mongo_url")
        values["materials_mongodb_database"] = f"test_{secrets.token_hex(6)}"
    return settings_for(tmp_path, **values)


@pytest.fixture
async def subject(kind: str, settings: Settings) -> AsyncIterator[Subject]:
    app = App(settings)
    await app.prepare_database()
    store = _store(app, kind)
    await store.prepare()
    yield Subject(app, store)
    if isinstance(store, MongoStore) and os.environ.get("MONGODB_URL"):
        await store.client.drop_database(store.database_name)
    await store.close()
    await app.close()


def _store(app: App, kind: str) -> MaterialStore:
    from docproc.apps.materials.stores.choosing import open_store

    store = open_store(app.settings, app.store)
    assert isinstance(store, MongoStore if kind == "mongodb" else DatabaseStore)
    return store


async def test_what_was_put_is_had_again(subject: Subject) -> None:
    stored = await subject.put(NewDocument("default", "mat-1", textbooks.summary(), _metadata("r-1")))
    quizzed = await subject.quiz("r-1")
    assert stored.version == quizzed.version == 1 and stored.document_id != quizzed.document_id
    summary = SummaryDocument.model_validate(await subject.store.get(Kind.SUMMARY, "default", "mat-1"))
    quiz = AssessmentDocument.model_validate(await subject.store.get(Kind.ASSESSMENT, "default", "mat-1"))
    assert summary.title == quiz.title == "La célula"
    assert summary.material_id == "mat-1" and quiz.processing_metadata.request_id == "r-1"
    assert summary.created_at.tzinfo is not None


async def test_unknown_material_has_nothing(subject: Subject) -> None:
    assert await subject.store.get(Kind.SUMMARY, "default", "none") is None
    assert await subject.store.get(Kind.ASSESSMENT, "default", "none", 3) is None
    assert await subject.store.versions(Kind.SUMMARY, "default", "none") == []


async def test_same_request_keeps_its_version_and_another_adds_one(subject: Subject) -> None:
    first = await subject.quiz("r-1", title="uno")
    again = await subject.quiz("r-1", title="uno otra vez")
    assert again == first
    second = await subject.quiz("r-2", title="dos")
    assert second == Stored(first.document_id, 2)
    now = await subject.store.get(Kind.ASSESSMENT, "default", "mat-1")
    before = await subject.store.get(Kind.ASSESSMENT, "default", "mat-1", 1)
    assert now is not None and before is not None
    assert (now["title"], before["title"]) == ("dos", "uno otra vez")
    assert now["created_at"] == before["created_at"] < now["updated_at"]
    assert await subject.store.versions(Kind.ASSESSMENT, "default", "mat-1") == [1, 2]
    assert await subject.store.get(Kind.ASSESSMENT, "default", "mat-1", 2) == now


async def test_many_at_once_leave_one_document_and_lose_no_version(subject: Subject) -> None:
    done = await asyncio.gather(*(subject.quiz(f"r-{number}") for number in range(5)))
    assert sorted(stored.version for stored in done) == [1, 2, 3, 4, 5]
    assert len({stored.document_id for stored in done}) == 1
    assert await subject.store.versions(Kind.ASSESSMENT, "default", "mat-1") == [1, 2, 3, 4, 5]


async def test_tenants_have_materials_of_the_same_name(subject: Subject) -> None:
    await subject.quiz("r-1", title="ours")
    await subject.quiz("r-2", title="theirs", tenant="acme")
    for tenant, title in (("default", "ours"), ("acme", "theirs")):
        found = await subject.store.get(Kind.ASSESSMENT, tenant, "mat-1")
        assert found is not None and (found["title"], found["version"]) == (title, 1)


async def test_removed_material_is_gone_with_its_versions(subject: Subject) -> None:
    await subject.quiz("r-1")
    await subject.quiz("r-2")
    await subject.quiz("r-1", material_id="other")
    async with subject.app.store.writing() as session:
        await subject.store.remove(session, "default", "mat-1")
    assert await subject.store.versions(Kind.ASSESSMENT, "default", "mat-1") == []
    assert await subject.store.versions(Kind.ASSESSMENT, "default", "other") == [1]


# --- MongoDB alone ----------------------------------------------------------------------------------------


@pytest.fixture
async def mongo_subject(
    tmp_path: Path, mongo_url: str
) -> AsyncIterator[tuple[Subject, AsyncMongoClient[dict[str, Any]], str]]:
    name = f"test_{secrets.token_hex(6)}"
    app = App(settings_for(tmp_path, materials_mongodb_url=mongo_url, materials_mongodb_database=name))
    await app.prepare_database()
    store = _store(app, "mongodb")
    await store.prepare()
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(mongo_url)
    yield Subject(app, store), client, name
    if os.environ.get("MONGODB_URL"):
        await client.drop_database(name)
    await client.close()
    await store.close()
    await app.close()


async def test_server_itself_refuses_a_second_document_and_a_bad_one(
    mongo_subject: tuple[Subject, AsyncMongoClient[dict[str, Any]], str],
) -> None:
    """C11: validators and unique indexes are there from the start, whoever writes."""
    subject, client, name = mongo_subject
    await subject.quiz("r-1")
    collection = client[name]["material_assessment"]
    found = await collection.find_one({"material_id": "mat-1"})
    assert found is not None
    del found["_id"]
    with pytest.raises(DuplicateKeyError):
        await collection.insert_one(dict(found))
    for change in ({"questions": found["questions"][:4]}, {"total_points": 99}, {"version": "1"}):
        with pytest.raises(WriteError) as caught:
            await collection.insert_one({**found, "material_id": "mat-2", **change})
        assert caught.value.code == 121


async def test_store_prepared_twice_changes_nothing(
    mongo_subject: tuple[Subject, AsyncMongoClient[dict[str, Any]], str],
) -> None:
    subject, _, _ = mongo_subject
    await subject.quiz("r-1")
    another = _store(subject.app, "mongodb")
    await another.prepare()
    assert await another.versions(Kind.ASSESSMENT, "default", "mat-1") == [1]
    await another.close()


@LEAKS
async def test_server_that_is_away_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docproc.apps.materials.stores.mongodb._SELECT_MS", 200)
    with mongo_server.serving() as mongo:
        app = App(settings_for(tmp_path, materials_mongodb_url=mongo.url))
        await app.prepare_database()
        store = _store(app, "mongodb")
        await store.prepare()
        subject = Subject(app, store)
        await subject.quiz("r-1")
        mongo.down()
        with pytest.raises(DocumentsDownError):
            await subject.quiz("r-2")
        mongo.up()
        async with asyncio.timeout(20):
            while (stored := await _unless_down(subject)) is None:  # until the driver has looked again
                pass
        assert stored.version == 2
        await store.close()
        await app.close()
    gc.collect()


async def _unless_down(subject: Subject) -> Stored | None:
    try:
        return await subject.quiz("r-2")
    except DocumentsDownError:
        return None


@LEAKS
async def test_worker_starts_while_the_server_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docproc.apps.materials.stores.mongodb._SELECT_MS", 100)
    app = App(settings_for(tmp_path, materials_mongodb_url="mongodb://127.0.0.1:1/?directConnection=true"))
    store = _store(app, "mongodb")
    await store.prepare()
    session = AsyncSession()
    with pytest.raises(DocumentsDownError):
        await store.put(session, NewDocument("default", "m", textbooks.quiz(), _metadata("r")))
    await store.close()
    await app.close()
    gc.collect()
