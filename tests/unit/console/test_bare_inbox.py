"""The home page where no application has one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from docproc.app import App
from docproc.console import servers
from docproc.engine.running.intake import Submission
from docproc.settings import Settings

FLOW = "name: flow\nstages: [{name: all, component: workflow_router}]\n"


@pytest.mark.parametrize(
    ("language", "empty", "status"), [("en", "no requests", "Received"), ("es", "no hay", "Recibida")]
)
def test_latest_requests_are_listed(tmp_path: Path, language: str, empty: str, status: str) -> None:
    (tmp_path / "flow.yaml").write_text(FLOW)
    settings = Settings.load(home=tmp_path / "home", workflows_dir=tmp_path, applications=(), _env_file=None)

    async def run() -> None:
        application = App(settings)
        await application.prepare_database()
        transport = httpx.ASGITransport(servers.gateway(application))
        async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
            assert empty in (await client.get("/", params={"lang": language})).text
            request_id = await application.intake.submit(Submission("flow"))
            shown = (await client.get("/", params={"lang": language})).text
            assert f"/inbox/{request_id}" in shown and status in shown
            assert (await client.post("/process")).status_code == 404  # documents are not loaded
        await application.close()

    asyncio.run(run())
