"""Celery with Redis as broker and result backend: a chord of chains."""

from contextlib import AbstractContextManager

from bench.peers import redis_store
from bench.peers.celery_common import make_app, make_session
from bench.peers.session import Session

SERVERS = ("redis",)

app = make_app(redis_store.URL)


def session() -> AbstractContextManager[Session]:
    return make_session(app, __name__)
