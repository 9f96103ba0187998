"""Who asks, and for which tenant: what every endpoint may know of its client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends
from starlette.requests import HTTPConnection

from docproc.engine.store.tenants import DEFAULT
from docproc.http.access.scopes import ALL_SCOPES, Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """`kind` is how it was proved: `key`, `token`, `person` (a session); `anybody` where nobody is asked."""

    tenant_id: str = DEFAULT
    scopes: frozenset[Scope] = ALL_SCOPES
    kind: str = "anybody"
    # As the audit names it: the key's beginning, the token's subject, the person's name.
    name: str = ""
    # As whom tasks are answered.
    operator_id: UUID | None = None

    @property
    def by(self) -> str | None:
        """For the audit; None where nobody is asked."""
        return f"{self.kind} {self.name}"[:128] if self.name else None


ANYBODY = Caller()


def caller_of(connection: HTTPConnection) -> Caller:
    """Of a request that the gate let in."""
    found: Caller = connection.state.caller
    return found


async def _dependency(connection: HTTPConnection) -> Caller:
    # Not a plain function: FastAPI would call it in a thread, at the cost of two switches for each request.
    return caller_of(connection)


TheCaller = Annotated[Caller, Depends(_dependency)]
