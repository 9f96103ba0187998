"""Programs at the review station: a key or token with the scope `review` acts as an operator."""

from __future__ import annotations

from fastapi import Request
from sqlalchemy import select

from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.task_tables import Operator
from docproc.http.access.caller import Caller
from docproc.http.access.door import Door
from docproc.http.access.scopes import Scope
from docproc.http.problems import Problem
from docproc.people.store.sign_ins import Found

LEAST_ROLE = "operator"


async def signed_in(request: Request, door: Door, store: Store) -> Found:
    """As whom the program acts. Raises Problem 401, 403, 429 or 503.

    Without the scope `admin` it may do what every operator may, whatever the operator's role.
    """
    caller = await door.caller(request)
    await door.check_scope(request, caller, Scope.REVIEW)
    operator = await _operator(caller, store)
    if operator is None:
        await door.refuse(request, caller, "operator")
        told = "no active operator of the tenant is linked with this key or token"
        raise Problem(403, "no_operator", told, "docproc keys create --operator, or docproc operator link")
    if Scope.ADMIN not in caller.scopes:
        operator.role = LEAST_ROLE  # of this copy, which is stored nowhere
    return Found(operator, "", utc_now())


async def _operator(caller: Caller, store: Store) -> Operator | None:
    """The key's, or whom the identity provider calls so."""
    is_token = caller.kind == "token"
    whose = Operator.oidc_subject == caller.name if is_token else Operator.id == caller.operator_id
    query = select(Operator).where(whose, Operator.is_active, Operator.tenant_id == caller.tenant_id)
    async with store.reading() as session:
        found: Operator | None = await session.scalar(query)
    return found
