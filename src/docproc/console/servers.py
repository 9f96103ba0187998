"""The two servers with pages, put together: their routers, and the one frame around what they show."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fastapi import FastAPI

from docproc.alerts import alert_pages, letters, situation_page
from docproc.alerts import http as alerts
from docproc.alerts import pages as monitor
from docproc.alerts.traces import trace
from docproc.alerts.watcher import watch
from docproc.app import App
from docproc.application import Application, load
from docproc.console import inbox, request_page, saved_views, sessions
from docproc.engine.running.indexing import Indexer
from docproc.http.addresses import API, BACKOFFICE, Addresses
from docproc.http.app import create_app as create_api
from docproc.http.pages import Pages, Part
from docproc.people.station import pages as station_pages
from docproc.people.station.app import create_app as create_station
from docproc.people.store.claims import ROLES
from docproc.promotion.watching import watch as watch_promotions

_FOLDER = Path(__file__).parent

FRAME = Part(
    templates=_FOLDER / "templates",
    static=_FOLDER / "static" / "frame",
    static_path="/static/frame",
    texts=_FOLDER / "texts",
    navigation=(inbox.LINK,),
)


def gateway(application: App) -> FastAPI:
    """The API with the pages that applications have there. Raises ConfigurationError.

    One that has a page at `/` takes the place of the inbox.
    """
    app = create_api(application)
    if application.settings.auth == "on":
        sessions.register(app, application)
    applications = application.applications.all
    for one in applications:
        for path in one.views.api_pages:
            app.include_router(load(path))
    app.include_router(alerts.router)
    for part in (situation_page, alert_pages, letters, monitor):
        app.include_router(part.router)
    indexer = Indexer(application.store, application.applications.describers, application.worker_id)
    app.state.jobs += [
        partial(watch, application),
        partial(watch_promotions, application),
        partial(trace, application),
        indexer.run,
    ]
    for router in (inbox.router, saved_views.router, request_page.router):
        app.include_router(router)  # behind the others: the first route of a path answers
    # With authentication on, a session says which roles somebody has.
    everybody = ROLES if application.settings.auth == "off" else ()
    parts = [FRAME, station_pages.SHOWN_ELSEWHERE, monitor.PART, *map(_part, applications)]
    Pages(parts, Addresses(application.settings, API), everybody=everybody).add_to(app)
    return app


def station(application: App) -> FastAPI:
    """The review station with the pages that applications have there. Raises ConfigurationError."""
    app = create_station(application)
    applications = application.applications.all
    for one in applications:
        for path in one.views.station_pages:
            app.include_router(load(path))  # behind the station's gate, as all of it
    parts = [FRAME, station_pages.PART, *map(_part, applications)]
    Pages(parts, Addresses(application.settings, BACKOFFICE)).add_to(app)
    return app


def _part(application: Application) -> Part:
    views = application.views
    return Part(
        templates=views.templates,
        static=views.static,
        static_path=f"/static/{application.name}",
        texts=views.texts,
        navigation=views.navigation,
    )
