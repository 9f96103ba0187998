"""The tenant that an administrator of the installation looks at; everybody else has one."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import make_transient
from starlette.requests import HTTPConnection

from docproc.app import App
from docproc.people.store.sign_ins import Found

COOKIE = "docproc_tenant"
# The role whose holders may look at every tenant, one after the other.
ROLE = "admin"


async def as_chosen(connection: HTTPConnection, application: App, found: Found) -> Found:
    """The session's person, at home or, an administrator, in the tenant last chosen."""
    wanted = connection.cookies.get(COOKIE)
    operator = found.operator
    if operator.role != ROLE or not wanted or wanted == operator.tenant_id:
        return found
    if await application.tenants.find(wanted) is None:
        return found
    # A copy that belongs to no session: what it says of its tenant is stored nowhere.
    make_transient(operator)
    operator.tenant_id = wanted
    return replace(found, operator=operator)
