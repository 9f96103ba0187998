"""Documents in the console, on the server's side: nothing unescaped, and what the intake's script says."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from docproc.app import App
from docproc.apps.documents.application import application as documents
from docproc.apps.documents.http import console
from docproc.console import servers
from docproc.engine.store import migrate
from docproc.settings import Settings

assert documents.views.static
STATIC = documents.views.static


def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, workflows: list[str]) -> str:
    """The inbox with workflows of these names."""
    monkeypatch.setattr(console, "_workflow_names", lambda application, tenant_id: workflows)
    application = App(Settings.load(home=tmp_path, _env_file=None))

    async def get() -> str:
        await migrate.upgrade(application.store, application.applications.migrations)
        transport = httpx.ASGITransport(servers.gateway(application))
        async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
            found = (await client.get("/", params={"lang": language})).text
        await application.close()
        return found

    return asyncio.run(get())


def test_page_has_no_inline_script_and_escapes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    html = shown(tmp_path, monkeypatch, "es", ["<b>x</b>"])
    assert "<b>x" not in html and "&lt;b&gt;x" in html
    assert re.findall(r'<script type="module" src="([^"]+)"></script>', html) == [
        "/static/frame/zone.js", "/static/frame/inbox.js", "/static/documents/intake.js",
    ]  # fmt: skip
    assert html.count("<script") == 3 and "style=" not in html and "onclick" not in html
    assert '<html lang="es">' in html


def test_script_is_given_every_text_it_says() -> None:
    said = set(re.findall(r"\btexts\.(\w+)", (STATIC / "intake.js").read_text(encoding="utf-8")))
    assert said == set(console.SCRIPT_TEXTS)


@pytest.mark.parametrize(
    ("types", "spanish", "english"),
    [
        ({"invoice": 3, "id_card": 1}, "3 facturas, 1 documento de identidad", "3 invoices, 1 identity card"),
        ({"invoice": 1, "hipoteca": 2}, "1 factura, 2 × hipoteca", "1 invoice, 2 × hipoteca"),
        (
            {"invoice": 1, "receipt": 1, "payslip": 4, "other": 1},
            "1 factura, 1 tique, 5 más",
            "1 invoice, 1 receipt, 5 others",
        ),
        ({}, "", ""),
    ],
)  # fmt: skip
def test_types_are_counted_as_people_count(types: dict[str, int], spanish: str, english: str) -> None:
    assert console.types_told(types, "es") == spanish
    assert console.types_told(types, "en") == english
