"""The contract of a door: a way for files to come in that is no HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from docproc.app import App
from docproc.doors.configuration import DoorSettings
from docproc.http.callbacks.sender import Posts
from docproc.http.reception import reception_of


class Door(ABC):
    """One way in. Every file goes through `Reception.take`, so what HTTP checks is checked here, too.

    A door promises its clients: nothing that is still on its way is processed; what was taken is not lost;
    what is sent twice under the same name is one request (`external_id` is the name, and the same content
    with the same reference and channel is the same request).
    """

    # What DOCPROC_COMPONENT_NAME says, and the `channel` of the requests that come in here.
    name: ClassVar[str]
    channel: ClassVar[str]

    def __init__(self, application: App) -> None:
        """Raises ConfigurationError where a setting cannot be used."""
        self.application = application
        self.settings = application.settings.section(DoorSettings)
        self.reception = reception_of(application)
        self.is_ready = False

    async def prepare(self) -> None:
        """Before it is run. Raises ConfigurationError where it never could be."""

    @abstractmethod
    async def run(self) -> None:
        """Until cancelled; begun again when it fails. Sets `is_ready` once files can come."""

    def poster(self) -> tuple[Posts, Sequence[str]] | None:
        """What delivers answers to where the files came from, and how the addresses begin that it serves."""
        return None
