"""The contract of a kind of task, how it is shown, read, applied and compared; and the kinds there are.

The desk and the station's pages know tasks as rows; what a task asks and what an answer changes is its
kind's. An application names its kinds in its manifest by the type of task they stand for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.application import ImportPath, load
from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.workflow.definition import Workflow
from docproc.errors import ConfigurationError
from docproc.people.audit import Change, Rate
from docproc.people.availability import DEFAULT_SECONDS

# A text in each language of the station: {"en": "Weight", "es": "Peso"}.
Words = Mapping[str, str]


# In the input of a task whose answer was taken back: what had been said.
EARLIER = "earlier"


class Answer(Protocol):
    """What a person said, read and checked."""

    def output(self) -> dict[str, Any]:
        """As JSON, for the task's `output_data`."""


Said = TypeVar("Said", bound=Answer)


@dataclass(frozen=True, slots=True)
class Listed:
    """A task in the list, in the language of whoever looks."""

    label: str  # what is to be done
    about: str = ""  # what it is probably about
    detail: str = ""  # said quietly after it
    place: str = ""  # said quietly after the name of the file
    together: str = ""  # where all such tasks of its request are answered on one page


@dataclass(frozen=True, slots=True)
class Shown:
    """The page of a task: a template that extends `work.html`, and what it needs.

    Templates of all applications are found together: a folder of the application's name in its own one
    keeps them apart, as in "parcels/weight.html".
    """

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    # What the template's script says beyond the words of every task page, by key.
    script_texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sitting:
    """A person at a task."""

    application: App
    task: BackofficeTask
    operator: Operator
    language: str
    flow: Workflow  # as it was when the request came


def asked(task: BackofficeTask) -> dict[str, Any]:
    """What the person needs to know."""
    return task.input_data or {}


def message_of(task: BackofficeTask) -> PipelineMessage:
    """What waits for the answer, to go on from its stage."""
    return PipelineMessage.parse(task.message or "")


@dataclass(frozen=True, slots=True)
class Again:
    """What the task's stage is to handle once more, as the person left it, instead of going on from there."""

    message: PipelineMessage


class TaskKind(ABC, Generic[Said]):
    """What the back office must know of one type of task.

    Made once per process, without arguments, and asked by many at once: it keeps no state of its own. The
    skill a task takes is its type.
    """

    # What a task of this kind, and the skill it takes, is called.
    title: ClassVar[Words]
    # How long an answer takes where nobody has experience with it.
    usual_seconds: ClassVar[float] = DEFAULT_SECONDS
    # What its fields are called, where the audit and the pages speak of them.
    names: ClassVar[Mapping[str, Words]] = {}

    # --- shown ------------------------------------------------------------------------------------------

    @abstractmethod
    def listed(self, task: BackofficeTask, language: str) -> Listed:
        """Its line in the list. For up to fifty tasks at once, each time the list changes; reads nothing."""

    @abstractmethod
    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        """Its page, when the holder opens it; `session` reads, no transaction is open."""

    def name_of(self, what: str, language: str) -> str | None:
        """What a change, a problem or a field is called; None: it is none of this kind's."""
        known = self.names.get(what)
        return known.get(language) if known else None

    def say(self, what: str, value: Any, language: str) -> str | None:
        """What somebody said of `what`, in words; None: as it is written."""
        return None

    # --- answered ---------------------------------------------------------------------------------------

    def takes(self) -> Mapping[str, str]:
        """The JSON type of each part of an answer, for the description of the API."""
        return {}

    @abstractmethod
    def read(self, said: Mapping[str, Any], sitting: Sitting) -> Said:
        """What the holder sent, checked: a JSON object, or a form, of which all values are texts.

        Before any transaction; may be called again with the same. Raises InvalidAnswerError with the
        problems by field: the task stays the holder's.
        """

    async def prepare(self, sitting: Sitting, answer: Said) -> Any:
        """What is computed or read before the transaction, for `keep`; it may take its time."""
        return None

    async def keep(self, session: AsyncSession, task: BackofficeTask, prepared: Any) -> None:
        """Record what the person said, such as labels to learn from, whether or not it changes anything.

        In the transaction that ends the task. Not called for a second reading.
        """

    @abstractmethod
    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: Said
    ) -> PipelineMessage | Again | None:
        """Let an answer stand; returns what goes on from the task's stage, or what that stage handles again;
        None: nothing does.

        In the transaction that ends the task: once per task, only writing. It is rolled back and called
        again after passing trouble of the database.
        """

    async def give_up(self, session: AsyncSession, task: BackofficeTask) -> PipelineMessage | None:
        """Nobody can answer it; what the machine had found goes on. In the transaction that ends the task."""
        return message_of(task)

    # --- taken back -------------------------------------------------------------------------------------

    async def may_take_back(self, session: AsyncSession, task: BackofficeTask) -> bool:
        """Whether whoever answered may be asked again: what the task is about is still there."""
        return True

    def asked_again(self, task: BackofficeTask) -> dict[str, Any]:
        """What is asked when an answer was taken back; what had been said stands beside it."""
        return dict(asked(task))

    async def take_back(self, session: AsyncSession, task: BackofficeTask) -> None:
        """Forget what `keep` recorded. What `apply` did stands until the person answers again."""

    # --- looked back on ---------------------------------------------------------------------------------

    @abstractmethod
    def changes(self, task: BackofficeTask, answer: Said) -> list[Change]:
        """What the machine had said, and what the person said, also where they agree: for the audit."""

    async def overrides(self, session: AsyncSession, tenant_id: str, since: datetime) -> list[Rate]:
        """How often people changed what the machine had said, for supervisors; `session` reads."""
        return []

    # --- read by a second person ------------------------------------------------------------------------

    @abstractmethod
    def meant(self, task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
        """What an answer (its `output()`, as it was kept) comes to, by field."""

    def spoken_of(self, task: BackofficeTask, answer: Said) -> list[str]:
        """The fields that an answer decides."""
        return list(self.meant(task, answer.output()))

    def is_same(self, task: BackofficeTask, name: str, one: Any, other: Any) -> bool:
        """Whether two readers meant the same by what they said of a field."""
        return bool(one == other)

    def read_again(
        self, task: BackofficeTask, answer: Said, fields: Collection[str], *, is_sampled: bool
    ) -> list[str] | None:
        """What a second person is asked about: fields, empty for the question as it is; None: nothing.

        `fields` are to be read twice whenever somebody decides them, and `is_sampled` answers as a whole.
        """
        is_touched = any(name in fields for name in self.spoken_of(task, answer))
        return [] if is_sampled or is_touched else None


class TaskKinds:
    """The kinds by type of task, each imported when a task of it is first met."""

    def __init__(self, paths: Mapping[str, ImportPath]) -> None:
        """Of type -> "module:object": a TaskKind, or a class of one that is made without arguments."""
        self._paths = dict(paths)
        self._loaded: dict[str, TaskKind[Any]] = {}

    @classmethod
    def of(cls, application: App) -> TaskKinds:
        """Those of the applications that this process loads."""
        return cls(application.applications.task_kinds)

    @property
    def skills(self) -> tuple[str, ...]:
        """What people can be good at: the types of tasks there are."""
        return tuple(sorted(self._paths))

    def __contains__(self, task_type: str) -> bool:
        return task_type in self._paths

    def __iter__(self) -> Iterator[TaskKind[Any]]:
        return (self[task_type] for task_type in self.skills)

    def __getitem__(self, task_type: str) -> TaskKind[Any]:
        """Raises ConfigurationError where no application of this process knows the type."""
        if task_type not in self._loaded:
            self._loaded[task_type] = self._load(task_type)
        return self._loaded[task_type]

    def check(self, task_type: str) -> None:
        """Raises ConfigurationError where no application of this process knows the type."""
        if task_type not in self._paths:
            raise ConfigurationError(
                f"no application here has tasks of the type {task_type!r}",
                remedy=f"Install the application, or name it in DOCPROC_APPLICATIONS; "
                f"known: {', '.join(self.skills) or 'none'}",
            )

    def _load(self, task_type: str) -> TaskKind[Any]:
        self.check(task_type)
        found = load(self._paths[task_type])
        kind = found() if isinstance(found, type) and issubclass(found, TaskKind) else found
        if not isinstance(kind, TaskKind):
            raise ConfigurationError(
                f"{self._paths[task_type]!r} is not a TaskKind",
                remedy="Derive it from docproc.people.kinds.TaskKind, or docproc.people.forms.FormKind",
            )
        return kind

    # --- words and numbers, also of types that nobody here knows ----------------------------------------

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        if task.task_type not in self:
            return Listed(plain(task.task_type))
        return self[task.task_type].listed(task, language)

    def skill_name(self, skill: str, language: str) -> str:
        return self[skill].title[language] if skill in self else skill

    def usual_seconds(self, task_type: str) -> float:
        return self[task_type].usual_seconds if task_type in self else DEFAULT_SECONDS

    def name_of(self, what: str, language: str) -> str:
        """What somebody calls it, else as it is written."""
        names = (kind.name_of(what, language) for kind in self)
        return next((name for name in names if name is not None), plain(what))

    def say(self, what: str, value: Any, language: str) -> str | None:
        words = (kind.say(what, value, language) for kind in self)
        return next((word for word in words if word is not None), None)

    async def overrides(self, session: AsyncSession, tenant_id: str, since: datetime) -> Sequence[Rate]:
        """Of all kinds, the most often first."""
        found = [rate for kind in self for rate in await kind.overrides(session, tenant_id, since)]
        return sorted(found, key=lambda rate: (-rate.percent, -rate.number, rate.of, rate.what))


def plain(name: str) -> str:
    """A name that nobody translated."""
    return name.replace("_", " ")
