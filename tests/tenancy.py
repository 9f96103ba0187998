"""Two tenants on one engine: Acme, whose everything carries a mark, and Beta, who must never see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from docproc.apps.documents.tables import Document, File, Page
from docproc.apps.materials.content.stored import ProcessingMetadata
from docproc.apps.materials.store import NewDocument
from docproc.apps.materials.stores.database import DatabaseStore
from docproc.engine.message import utc_now
from docproc.engine.store import requests, tenants
from docproc.engine.store.search_tables import SavedView
from docproc.engine.store.tables import DeadLetter
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.http.access import keys
from docproc.http.access.keys import Made, NewKey
from docproc.http.access.scopes import Scope
from docproc.http.reception import Arrival, reception_of
from docproc.people.sign_in import sessions
from docproc.people.store import accounts
from docproc.people.store.accounts import Account
from tests import textbooks
from tests.harness import Harness
from tests.papers import pdf

ACME, BETA = "acme", "beta"
# In everything of Acme's that a page or an answer could show.
MARK = "ZX-ACME-ONLY"
MATERIAL = "mat-1"
FLOW = "stages: [{name: work, component: work}]\n"


@dataclass(frozen=True)
class Tenancy:
    """What there is; `values` are Acme's, as paths name them."""

    values: dict[str, str]
    marks: tuple[str, ...]
    keys: dict[str, Made]
    operators: dict[str, Operator]

    def key(self, tenant: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.keys[tenant].secret}"}


async def on(engine: Harness, **settings: Any) -> None:
    """Authentication, from now on."""
    engine.app.settings = engine.settings.model_copy(update={"auth": "on", **settings})


async def add_tenant(engine: Harness, tenant: str, **values: Any) -> None:
    async with engine.app.store.writing() as session:
        assert await tenants.add(session, tenant, **values)
    engine.app.tenants.forget()


async def make_key(engine: Harness, tenant: str = "default", *scopes: Scope, **values: Any) -> Made:
    wanted = NewKey(values.pop("name", f"key of {tenant}"), tenant, scopes or tuple(Scope)[:2], **values)
    async with engine.app.store.writing() as session:
        return await keys.create(session, wanted, "test")


async def add_operator(engine: Harness, name: str, tenant: str, role: str = "supervisor") -> Operator:
    account = Account(name, ("classification", "extraction"), role, f"{name} {tenant}", tenant_id=tenant)
    async with engine.app.store.writing() as session:
        assert await accounts.add(session, account, "test")
        return await accounts.find(session, name)


async def session_of(engine: Harness, operator: Operator) -> dict[str, str]:
    """Signed in: the headers that a browser and our own script would send."""
    async with engine.app.store.writing() as session:
        begun = await sessions.begin(session, engine.app.settings, operator, utc_now())
    return {"Cookie": f"{sessions.PLAIN_COOKIE}={begun.token}", "X-CSRF-Token": begun.csrf}


async def two_tenants(engine: Harness) -> Tenancy:
    engine.workflow("default", FLOW)
    made, people = {}, {}
    for tenant in (ACME, BETA):
        await add_tenant(engine, tenant, display_name=f"{tenant} S.A.")
        people[tenant] = await add_operator(engine, f"chief-of-{tenant}", tenant)
        scopes = tuple(Scope)
        made[tenant] = await make_key(
            engine,
            tenant,
            *scopes,
            operator=people[tenant],
            name=f"{MARK} key" if tenant == ACME else "import",
        )
    request_id = await send(engine, ACME)
    task_id, document_id = await _worked_on(engine, request_id, people[ACME])
    await _material(engine, request_id)
    view_id, letter_id = uuid4(), uuid4()
    async with engine.app.store.writing() as session:
        session.add(SavedView(id=view_id, tenant_id=ACME, owner="", name=MARK, query="q=1"))
        letter: dict[str, Any] = {"queue": "work", "reason": MARK, "attempts": 1, "body": MARK.encode()}
        session.add(DeadLetter(id=letter_id, tenant_id=ACME, request_id=request_id, **letter))
    values = {
        "view_id": str(view_id),
        "letter_id": str(letter_id),
        "session_id": f"session-{MARK}",
        "correlation_id": str(uuid4()),
        "material_id": MATERIAL,
        "question_id": "q1",
        "export": "gift",
        "request_id": str(request_id),
        "task_id": str(task_id),
        "document_id": str(document_id),
        "operator_id": str(people[ACME].id),
        "key_id": str(made[ACME].id),
        "number": "0",
    }
    return Tenancy(values, (MARK, str(request_id), str(task_id), "chief-of-acme", ACME), made, people)


async def send(engine: Harness, tenant: str, mark: str = MARK, **values: Any) -> UUID:
    """A request with a file, as the API takes it in."""
    reception = reception_of(engine.app)
    request_id = reception.new_request_id()

    async def content() -> AsyncIterator[bytes]:
        yield pdf([mark])

    upload = await reception.store_file(request_id, 0, f"{mark}.pdf", content())
    reference = f"{mark} {request_id}"
    arrival = Arrival("default", external_id=reference, metadata={"of": mark}, tenant_id=tenant, **values)
    return (await reception.submit(request_id, [upload], arrival)).request_id


async def _worked_on(engine: Harness, request_id: UUID, chief: Operator) -> tuple[UUID, UUID]:
    """Pages, a document, a question that its chief holds, and an answer."""
    task_id, document_id = uuid4(), uuid4()
    of: dict[str, Any] = {"request_id": request_id, "tenant_id": ACME}
    key = f"{request_id}/in/0-{MARK}.pdf"
    now = utc_now()
    async with engine.app.store.writing() as session:
        session.add(
            File(
                **of,
                file_index=0,
                name=f"{MARK}.pdf",
                blob_key=key,
                media_type="application/pdf",
                page_count=3,
            )
        )
        data = {"total_amount": MARK}
        session.add(Document(**of, id=document_id, doc_type="invoice", page_indices=[0], extracted_data=data))
        await session.flush()
        session.add(Page(**of, page_index=0, ocr_text=f"{MARK} text", document_id=document_id))
        session.add(
            BackofficeTask(
                **of, id=task_id, task_type="extraction", status="assigned", assigned_to=chief.id,
                assigned_at=now, accepted_at=now, seen_at=now, input_data={"text": MARK},
                required_skills=["extraction"], deadline_utc=now + timedelta(hours=1),
            )
        )  # fmt: skip
        await requests.finish(session, request_id, {"documents": [{"extracted_data": data}]})
    return task_id, document_id


async def _material(engine: Harness, request_id: UUID) -> None:
    """A summary and a quiz."""
    store = DatabaseStore(engine.app.store)
    metadata = ProcessingMetadata(request_id=str(request_id), generator=MARK)
    async with engine.app.store.writing() as session:
        for content in (textbooks.summary(MARK), textbooks.quiz(MARK)):
            await store.put(session, NewDocument(ACME, MATERIAL, content, metadata))
