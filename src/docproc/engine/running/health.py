"""The health server: `/health` while the process lives, `/ready` while it consumes, `/metrics`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from docproc.engine.running.serving import Server, configured

log = structlog.get_logger(__name__)


class HealthServer:
    """Serves until closed; a port that is taken is reported and the work goes on without it."""

    def __init__(
        self,
        host: str,
        port: int,
        is_ready: Callable[[], bool],
        shared_metrics: Path | None = None,
        may_measure: Callable[[Request], bool] = lambda _request: True,
    ) -> None:
        self.is_ready = is_ready
        self.may_measure = may_measure
        self.shared_metrics = shared_metrics
        routes = [
            Route("/health", self._health),
            Route("/ready", self._ready),
            Route("/metrics", self._metrics),
        ]
        config = configured(
            Starlette(routes=routes), host=host, port=port, lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = Server(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._serve(), name="health")

    async def _serve(self) -> None:
        try:
            await self._server.serve()
        except SystemExit:
            config = self._server.config
            log.warning(
                "health_port_taken", host=config.host, port=config.port, remedy="set DOCPROC_HEALTH_PORT"
            )

    async def close(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await self._task

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _ready(self, _request: Request) -> Response:
        ready = self.is_ready()
        return JSONResponse({"status": "ready" if ready else "not ready"}, status_code=200 if ready else 503)

    async def _metrics(self, request: Request) -> Response:
        if not self.may_measure(request):
            told = "set DOCPROC_METRICS_TOKEN and send it as Authorization: Bearer"
            return JSONResponse({"error": told}, status_code=403)
        registry = REGISTRY
        if self.shared_metrics is not None:  # a supervisor speaks for its children
            registry = CollectorRegistry()
            MultiProcessCollector(registry, path=str(self.shared_metrics))  # type: ignore[no-untyped-call] # untyped there
        # OpenMetrics, where it is asked for, has exemplars: which request a slow call belonged to.
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), media_type=content_type)
