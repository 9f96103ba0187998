"""Scopes: what a key or token may be used for, and how routes say which one they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar


class Scope(StrEnum):
    """Each stands for itself: none includes another."""

    # Send files and requests, process them again, cancel them.
    SUBMIT = "submit"
    # Look at requests, their answers, events, pages and files.
    READ = "read"
    # Answer tasks at the review station, as an operator.
    REVIEW = "review"
    # Erase requests; at the review station, what supervisors and administrators may.
    ADMIN = "admin"


ALL_SCOPES = frozenset(Scope)
# Identity providers name scopes after what they are for: `docproc:read`.
_PREFIX = "docproc:"
_NAME = "_access_scope"

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class Open:
    """For everybody, whoever it is: `/health`, the way to sign in."""


OPEN = Open()


def needs(scope: Scope) -> Callable[[Endpoint], Endpoint]:
    """Say which scope an endpoint takes. One that says nothing is refused while authentication is on."""
    return _marked(scope)


def open_to_all(endpoint: Endpoint) -> Endpoint:
    """Say that an endpoint asks nobody who they are."""
    return _marked(OPEN)(endpoint)


def needed_by(endpoint: Any) -> Scope | Open | None:
    """What an endpoint said; None: nothing."""
    found: Scope | Open | None = getattr(endpoint, _NAME, None)
    return found


def known_scopes(said: Iterable[object]) -> frozenset[Scope]:
    """Those of them that mean something here."""
    plain = (str(one).removeprefix(_PREFIX) for one in said)
    return frozenset(Scope(one) for one in plain if one in Scope.__members__.values())


def _marked(what: Scope | Open) -> Callable[[Endpoint], Endpoint]:
    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _NAME, what)
        return endpoint

    return mark
