"""Pages of the review station: its part of the console, and who looks at them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from docproc.application import Link
from docproc.engine.store.task_tables import Operator
from docproc.engine.store.tenants import DEFAULT
from docproc.http.addresses import BACKOFFICE
from docproc.http.pages import Part, Visitor, pages_of
from docproc.people.store import claims
from docproc.people.texts import FOLDER

_FOLDER = Path(__file__).parent

PART = Part(
    templates=_FOLDER / "templates",
    static=_FOLDER / "static",
    texts=FOLDER,
    navigation=(
        Link("queue", "/", server=BACKOFFICE),
        Link("supervision", "/supervisor", server=BACKOFFICE, role="supervisor"),
    ),
)
# What pages of other servers need of it: its words, and the way to it.
SHOWN_ELSEWHERE = replace(PART, templates=None, static=None)


def language_of(request: Request, operator: Operator | None) -> str:
    return pages_of(request).language_of(request, _visitor(request, operator))


def render(request: Request, template: str, operator: Operator, **context: Any) -> str:
    """A part of a page, for its script."""
    language = language_of(request, operator)
    return pages_of(request).render(template, language, operator=operator, **context)


def page(
    request: Request, template: str, operator: Operator | None, *, status: int = 200, **context: Any
) -> HTMLResponse:
    visitor = _visitor(request, operator)
    return pages_of(request).page(request, template, visitor, status=status, operator=operator, **context)


def _visitor(request: Request, operator: Operator | None) -> Visitor | None:
    """With authentication on the session says who it is; off, every link does, and there are no roles."""
    if operator is None:
        return None
    has_session = bool(getattr(request.state, "csrf", ""))
    return Visitor(
        name=operator.display_name or operator.username,
        roles=claims.roles_up_to(operator.role) if has_session else claims.ROLES,
        query=None if has_session else {"operator": operator.username},
        language=operator.language,
        has_password=bool(operator.password_hash),
        tenant=operator.tenant_id if has_session and operator.tenant_id != DEFAULT else "",
        is_admin=has_session and operator.role == "admin",
    )
