"""A small MongoDB for tests: speaks the wire protocol over a socket, enforces unique indexes and
`$jsonSchema`.

It knows the few commands that the store of materials uses, as the server's documentation describes them, and
refuses all others. Where a real server can be had, `MONGODB_URL` puts it in this one's place.
"""

from __future__ import annotations

import re
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import bson
from bson import ObjectId

Document = dict[str, Any]

OP_MSG = 2013
_HEADER = struct.Struct("<iiii")
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "object": dict, "array": list, "date": datetime, "int": int, "long": int, "bool": bool,
    "double": float,
}  # fmt: skip


class Refused(Exception):
    """What a command answers instead."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(message)
        self.answer = {"ok": 0.0, "errmsg": message, "code": code, "codeName": name}


class Collection:
    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.validator: Document = {}
        self.indexes: dict[str, Document] = {"_id_": {"key": {"_id": 1}, "name": "_id_", "unique": True}}

    def check(self, document: Document, beside: Document | None = None) -> None:
        """Raises Refused where the validator or a unique index says no; `beside` is the one it replaces."""
        schema = self.validator.get("$jsonSchema")
        if schema and (problem := mismatch(document, schema)):
            raise Refused(121, "DocumentValidationFailure", f"Document failed validation: {problem}")
        for index in self.indexes.values():
            if not index.get("unique"):
                continue
            key = [document.get(name) for name in index["key"]]
            others = (one for one in self.documents if one is not beside)
            if any([one.get(name) for name in index["key"]] == key for one in others):
                raise Refused(11000, "DuplicateKey", f"E11000 duplicate key error index: {index['name']}")


def mismatch(value: Any, schema: Mapping[str, Any], where: str = "") -> str:
    """What does not fit a schema; empty when all does."""
    kinds = schema.get("bsonType")
    if kinds is not None and not any(
        _is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)
    ):
        return f"{where or 'document'} is no {kinds}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {schema['enum']}"
    if isinstance(value, str) and (
        len(value) < schema.get("minLength", 0) or not re.search(schema.get("pattern", ""), value)
    ):
        return f"{where} is too short or of another pattern"
    if type(value) is int and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{where} is out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"{where} has {len(value)} items"
        parts = ((f"{where}.{n}", one, schema.get("items", {})) for n, one in enumerate(value))
        return next((told for place, one, inner in parts if (told := mismatch(one, inner, place))), "")
    if isinstance(value, dict):
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            return f"{where} lacks {missing}"
        for name, inner in schema.get("properties", {}).items():
            if name in value and (told := mismatch(value[name], inner, f"{where}.{name}".lstrip("."))):
                return told
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "bool"
    return isinstance(value, _TYPES[kind])


class Mongo:
    """The databases, and the server before them."""

    def __init__(self) -> None:
        self.databases: dict[str, dict[str, Collection]] = {}
        self.commands: list[str] = []
        # Called before each command; may raise ConnectionError to cut the client off.
        self.before: Callable[[str, Document], None] = lambda name, command: None
        self._lock = threading.Lock()
        mongo = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with mongo._clients_lock:
                    mongo._clients.add(self.request)
                try:
                    while (message := _received(self.request)) is not None:
                        self.request.sendall(mongo._reply(*message))
                except (ConnectionError, OSError):
                    pass
                finally:
                    with mongo._clients_lock:
                        mongo._clients.discard(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._clients: set[Any] = set()
        self._clients_lock = threading.Lock()
        self._server_type, self._handler = Server, Handler
        self._server: Any = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}/?directConnection=true"

    def down(self) -> None:
        """Nobody answers any more; what was written stays."""
        self._server.shutdown()
        self._server.server_close()
        with self._clients_lock:
            for client in list(self._clients):
                client.close()

    def up(self) -> None:
        self._server = self._server_type(("127.0.0.1", self.port), self._handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.down()

    def documents(self, collection: str, database: str = "materials") -> list[Document]:
        with self._lock:
            found = self.databases.get(database, {}).get(collection)
            return [dict(one) for one in found.documents] if found else []

    def _reply(self, request_id: int, command: Document) -> bytes:
        name = next(iter(command))
        self.before(name, command)
        try:
            with self._lock:
                answer = self._run(name, command)
        except Refused as refused:
            answer = refused.answer
        body = struct.pack("<I", 0) + b"\0" + bson.encode(answer)
        return _HEADER.pack(16 + len(body), 1, request_id, OP_MSG) + body

    def _run(self, name: str, command: Document) -> Document:
        self.commands.append(name)
        if name.lower() in ("hello", "ismaster"):
            return {
                "ok": 1.0, "ismaster": True, "isWritablePrimary": True, "helloOk": True, "minWireVersion": 0,
                "maxWireVersion": 21, "maxBsonObjectSize": 16 << 20, "maxMessageSizeBytes": 48_000_000,
                "maxWriteBatchSize": 100_000, "logicalSessionTimeoutMinutes": 30, "readOnly": False,
            }  # fmt: skip
        if name in ("ping", "endSessions"):
            return {"ok": 1.0}
        action = getattr(self, f"_do_{name}", None)
        if action is None:
            raise Refused(59, "CommandNotFound", f"no such command: {name!r}")
        collections = self.databases.setdefault(command["$db"], {})
        answer: Document = action(collections, command[name], command)
        return {"ok": 1.0, **answer}

    # --- commands ---------------------------------------------------------------------------------------

    def _do_create(self, collections: dict[str, Collection], name: str, command: Document) -> Document:
        if name in collections:
            raise Refused(48, "NamespaceExists", f"Collection {name} already exists.")
        collections[name] = Collection()
        collections[name].validator = command.get("validator", {})
        return {}

    def _do_collMod(self, collections: dict[str, Collection], name: str, command: Document) -> Document:  # noqa: N802 # the command's name
        if name not in collections:
            raise Refused(26, "NamespaceNotFound", "ns does not exist")
        collections[name].validator = command.get("validator", {})
        return {}

    def _do_listCollections(  # noqa: N802 # the command's name
        self, collections: dict[str, Collection], _: Any, command: Document
    ) -> Document:
        wanted = command.get("filter", {}).get("name")
        names = [{"name": name, "type": "collection"} for name in collections if wanted in (None, name)]
        return {"cursor": {"id": 0, "ns": f"{command['$db']}.$cmd.listCollections", "firstBatch": names}}

    def _do_createIndexes(self, collections: dict[str, Collection], name: str, command: Document) -> Document:  # noqa: N802 # the command's name
        collection = collections.setdefault(name, Collection())
        for index in command["indexes"]:
            collection.indexes[index["name"]] = index
        return {}

    def _do_insert(self, collections: dict[str, Collection], name: str, command: Document) -> Document:
        collection = collections.setdefault(name, Collection())
        for number, document in enumerate(command["documents"]):
            try:
                collection.check(document)
            except Refused as refused:
                return {"n": number, "writeErrors": [_write_error(number, refused)]}
            collection.documents.append(document)
        return {"n": len(command["documents"])}

    def _do_update(self, collections: dict[str, Collection], name: str, command: Document) -> Document:
        collection = collections.setdefault(name, Collection())
        matched, upserted = 0, []
        for number, update in enumerate(command["updates"]):
            try:
                done = self._update(collection, update["q"], update["u"], bool(update.get("upsert")))
            except Refused as refused:
                return {"n": matched, "nModified": matched, "writeErrors": [_write_error(number, refused)]}
            if done is True:
                matched += 1
            elif done is not None:
                upserted.append({"index": number, "_id": done})
        added = {"upserted": upserted} if upserted else {}
        return {"n": matched + len(upserted), "nModified": matched, **added}

    def _update(self, collection: Collection, query: Document, change: Document, upsert: bool) -> Any:
        """True where one matched; else the id of the one that was added, or None."""
        found = next((one for one in collection.documents if matches(one, query)), None)
        if found is not None:
            new = _changed(found, change)
            collection.check(new, beside=found)
            collection.documents[collection.documents.index(found)] = new
            return True
        if not upsert:
            return None
        plain = {key: value for key, value in query.items() if not isinstance(value, dict)}
        fresh = {"_id": ObjectId(), **plain, **change.get("$setOnInsert", change)}
        collection.check(fresh)
        collection.documents.append(fresh)
        return fresh["_id"]

    def _do_delete(self, collections: dict[str, Collection], name: str, command: Document) -> Document:
        collection = collections.setdefault(name, Collection())
        before = len(collection.documents)
        for one in command["deletes"]:
            collection.documents = [each for each in collection.documents if not matches(each, one["q"])]
        return {"n": before - len(collection.documents)}

    def _do_find(self, collections: dict[str, Collection], name: str, command: Document) -> Document:
        collection = collections.get(name, Collection())
        found = [one for one in collection.documents if matches(one, command.get("filter", {}))]
        limit = command.get("limit") or len(found)
        shown = [_projected(one, command.get("projection")) for one in found[:limit]]
        return {"cursor": {"id": 0, "ns": f"{command['$db']}.{name}", "firstBatch": shown}}


def matches(document: Document, query: Document) -> bool:
    return all(document.get(name) == value for name, value in query.items())


def _changed(found: Document, change: Document) -> Document:
    if "$setOnInsert" in change:
        return dict(found)
    if any(name.startswith("$") for name in change):
        raise Refused(9, "FailedToParse", f"unknown modifier: {next(iter(change))}")
    return {"_id": found["_id"], **change}


def _projected(document: Document, projection: Document | None) -> Document:
    if not projection:
        return document
    wanted = {name for name, shown in projection.items() if shown}
    hidden = {name for name, shown in projection.items() if not shown}
    return {
        name: value
        for name, value in document.items()
        if name not in hidden and (not wanted or name in wanted or name == "_id")
    }


def _write_error(number: int, refused: Refused) -> Document:
    return {"index": number, "code": refused.answer["code"], "errmsg": refused.answer["errmsg"]}


def _received(connection: Any) -> tuple[int, Document] | None:
    """The id and the command of one OP_MSG; None at the client's end."""
    head = _exactly(connection, 16)
    if head is None:
        return None
    length, request_id, _, opcode = _HEADER.unpack(head)
    body = _exactly(connection, length - 16)
    if body is None:
        return None
    if opcode == 2004:  # OP_QUERY: the first hello of older drivers
        start = 4 + body.index(b"\0", 4) - 4 + 1 + 8
        return request_id, bson.decode(body[start:])
    assert opcode == OP_MSG, opcode
    return request_id, _command(body[4:])


def _command(sections: bytes) -> Document:
    """The body of a message, with its sequences of documents put where they belong."""
    command: Document = {}
    while sections:
        kind, sections = sections[0], sections[1:]
        size = struct.unpack_from("<i", sections)[0]
        part, sections = sections[:size], sections[size:]
        if kind == 0:
            command = {**bson.decode(part), **command}
        else:
            name, _, documents = part[4:].partition(b"\0")
            command[name.decode()] = bson.decode_all(documents)
    ordered = next(name for name in command if name not in ("documents", "updates", "deletes"))
    return {ordered: command[ordered], **command}


def _exactly(connection: Any, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return data


@contextmanager
def serving() -> Iterator[Mongo]:
    mongo = Mongo()
    try:
        yield mongo
    finally:
        mongo.close()
