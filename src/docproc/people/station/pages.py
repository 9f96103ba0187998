"""Pages of the review station: templates with their words, in the language of whoever looks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from docproc.application import Application
from docproc.console.home import choose_language
from docproc.engine.store.task_tables import Operator
from docproc.people import texts

_FOLDER = Path(__file__).parent
LANGUAGE_COOKIE = "docproc_language"

_FOLDERS = [FileSystemLoader(_FOLDER / "templates")]
_TEMPLATES = Environment(
    loader=ChoiceLoader(_FOLDERS),
    autoescape=True,  # what documents and people say is never markup
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def add_views(app: FastAPI, applications: Iterable[Application]) -> None:
    """Templates and files of the applications' pages, and the station's own."""
    known = {folder for loader in _FOLDERS for folder in loader.searchpath}
    for one in applications:
        if one.views.templates and str(one.views.templates) not in known:
            _FOLDERS.append(FileSystemLoader(one.views.templates))
        if one.views.static:
            app.mount(f"/static/{one.name}", StaticFiles(directory=one.views.static), name=one.name)
    app.mount("/static", StaticFiles(directory=_FOLDER / "static"), name="static")


def language_of(request: Request, operator: Operator | None) -> str:
    """As switched (`?lang=`, a cookie), else as the person's account says, else as the browser prefers."""
    wanted = request.query_params.get("lang") or request.cookies.get(LANGUAGE_COOKIE)
    wanted = wanted or (operator.language if operator else None)
    return choose_language(wanted, request.headers.get("accept-language", ""))


def render(template: str, language: str, **context: Any) -> str:
    """`t("key", name=value)` in a template is a text in its language."""
    values = {"language": language, "t": partial(texts.text, language), "csrf": "", **context}
    return _TEMPLATES.get_template(template).render(values)


def page(
    request: Request, template: str, operator: Operator | None, *, status: int = 200, **context: Any
) -> HTMLResponse:
    """A whole page; a language chosen with `?lang=` is remembered."""
    language = language_of(request, operator)
    token = getattr(request.state, "csrf", "")  # of a session, where people sign in
    body = render(template, language, operator=operator, path=request.url.path, csrf=token, **context)
    answer = HTMLResponse(body, status, headers={"Content-Language": language})
    if request.query_params.get("lang") in texts.LANGUAGES:
        answer.set_cookie(LANGUAGE_COOKIE, language, max_age=31_536_000, httponly=True, samesite="lax")
    return answer
