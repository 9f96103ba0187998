"""Documents in MongoDB: one of each kind for each material, validated by the server, versions in a
collection of
their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Self
from urllib.parse import urlsplit

from bson import CodecOptions, ObjectId
from pymongo import ASCENDING, AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import (
    CollectionInvalid,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
    WriteError,
)
from pymongo.errors import (
    ConfigurationError as DriverConfigurationError,
)
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.errors import DocumentsDownError, MaterialError
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.store import COLLECTIONS, Kind, MaterialStore, NewDocument, Stored
from docproc.apps.materials.stores.schemas import EVENTS, VALIDATORS, VERSIONS
from docproc.engine.message import utc_now
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs

Database = AsyncDatabase[dict[str, Any]]

_SELECT_MS = 5000
_SOCKET_MS = 20_000
# Another worker may write the same material between our look and our write.
_TRIES = 10
_NAMESPACE_EXISTS = 48
_DOCUMENT_INVALID = 121
_REFUSED = (13, 18)  # not authorized, authentication failed


def _usual() -> dict[str, Any]:
    return {
        "serverSelectionTimeoutMS": _SELECT_MS,
        "connectTimeoutMS": _SELECT_MS,
        "socketTimeoutMS": _SOCKET_MS,
    }


class MongoStore(MaterialStore):
    """A database for each tenant: `material_id` is unique in its collection, and tenants choose their ids."""

    def __init__(self, client: AsyncMongoClient[dict[str, Any]], database: str, event_days: float) -> None:
        self.client = client
        self.database_name = database
        self.event_days = event_days
        self._prepared: set[str] = set()
        self._preparing = asyncio.Lock()

    @classmethod
    def create(cls, settings: MaterialsSettings) -> Self:
        assert settings.materials_mongodb_url is not None
        url = settings.materials_mongodb_url.get_secret_value()
        # What the address says goes before what is usual here.
        said = urlsplit(url).query.lower()
        limits = {name: value for name, value in _usual().items() if name.lower() not in said}
        try:
            client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
                url, appname="docproc", tz_aware=True, **limits
            )
        except (DriverConfigurationError, ValueError) as error:
            raise ConfigurationError(
                f"DOCPROC_MATERIALS_MONGODB_URL cannot be used: {error}",
                remedy="Write it as mongodb://user:password@host:27017",
            ) from error
        return cls(client, settings.materials_mongodb_database, settings.materials_event_days)

    async def prepare(self) -> None:
        """A server that is away when a worker starts is asked again by the first message that needs it."""
        try:
            await self._database("default")
        except DocumentsDownError:
            return

    async def close(self) -> None:
        await self.client.close()

    async def _database(self, tenant_id: str) -> Database:
        """With its collections, validators and indexes, made by whoever comes first."""
        name = self.database_name if tenant_id == "default" else f"{self.database_name}_{tenant_id}"
        database = self.client.get_database(name, codec_options=CodecOptions(tz_aware=True))
        async with self._preparing, _told():
            if name not in self._prepared:
                await self._make(database)
                self._prepared.add(name)
        return database

    async def _make(self, database: Database) -> None:
        for collection, schema in VALIDATORS.items():
            validator = {"$jsonSchema": schema} if schema else {}
            try:
                await database.create_collection(collection, validator=validator)
            except (CollectionInvalid, OperationFailure) as error:
                if isinstance(error, OperationFailure) and error.code not in (None, _NAMESPACE_EXISTS):
                    raise
                await database.command("collMod", collection, validator=validator)
        for kind in Kind:
            await database[COLLECTIONS[kind]].create_index("material_id", unique=True)
        await database[VERSIONS].create_index(
            [("material_id", ASCENDING), ("kind", ASCENDING), ("version", ASCENDING)], unique=True
        )
        await database[EVENTS].create_index("material_id")
        seconds = int(timedelta(days=self.event_days).total_seconds())
        await database[EVENTS].create_index("created_at", expireAfterSeconds=seconds)

    async def put(self, session: AsyncSession, new: NewDocument) -> Stored:
        database = await self._database(new.tenant_id)
        async with _told():
            for _ in range(_TRIES):
                stored = await self._try_put(database, new, utc_now())
                if stored is not None:
                    return stored
        raise DocumentsDownError(f"material {new.material_id!r} is written by many at once")

    async def _try_put(self, database: Database, new: NewDocument, now: datetime) -> Stored | None:
        """None where somebody else wrote in between."""
        collection = database[COLLECTIONS[new.kind]]
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)  # MongoDB's own precision
        found = await collection.find_one({"material_id": new.material_id})
        if found is None:
            document_id = ObjectId()
            try:
                await collection.insert_one({"_id": document_id, **new.document(1, now, now)})
            except DuplicateKeyError:
                return None
            return Stored(str(document_id), 1)
        version = found["version"]
        if found["processing_metadata"]["request_id"] != new.metadata.request_id:
            await self._keep(database, new, found)
            version += 1
        document = new.document(version, found["created_at"], now)
        # Only what was read is replaced: a version that somebody else added meanwhile would be lost.
        as_read = {"_id": found["_id"], "version": found["version"]}
        done = await collection.replace_one(as_read, document)
        return Stored(str(found["_id"]), version) if done.matched_count else None

    async def _keep(self, database: Database, new: NewDocument, found: dict[str, Any]) -> None:
        document = {name: value for name, value in found.items() if name != "_id"}
        place = {"material_id": new.material_id, "kind": new.kind.value, "version": found["version"]}
        kept = {"$setOnInsert": {"document": document, "replaced_at": utc_now()}}
        await database[VERSIONS].update_one(place, kept, upsert=True)

    async def get(
        self, kind: Kind, tenant_id: str, material_id: str, version: int | None = None
    ) -> dict[str, Any] | None:
        database = await self._database(tenant_id)
        wanted: dict[str, Any] = {"material_id": material_id}
        if version is not None:
            wanted["version"] = version
        async with _told():
            found = await database[COLLECTIONS[kind]].find_one(wanted, {"_id": 0})
            if found is None and version is not None:
                kept = await database[VERSIONS].find_one({**wanted, "kind": kind.value}, {"_id": 0})
                found = kept["document"] if kept else None
        return _as_json(found) if found is not None else None

    async def versions(self, kind: Kind, tenant_id: str, material_id: str) -> list[int]:
        database = await self._database(tenant_id)
        wanted = {"material_id": material_id}
        async with _told():
            kept = database[VERSIONS].find({**wanted, "kind": kind.value}, {"_id": 0, "version": 1})
            found = [one["version"] for one in await kept.to_list()]
            current = await database[COLLECTIONS[kind]].find_one(wanted, {"_id": 0, "version": 1})
        return sorted({*found, *([current["version"]] if current else [])})

    async def remove(self, session: AsyncSession, tenant_id: str, material_id: str) -> None:
        database = await self._database(tenant_id)
        async with _told():
            for name in (*COLLECTIONS.values(), VERSIONS, EVENTS):
                await database[name].delete_many({"material_id": material_id})

    async def log(self, tenant_id: str, events: Sequence[dict[str, Any]]) -> None:
        database = await self._database(tenant_id)
        async with _told():
            for event in events:
                await database[EVENTS].replace_one({"_id": event["_id"]}, event, upsert=True)


def _as_json(document: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in document.items()
    }


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """What the driver raises, as ours: a document that is refused will be refused again, all else passes."""
    try:
        yield
    except WriteError as error:
        if error.code == _DOCUMENT_INVALID:
            raise MaterialError(
                "MongoDB refuses the document by the collection's schema",
                code="bad_document",
                remedy="Compare the collection's validator with DocProc's",
            ) from error
        raise DocumentsDownError(f"MongoDB did not write: {text_for_logs(error)}") from error
    except OperationFailure as error:
        if error.code in _REFUSED:
            raise MaterialError(
                "MongoDB refuses access", code="no_access", remedy="Check DOCPROC_MATERIALS_MONGODB_URL"
            ) from error
        raise DocumentsDownError(f"MongoDB refused: {text_for_logs(error)}") from error
    except PyMongoError as error:
        raise DocumentsDownError(f"MongoDB is out of reach: {type(error).__name__}") from error
