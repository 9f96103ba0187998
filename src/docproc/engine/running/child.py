"""One child process: it is started, does one call at a time, and can be killed in the middle of it.

Each child has a pipe of its own. Pools whose children share a pipe and its locks break whole when one of them
is killed holding a lock, or in the middle of a word.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, NoReturn, Self

import structlog

from docproc.engine.running import confinement
from docproc.errors import ChildDiedError, ProcessingError

if TYPE_CHECKING:
    from docproc.settings import Settings

log = structlog.get_logger(__name__)

# Not fork: this process has threads and sockets a child must not inherit.
_SPAWN = multiprocessing.get_context("spawn")
# Heavy work waits for light work: routing, joins and above all answering by the deadline.
NICENESS = 10
# What is said, besides calls and their answers.
_READY, _NEXT, _BEGUN = b"ready", b"next", b"begun"
# Loading models takes seconds; a child that takes this long will never be ready.
START_SECONDS = 120.0
# An idle child answers at once, unless somebody stopped it.
BEGIN_SECONDS = 20.0
_STOPS = (signal.SIGINT, signal.SIGTERM)
_KILLED_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class NotBegunError(Exception):
    """The child was gone before it took the call: nothing of it was done."""


class ChildTraceback(Exception):
    """Where in the child an error was raised; shown as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Child:
    """A child process as its parent sees it. Used by one thread; only `kill` may be called by others."""

    def __init__(self, prepare: Callable[[], object]) -> None:
        """Start it. It calls `prepare` before its first call; raises what keeps it from being started."""
        resource_tracker.ensure_running()  # else the first start starts it, and unblocks signals then
        self._pipe, theirs = _SPAWN.Pipe()
        try:
            # A daemon: should nobody end it, the interpreter's end does, instead of waiting for it.
            self._process = _SPAWN.Process(
                target=_live, args=(theirs, prepare, os.getpid()), name="docproc-child", daemon=True
            )
            with _unstopped():
                self._process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            theirs.close()  # the child holds the only other end: its death is the pipe's

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def sentinel(self) -> int:
        """Becomes readable when the child ends."""
        return self._process.sentinel

    def wait_until_ready(self) -> None:
        """Raises ChildDiedError when it does not come to it."""
        with contextlib.suppress(EOFError, OSError):
            if self._pipe.poll(START_SECONDS) and self._pipe.recv_bytes() == _READY:
                return
        self.kill()
        raise ChildDiedError(f"a child process did not start (exit code {self.exit_code()})")

    def call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """What the function returns there, or raises; ChildDiedError when the child dies of it.

        Raises NotBegunError when the child was gone before it began.
        """
        name = getattr(function, "__name__", str(function))
        call = bytes(ForkingPickler.dumps((function, args)))  # the caller's mistake when that fails
        self._begin()
        try:
            self._pipe.send_bytes(call)
            answer = self._pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise ChildDiedError(
                f"the child process running {name} died (exit code {self.exit_code()})"
            ) from error
        return _understood(name, answer)

    def _begin(self) -> None:
        """Ask before anything is handed over: it may have died or been stopped since its last call."""
        with contextlib.suppress(EOFError, OSError):
            self._pipe.send_bytes(_NEXT)
            if self._pipe.poll(BEGIN_SECONDS) and self._pipe.recv_bytes() == _BEGUN:
                return
        self.kill()
        raise NotBegunError(f"exit code {self.exit_code()}")

    def kill(self) -> None:
        """At once; nothing it does needs an orderly end."""
        self._process.kill()

    def exit_code(self) -> int | None:
        """Of a child that has ended or is about to."""
        self._process.join(5)
        return self._process.exitcode

    def end(self) -> None:
        self.kill()
        self.exit_code()
        self._pipe.close()
        with contextlib.suppress(ValueError):  # it cannot die, stuck in the kernel: left to init
            self._process.close()


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """What is started herein hears no Ctrl-C before it is loaded, which would end in a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _understood(name: str, answer: bytes) -> Any:
    """An answer's value, or its error raised; what cannot be read is the fault of that call alone."""
    try:
        error, told, value = pickle.loads(answer)
    except Exception as problem:  # pickles call whatever they name
        raise ProcessingError(f"what {name} returned cannot be read: {_described(problem)}") from problem
    if error is None:
        return value
    with contextlib.suppress(AttributeError):  # an error may be frozen
        error.__cause__ = ChildTraceback(told)
    raise error


# --- in the child ---------------------------------------------------------------------------------------


def _live(pipe: Connection, prepare: Callable[[], object], parent: int) -> NoReturn:
    """A child's life: until its parent closes the pipe, ends, or kills it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whoever ends the whole group means the parent, which lets work finish. Not SIG_IGN, which programs
    # started from here would inherit.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    _die_with(parent)
    code = 1
    try:
        prepare()
        pipe.send_bytes(_READY)
        while pipe.recv_bytes() == _NEXT:
            # Before the call is read: it may be too much for this child's memory, and that is its own fault.
            pipe.send_bytes(_BEGUN)
            pipe.send_bytes(_answer(pipe.recv_bytes()))
    except (EOFError, OSError):
        code = 0
    except BaseException:  # noqa: BLE001 # the process's end
        traceback.print_exc()
    finally:
        # Not through the interpreter's end, where native libraries complain of what they still hold.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take, and whether it may reach the network."""

    memory_mb: int = 4096
    # Of one call; None: as much as it takes, for what this machine's own user asked for.
    cpu_seconds: float | None = None
    has_network: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """For files that strangers sent."""
        return cls(settings.child_memory_mb, settings.child_cpu_seconds, settings.child_network == "on")


# Of this child; None in the parent.
_limits: Limits | None = None


def prepare(limits: Limits, first: Sequence[Callable[[], object]]) -> None:
    """In a new child: its place behind others, its limits, and what it should have loaded already."""
    global _limits
    _limits = limits
    os.nice(NICENESS)
    limit = limits.memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one of a document is the document
    if not limits.has_network and (problem := confinement.cut_network()):
        log.warning("child_has_network", problem=problem)
    for load in first:
        with contextlib.suppress(Exception):  # told by the task that needs it; a child must start
            load()


def _die_with(parent: int) -> None:
    """Even in the middle of native code, which would never notice that nobody waits for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_KILLED_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


def _answer(call: bytes) -> bytes:
    if _limits is not None and _limits.cpu_seconds is not None:
        confinement.allow_cpu(_limits.cpu_seconds)
    try:
        function, args = pickle.loads(call)
        answer = (None, "", function(*args))
    except BaseException as error:  # noqa: BLE001 # it is the caller's
        return _error_answer(error)
    try:
        return bytes(ForkingPickler.dumps(answer))
    except Exception as error:  # noqa: BLE001 # pickling calls whatever there is to call
        return _error_answer(error)


def _error_answer(error: BaseException) -> bytes:
    """The error as it is, if it survives the journey; one that ends processes must not end the parent."""
    told = traceback.format_exc()
    if isinstance(error, Exception) and not isinstance(error, StopIteration | StopAsyncIteration):
        try:
            packed = bytes(ForkingPickler.dumps((error, told, None)))
            pickle.loads(packed)
            return packed
        except Exception:  # noqa: BLE001 # it takes other arguments than it keeps, or holds what cannot travel
            pass
    return bytes(ForkingPickler.dumps((ProcessingError(_described(error)), told, None)))


def _described(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
