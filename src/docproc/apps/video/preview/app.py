"""The preview's pages: Flask, reading the folder that server and workers share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request, send_file
from werkzeug.exceptions import HTTPException

from docproc.apps.video.frames.files import FrameFiles
from docproc.apps.video.preview import pictures
from docproc.apps.video.preview.following import events, listing, status_of
from docproc.apps.video.sessions import Session, Sessions
from docproc.texts import LANGUAGES, Catalogue, choose_language

HERE = Path(__file__).parent
# The console's colours, as a file: the console itself stands above applications.
TOKENS = HERE.parents[2] / "console/static/frame/tokens.css"
LANGUAGE_COOKIE = "docproc_language"
MOST_STREAMS = 24
WIDEST = 1920
POLICY = "default-src 'self'; img-src 'self' data:; media-src 'self'; style-src 'self'; script-src 'self'"

pages = Blueprint("preview", __name__)


class Place:
    """What all pages share."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.texts = Catalogue(HERE / "texts")
        self.originals = pictures.OriginalFrames()
        self.streams = threading.BoundedSemaphore(MOST_STREAMS)


def create_app(sessions: Sessions, trusted_hosts: list[str] | None = None) -> Flask:
    app = Flask("docproc.apps.video.preview", root_path=str(HERE))
    app.config["TRUSTED_HOSTS"] = trusted_hosts
    app.extensions["preview"] = Place(sessions)
    app.register_blueprint(pages)
    app.register_error_handler(HTTPException, _refused)
    app.after_request(_guarded)
    return app


def _place() -> Place:
    place: Place = current_app.extensions["preview"]
    return place


def _session(said: str) -> Session:
    """What is no id of a session is not there: no text from outside becomes a path."""
    session = _place().sessions.find(said)
    if session is None:
        abort(404, "there is no such session")
    return session


def _refused(error: HTTPException) -> Response:
    answer = jsonify(
        error={"code": (error.name or "error").lower().replace(" ", "_"), "message": error.description}
    )
    answer.status_code = error.code or 500
    return answer


def _guarded(answer: Response) -> Response:
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Referrer-Policy"] = "same-origin"
    return answer


@pages.get("/")
@pages.get("/session/<said>")
def page(said: str | None = None) -> Response:
    session = _session(said) if said else None
    wanted = request.args.get("lang") or request.cookies.get(LANGUAGE_COOKIE)
    language = choose_language(wanted, request.headers.get("Accept-Language", ""))
    texts = _place().texts
    answer = Response(
        render_template(
            "preview.html",
            t=lambda key: texts.text(language, key),
            language=language,
            languages=LANGUAGES,
            chosen=str(session.session_id) if session else "",
            said=lambda *keys: {key: texts.raw(language, key) for key in keys},
            beginning=partial(texts.beginning, language),
        )
    )
    answer.headers["Content-Language"] = language
    if request.args.get("lang") in LANGUAGES:
        answer.set_cookie(LANGUAGE_COOKIE, language, max_age=31_536_000, samesite="Lax")
    return answer


@pages.get("/tokens.css")
def tokens() -> Response:
    return send_file(TOKENS, mimetype="text/css", conditional=True)


@pages.get("/health")
def health() -> Response:
    return jsonify(status="ok")


@pages.get("/sessions")
def sessions() -> Response:
    return jsonify(sessions=listing(_place().sessions))


@pages.get("/session/<said>/status")
def status(said: str) -> Response:
    return _fresh(jsonify(status_of(_session(said))))


@pages.get("/session/<said>/stream")
def stream(said: str) -> Response:
    session, streams = _session(said), _place().streams
    if not streams.acquire(blocking=False):
        abort(503, "too many browsers follow films at once")

    def told() -> Iterator[str]:
        try:
            yield from events(session)
        finally:
            streams.release()

    answer = Response(told(), mimetype="text/event-stream")
    answer.headers["X-Accel-Buffering"] = "no"
    return _fresh(answer)


@pages.get("/session/<said>/preview.gif")
def gif(said: str) -> Response:
    session = _session(said)
    made = pictures.summary(session, int(status_of(session)["frames_processed"]))
    return _fresh(Response(made or abort(404, "no frame is done yet"), mimetype="image/gif"))


@pages.get("/session/<said>/frame/<int:index>")
def frame(said: str, index: int) -> Response:
    """The frame as the worker wrote it; `?width=` makes a small JPEG of it. Of a frame that could not be
    filtered, the original, which is in the film."""
    session, width = _session(said), _width()
    if FrameFiles(session.frames).failure(index).is_file():
        return _picture(_place().originals.jpeg(session, index, width))
    if width is None:
        path = FrameFiles(session.frames).png(index)
        return send_file(path, mimetype="image/png", conditional=True) if path.is_file() else _no_frame()
    return _picture(pictures.filtered(session, index, width))


@pages.get("/session/<said>/original/<int:index>")
def original(said: str, index: int) -> Response:
    return _picture(_place().originals.jpeg(_session(said), index, _width()))


@pages.get("/session/<said>/output.mp4")
def output(said: str) -> Response:
    session = _session(said)
    if not session.output.is_file():
        abort(404, "the film is not made yet")
    name = Path(str(status_of(session)["filename"])).stem or "film"
    loads = "download" in request.args
    answer = send_file(
        session.output,
        mimetype="video/mp4",
        conditional=True,
        as_attachment=loads,
        download_name=f"{name}.mp4",
    )
    return answer


def _width() -> int | None:
    given = request.args.get("width", type=int)
    return None if given is None else max(16, min(WIDEST, given))


def _picture(made: bytes | None) -> Response:
    return Response(made, mimetype="image/jpeg") if made is not None else _no_frame()


def _no_frame() -> Any:
    return abort(404, "this frame is not there (yet)")


def _fresh(answer: Response) -> Response:
    answer.headers["Cache-Control"] = "no-store"
    return answer
