"""The drop page: files in by hand, answers to look at, in Spanish and English."""

from __future__ import annotations

import asyncio
import html
import json
from pathlib import Path
from string import Template

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from docproc.app import App
from docproc.console.home.texts import LANGUAGES, TEXTS
from docproc.http.context import Application

router = APIRouter(include_in_schema=False)

_FOLDER = Path(__file__).parent
_TEMPLATE = Template((_FOLDER / "page.html").read_text(encoding="utf-8"))


def add_to(app: FastAPI) -> None:
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=_FOLDER / "static"), name="static")


@router.get("/")
async def page(request: Request, application: Application, lang: str | None = None) -> HTMLResponse:
    language = choose_language(lang, request.headers.get("accept-language", ""))
    workflows = await asyncio.to_thread(_workflow_names, application)
    return HTMLResponse(
        render(language, workflows), headers={"Content-Language": language, "Vary": "Accept-Language"}
    )


def choose_language(wanted: str | None, accepted: str) -> str:
    """The one asked for, else the browser's first that we speak, else English."""
    if wanted in LANGUAGES:
        return wanted
    ranked = sorted(map(_rank, accepted.split(",")), key=lambda pair: -pair[0])
    return next((language for weight, language in ranked if weight > 0 and language in LANGUAGES), "en")


def _rank(item: str) -> tuple[float, str]:
    name, _, weight = item.strip().partition(";q=")
    try:
        return float(weight or 1), name[:2].lower()
    except ValueError:
        return 0.0, name[:2].lower()


def render(language: str, workflows: list[str]) -> str:
    texts = TEXTS[language]
    options = "".join(f"<option>{html.escape(name)}</option>" for name in workflows)
    return _TEMPLATE.substitute(
        {name: html.escape(text) for name, text in texts.items() if isinstance(text, str)},
        language=language,
        texts=html.escape(json.dumps(texts, ensure_ascii=False)),
        workflow_options=options,
        spanish=_link("es", "Español", language),
        english=_link("en", "English", language),
    )


def _link(language: str, name: str, current: str) -> str:
    mark = ' aria-current="true"' if language == current else ""
    return f'<a href="?lang={language}" hreflang="{language}" lang="{language}"{mark}>{name}</a>'


def _workflow_names(application: App) -> list[str]:
    """Those that take files: their requests go through the router, to a splitter."""
    flows = application.loader.usable()
    return [flow.name for flow in flows if any(stage.component == "splitter" for stage in flow.stages)]
