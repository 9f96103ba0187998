"""Celery with RabbitMQ as broker and Redis as result backend: a chord of chains."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.peers import servers
from bench.peers.celery_common import make_app, make_session
from bench.peers.session import Session

SERVERS = ("rabbitmq", "redis")

app = make_app(servers.RABBITMQ_URL)


@contextmanager
def session() -> Iterator[Session]:
    with servers.rabbitmq_vhost(), make_session(app, __name__) as made:
        yield made
