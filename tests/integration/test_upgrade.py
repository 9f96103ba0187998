"""A database of the previous release (commit c2ab53b, which counts as v0.1.0) is upgraded with all its rows,
and workers of that release go on working on it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from docproc.apps.documents.tables import REQUESTS, Document, Page
from docproc.engine.store import schema_version
from docproc.engine.store.session import Store
from tests import schema, services

ROOT = Path(__file__).parents[2]
PREVIOUS = "c2ab53b"

# In the previous release's own words: a migrated database with a request, a document and a page.
MAKE = """
import asyncio, sys
from uuid import UUID
from docproc.store import migrate
from docproc.store.session import Store
from docproc.store.tables import Document, Page, Request

async def main():
    store = Store(sys.argv[1])
    await migrate.upgrade(store)
    async with store.writing() as session:
        session.add(Request(id=UUID(int=1), workflow_name="default", status="extracting", page_count=1,
                            document_count=1))
        await session.flush()
        session.add(Document(id=UUID(int=2), request_id=UUID(int=1), doc_type="invoice", page_indices=[0],
                             extracted_data={"total_amount": 12.5}))
        await session.flush()
        session.add(Page(id=UUID(int=3), request_id=UUID(int=1), page_index=0, ocr_text="Factura",
                         document_id=UUID(int=2)))
    await store.close()

asyncio.run(main())
"""
# What a worker of that release asks when it starts, and a look at its rows.
LOOK = """
import asyncio, json, sys
from sqlalchemy import select
from docproc.store import migrate
from docproc.store.session import Store
from docproc.store.tables import Page, Request

async def main():
    store = Store(sys.argv[1])
    usable = await migrate.is_current(store)
    async with store.reading() as session:
        request = await session.scalar(select(Request))
        page = await session.scalar(select(Page))
    print(json.dumps({"usable": usable, "pages": request.page_count, "text": page.ocr_text}))
    await store.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the previous release."""
    archive = subprocess.run(["git", "archive", PREVIOUS, "src"], cwd=ROOT, capture_output=True, check=False)
    services.require(archive.stderr.decode() if archive.returncode else None)
    folder = tmp_path_factory.mktemp("previous")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as found:
        found.extractall(folder, filter="data")
    return folder / "src"


def run(previous: Path, code: str, url: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, url],
        env={"PYTHONPATH": str(previous), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'old.db'}"
        return
    services.require(services.postgres_problem())
    with services.postgres_database() as url:
        yield url.replace("postgresql://", "postgresql+asyncpg://")


@pytest.mark.parametrize("empty_url", ["sqlite", "postgresql"], indirect=True)
async def test_database_of_the_previous_release_is_upgraded(empty_url: str, previous: Path) -> None:
    run(previous, MAKE, empty_url)
    store = Store(empty_url)
    try:
        assert not await schema_version.is_current(store, schema.APPLICATIONS.migrations)
        await schema.upgrade(store)
        assert await schema_version.is_current(store, schema.APPLICATIONS.migrations)
        async with store.reading() as session:
            counts = (await session.execute(select(REQUESTS.c.page_count, REQUESTS.c.document_count))).one()
            document = await session.scalar(select(Document))
            page = await session.scalar(select(Page))
    finally:
        await store.close()
    assert tuple(counts) == (1, 1)
    assert document is not None and document.extracted_data == {"total_amount": 12.5}
    assert page is not None and page.document_id == document.id
    seen = json.loads(run(previous, LOOK, empty_url))
    assert seen == {"usable": True, "pages": 1, "text": "Factura"}
