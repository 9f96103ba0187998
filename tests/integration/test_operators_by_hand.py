"""Operators may be added in the database itself (specification §14.3)."""

from __future__ import annotations

import asyncio

import asyncpg

from docproc.engine.store.session import Store
from tests import schema, services


def test_row_with_a_name_alone_is_an_operator() -> None:
    services.require(services.postgres_problem())
    with services.postgres_database() as url:

        async def main() -> tuple[object, object, object]:
            store = Store(url.replace("postgresql://", "postgresql+asyncpg://"))
            await schema.upgrade(store)
            await store.close()
            connection = await asyncpg.connect(url)
            try:
                await connection.execute("INSERT INTO operators (username) VALUES ('ana')")
                row = await connection.fetchrow("SELECT id, skills, is_active FROM operators")
                assert row is not None
                return row["id"], row["skills"], row["is_active"]
            finally:
                await connection.close()

        identity, skills, is_active = asyncio.run(main())
    assert identity is not None and skills == [] and is_active is True
