"""Pages for people on any server: templates in one frame, in the language and colours of whoever looks.

The console puts `Pages` together, because it knows the frame and every application; routers below it find
them on `app.state.pages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from docproc.application import Link
from docproc.http.addresses import BACKOFFICE, Addresses
from docproc.texts import LANGUAGES, Catalogue, choose_language
from docproc.written import Written, zone_of

LANGUAGE_COOKIE = "docproc_language"
THEME_COOKIE = "docproc_theme"
# Where the browser is, as its own script says (static/frame/zone.js); until then times are UTC's.
ZONE_COOKIE = "docproc_zone"
THEMES = ("light", "dark", "system")
_REMEMBERED_SECONDS = 31_536_000
# What a link to the same page in another language must not repeat.
_SAID_ONCE = ("lang", "theme", "done", "ended")


@dataclass(frozen=True, slots=True)
class Part:
    """What somebody adds to the pages of a server; `static` is served under the path beside it."""

    templates: Path | None = None
    static: Path | None = None
    static_path: str = "/static"
    texts: Path | None = None
    navigation: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks, as far as the frame is concerned."""

    name: str
    # All that the person may act as.
    roles: Sequence[str] = ()
    # What links must say of who it is, where no session does.
    query: Mapping[str, str] | None = None
    language: str | None = None
    has_password: bool = False
    # Whose pages these are, where there is more than one tenant.
    tenant: str = ""
    # Whether the person may look at others.
    is_admin: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A link as the frame shows it; `current` is the value of its `aria-current`, or empty."""

    text: str
    href: str
    current: str = ""


class Pages:
    """The pages of one server. `everybody` are the roles that whoever comes has without saying who it is."""

    def __init__(self, parts: Sequence[Part], addresses: Addresses, *, everybody: Sequence[str] = ()) -> None:
        self._parts = parts
        self._addresses = addresses
        self._everybody = everybody
        links = [link for part in parts for link in part.navigation]
        self._links = [link for link in links if not any(_is_tab(link, other) for other in links)]
        self.texts = Catalogue(*(part.texts for part in parts if part.texts))
        folders = [FileSystemLoader(part.templates) for part in parts if part.templates]
        self._templates = Environment(
            loader=ChoiceLoader(folders),
            autoescape=True,  # what documents and people say is never markup
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def add_to(self, app: FastAPI) -> None:
        """After the routers: the files of pages, the most particular path first."""
        app.state.pages = self
        found = [part for part in self._parts if part.static]
        for part in sorted(found, key=lambda part: -len(part.static_path)):
            app.mount(part.static_path, StaticFiles(directory=part.static or ""), name=part.static_path)

    def language_of(self, request: Request, visitor: Visitor | None = None) -> str:
        """As switched (`?lang=`, a cookie), else as the person's account says, else as the browser asks."""
        wanted = request.query_params.get("lang") or request.cookies.get(LANGUAGE_COOKIE)
        wanted = wanted or (visitor.language if visitor else None)
        return choose_language(wanted, request.headers.get("accept-language", ""))

    def render(self, template: str, language: str, **context: Any) -> str:
        """`t("key", name=value)` in a template is a text in its language, `written` writes values."""
        words = {"language": language, "t": partial(self.texts.text, language), "written": Written(language)}
        values = {**words, **context}
        return self._templates.get_template(template).render(values)

    def page(
        self,
        request: Request,
        template: str,
        visitor: Visitor | None = None,
        *,
        status: int = 200,
        **context: Any,
    ) -> HTMLResponse:
        """A whole page; a language or theme chosen in the address is remembered."""
        visitor = visitor or getattr(request.state, "visitor", None)  # whom a session on this server is of
        language, theme = self.language_of(request, visitor), theme_of(request)
        frame = {
            "written": Written(language, zone_in(request)),
            "visitor": visitor,
            "theme": theme,
            "path": request.url.path,
            "csrf": getattr(request.state, "csrf", ""),  # of a session, where people sign in
            "is_station": self._addresses.is_here(BACKOFFICE),  # where they also sign out
            "brand_href": _with_query("/", visitor),
            "navigation": self._navigation(request, visitor, language),
            "languages": _switches(request, "lang", {"es": "Español", "en": "English"}, language),
            "themes": _switches(
                request, "theme", {one: self.texts.text(language, f"theme_{one}") for one in THEMES}, theme
            ),
        }
        body = self.render(template, language, **{**frame, **context})
        headers = {"Content-Language": language, "Vary": "Accept-Language, Cookie"}
        answer = HTMLResponse(body, status, headers=headers)
        if request.query_params.get("lang") in LANGUAGES:
            _remember(answer, LANGUAGE_COOKIE, language)
        if request.query_params.get("theme") in THEMES:
            _remember(answer, THEME_COOKIE, theme)
        return answer

    def _navigation(self, request: Request, visitor: Visitor | None, language: str) -> list[Entry]:
        roles = visitor.roles if visitor else self._everybody
        seen = [link for link in self._links if not link.role or link.role in roles]
        here = [link.href for link in seen if self._addresses.is_here(link.server)]
        current = max((href for href in here if _is_below(request.url.path, href)), key=len, default="")
        entries = []
        for link in seen:
            text = self.texts.text(language, link.text)
            if self._addresses.is_here(link.server):
                mark = ("page" if request.url.path == current else "true") if link.href == current else ""
                entries.append(Entry(text, _with_query(link.href, visitor), mark))
            elif base := self._addresses.of(link.server, request):
                entries.append(Entry(text, base + link.href))
        return entries


def pages_of(request: Request) -> Pages:
    """Those of the server that was asked."""
    pages: Pages = request.app.state.pages
    return pages


def theme_of(request: Request) -> str:
    wanted = request.query_params.get("theme")
    wanted = wanted if wanted in THEMES else request.cookies.get(THEME_COOKIE)
    return wanted if wanted in THEMES else "system"


def zone_in(request: Request) -> tzinfo:
    """The time zone of whoever looks."""
    return zone_of(request.cookies.get(ZONE_COOKIE, "").replace("%2F", "/")) or UTC


def _remember(answer: HTMLResponse, cookie: str, value: str) -> None:
    answer.set_cookie(cookie, value, max_age=_REMEMBERED_SECONDS, httponly=True, samesite="lax")


def _switches(request: Request, name: str, choices: Mapping[str, str], chosen: str) -> dict[str, Entry]:
    """Links to this page with another choice; what else the address says stays."""
    kept = [(key, value) for key, value in request.query_params.multi_items() if key not in _SAID_ONCE]
    return {
        value: Entry(text, f"?{urlencode([*kept, (name, value)])}", "true" if value == chosen else "")
        for value, text in choices.items()
    }


def _with_query(href: str, visitor: Visitor | None) -> str:
    return f"{href}?{urlencode(visitor.query)}" if visitor and visitor.query else href


def _is_tab(link: Link, of: Link) -> bool:
    """What lies below another link's page is a tab there, no entry of the navigation."""
    is_other = link.href != of.href and of.href != "/" and link.server == of.server
    return is_other and _is_below(link.href, of.href)


def _is_below(path: str, href: str) -> bool:
    return path == href or path.startswith(href.rstrip("/") + "/")
