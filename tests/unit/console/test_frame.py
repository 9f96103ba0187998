"""The frame: what is shown to whom, in which language and colours, and where its links lead."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse

from docproc.app import App
from docproc.application import Application, Link, Views
from docproc.console import servers
from docproc.http.access.scopes import Scope, needs
from docproc.http.pages import Visitor, pages_of
from docproc.loaded import Applications
from docproc.settings import Settings

TOKENS = (Path(servers.__file__).parent / "static" / "frame" / "tokens.css").read_text(encoding="utf-8")
GROUNDS = ("ground", "card", "accent-soft")
router = APIRouter()


@router.get("/stock")
@needs(Scope.READ)
async def stock(request: Request, role: str = "") -> HTMLResponse:
    visitor = Visitor("Ana", roles=(role,), query={"operator": "ana b"}, has_password=True) if role else None
    return pages_of(request).page(request, "stock.html", visitor, number=3)


@pytest.fixture
def shop(tmp_path: Path) -> Application:
    """An application with a page of its own on either server."""
    for name in ("templates", "static", "texts"):
        (tmp_path / name).mkdir()
    (tmp_path / "templates" / "stock.html").write_text(
        '{% extends "frame.html" %}{% block title %}{{ t("stock") }}{% endblock %}'
        '{% block content %}<h1>{{ t("in_stock", number=number) }}</h1>{% endblock %}',
        encoding="utf-8",
    )
    (tmp_path / "static" / "stock.css").write_text("h1 { color: var(--good) }", encoding="utf-8")
    (tmp_path / "texts" / "stock.yaml").write_text(
        "stock: {en: Stock, es: Existencias}\nin_stock: {en: '{number} there', es: 'Hay {number}'}",
        encoding="utf-8",
    )
    here = f"{__name__}:router"
    views = Views(
        templates=tmp_path / "templates",
        static=tmp_path / "static",
        texts=tmp_path / "texts",
        navigation=(Link("stock", "/stock"),),
        api_pages=(here,),
        station_pages=(here,),
    )
    return Application("shop", views=views)


def with_shop(tmp_path: Path, shop: Application, **given: Any) -> App:
    app = App(Settings.load(home=tmp_path, api_port=9000, backoffice_port=9001, _env_file=None, **given))
    app.applications = Applications([shop])
    return app


@asynccontextmanager
async def asking(app: FastAPI, base: str = "http://desk.example:9000") -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base) as client:
        yield client


def links(html: str, part: str = "nav") -> list[tuple[str, str, str]]:
    """(href, aria-current, text) of the links in a part of the frame."""
    found = re.search(rf"<{part} .*?</{part}>", html, re.DOTALL)
    assert found
    shape = r'<a href="([^"]*)"[^>]*?(?: aria-current="(\w+)")?>([^<]*)</a>'
    return [(href, current, text) for href, current, text in re.findall(shape, found[0])]


async def test_navigation_leads_to_both_servers_by_the_name_the_browser_used(
    tmp_path: Path, shop: Application
) -> None:
    async with asking(servers.gateway(with_shop(tmp_path, shop))) as client:
        shown = (await client.get("/stock?lang=en")).text
    assert links(shown) == [
        ("/", "", "Inbox"),
        ("http://desk.example:9001/", "", "Tasks"),
        ("http://desk.example:9001/supervisor", "", "Supervision"),
        ("/monitor", "", "Monitor"),
        ("/stock", "page", "Stock"),
    ]
    assert "<h1>3 there</h1>" in shown and "<title>Stock · DocProc</title>" in shown


async def test_roles_see_fewer_entries_and_links_say_who_asks(tmp_path: Path, shop: Application) -> None:
    async with asking(servers.station(with_shop(tmp_path, shop)), "http://[::1]:9001") as client:
        nobody, operator, supervisor = [
            links((await client.get("/stock", params={"lang": "es", "role": role})).text)
            for role in ("", "operator", "supervisor")
        ]
    assert nobody == [
        ("http://[::1]:9000/", "", "Entrada"),
        ("/", "true", "Tareas"),
        ("http://[::1]:9000/stock", "", "Existencias"),
    ]
    assert operator[1] == ("/?operator=ana+b", "true", "Tareas") and len(operator) == 3
    assert supervisor[2] == ("/supervisor?operator=ana+b", "", "Supervisión") and len(supervisor) == 4


async def test_where_people_sign_in_the_gateway_leads_them_there(tmp_path: Path, shop: Application) -> None:
    settings = {"auth": "on", "backoffice_url": "https://review.example"}
    async with asking(servers.gateway(with_shop(tmp_path, shop, **settings))) as client:
        page = await client.get("/stock?lang=en", headers={"Sec-Fetch-Mode": "navigate"})
        assert (page.status_code, page.headers["location"]) == (303, "https://review.example/sign-in")
        assert (await client.get("/stock")).status_code == 401
    async with asking(servers.station(with_shop(tmp_path, shop, **settings))) as client:
        station = links((await client.get("/sign-in?lang=en")).text)
    assert station == [("/", "true", "Tasks")]  # behind a proxy nobody knows where the API is


async def test_pages_of_an_application_are_behind_the_gate_of_the_station(
    tmp_path: Path, shop: Application
) -> None:
    async with asking(servers.station(with_shop(tmp_path, shop, auth="on"))) as client:
        assert (await client.get("/stock", headers={"Accept": "application/json"})).status_code == 401


async def test_theme_and_language_are_remembered_and_the_address_stays(
    tmp_path: Path, shop: Application
) -> None:
    async with asking(servers.gateway(with_shop(tmp_path, shop))) as client:
        first = await client.get("/stock?x=1&done=1", headers={"Accept-Language": "es"})
        assert '<html lang="es">' in first.text and "set-cookie" not in first.headers
        switches = [(href.replace("&amp;", "&"), text) for href, _, text in links(first.text, "footer")]
        assert ("?x=1&lang=en", "English") in switches and ("?x=1&theme=dark", "Oscuro") in switches
        await client.get("/stock?theme=dark&lang=en")
        later = (await client.get("/stock", headers={"Accept-Language": "es"})).text
        assert '<html lang="en" data-theme="dark">' in later
        assert '<html lang="en">' in (await client.get("/stock?theme=system")).text
        odd = await client.get("/stock?theme=<b>&lang=xx")
        assert "<b>" not in odd.text and "set-cookie" not in odd.headers


async def test_files_of_everybody_are_served(tmp_path: Path, shop: Application) -> None:
    made = with_shop(tmp_path, shop)
    for app, own in ((servers.gateway(made), "frame/tokens.css"), (servers.station(made), "queue.js")):
        async with asking(app) as client:
            for path in (own, "frame/tokens.css", "frame/frame.css", "frame/icon.svg", "shop/stock.css"):
                assert (await client.get(f"/static/{path}")).status_code == 200, path


# --- colours ----------------------------------------------------------------------------------------------

PAIRS = [
    *product(("ink", "quiet"), (*GROUNDS, "good-soft", "doubt-soft", "bad-soft")),
    *product(("accent",), GROUNDS),
    *(("good", ground) for ground in ("card", "ground", "good-soft", "accent-soft")),
    *(("doubt", ground) for ground in ("card", "ground", "doubt-soft", "accent-soft")),
    *(("bad", ground) for ground in ("card", "ground", "bad-soft", "accent-soft")),
    ("on-accent", "accent"),
]


def colour(name: str, *, is_dark: bool) -> str:
    both = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", TOKENS)
    assert both, name
    return both[2 if is_dark else 1]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_words_can_be_read_on_every_ground(is_dark: bool) -> None:
    found = {pair: round(contrast(*(colour(name, is_dark=is_dark) for name in pair)), 2) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in found.items() if ratio < 4.5} == {}
    edges = [contrast(colour("edge", is_dark=is_dark), colour(one, is_dark=is_dark)) for one in GROUNDS[:2]]
    assert min(edges) >= 3


def test_pages_use_the_tokens_only() -> None:
    """A colour written out would be the same in the dark."""
    for path in Path(servers.__file__).parents[1].rglob("static/**/*.css"):
        if path.name == "tokens.css":
            continue
        text = re.sub(r"box-shadow:[^;}]*", "", path.read_text(encoding="utf-8"))
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb\(", text) == [], path.name
        used, known = set(re.findall(r"var\(--([\w-]+)\)", text)), set(re.findall(r"--([\w-]+):", TOKENS))
        assert used <= known, path.name
