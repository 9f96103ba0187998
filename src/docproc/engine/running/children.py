"""Children: child processes that share the work, each looked after by a thread of its own.

A child that dies takes only its own call with it, and another one is started at once. No event of one child
touches the others.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Pipe, wait
from typing import Any

import prometheus_client
import structlog

from docproc.engine.running.child import Child, NotBegunError
from docproc.errors import ChildDiedError, NoChildError

log = structlog.get_logger(__name__)

# Between attempts to start a child, doubled each time.
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0
_ENDING = "the process is about to end"

LOST = prometheus_client.Counter(
    "docproc_children_lost", "Child processes that died, by what they were doing", ["doing"]
)


@dataclass(eq=False, slots=True)
class Call:
    """Something for a child to do; `future` gets what comes of it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)
    # Who works on it now.
    child: Child | None = None
    is_cancelled: bool = False

    def begins(self) -> bool:
        """False when nobody waits for it any more. One that was given back has begun before."""
        return self.future.running() or self.future.set_running_or_notify_cancel()


class Children:
    """At most `limit` of them, started when there is work, or all in the beginning with `at_once`."""

    def __init__(self, limit: int, prepare: Callable[[], object], *, at_once: bool = False) -> None:
        self.limit = limit
        self.prepare = prepare
        self.at_once = at_once
        self.lock = threading.Lock()
        self.is_closed = False
        self._waiting: deque[Call] = deque()
        self._keepers: list[Keeper] = []
        self._failed = False  # the last attempt to start a child
        # Done when all that are started in the beginning are ready, or one of them cannot be started.
        self.settled: Future[None] = Future()
        self._owner = os.getpid()
        atexit.register(self._close_at_exit)
        if at_once:
            with self.lock:
                self._find_somebody()

    @property
    def can_work(self) -> bool:
        """False while no child lives and none can be started."""
        with self.lock:
            return not self._failed or self._anybody

    @property
    def _anybody(self) -> bool:
        return any(keeper.is_serving for keeper in self._keepers)

    def submit(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Call:
        """Raises NoChildError when the machine has not even a thread left to look after a child."""
        call = Call(function, args)
        with self.lock:
            if self.is_closed:
                raise NoChildError(_ENDING)
            self._waiting.append(call)
            self._find_somebody()
        return call

    def cancel(self, call: Call) -> None:
        """Whatever works on it is killed: native code ends in no other way."""
        with self.lock:
            call.is_cancelled = True
            if call.child is not None:
                call.child.kill()

    def close(self) -> None:
        """Kill all of them; what was not begun gets NoChildError."""
        with self.lock:
            self.is_closed = True
            waiting = self._put_off()
            for keeper in self._keepers:
                if keeper.child is not None:
                    keeper.child.kill()
                keeper.ring()
        _refuse(waiting, _ENDING)
        for keeper in self._keepers:
            keeper.join(10)
        atexit.unregister(self._close_at_exit)

    def _close_at_exit(self) -> None:
        if os.getpid() == self._owner:  # a fork has these handlers, too, and no children
            self.close()

    def _find_somebody(self) -> None:
        """Under the lock, for the work that waits: somebody idle, else somebody new."""
        idle = next((keeper for keeper in self._keepers if keeper.is_idle), None)
        if idle is not None:
            idle.is_idle = False
            idle.ring()
            return
        starting = sum(not keeper.is_serving for keeper in self._keepers)
        while len(self._keepers) < self.limit and (self.at_once or starting < len(self._waiting)):
            try:
                keeper = Keeper(self)
                keeper.start()
            except (OSError, RuntimeError) as error:  # no descriptor or no thread to be had
                if self._keepers:
                    return
                self._waiting.clear()
                self._failed = True
                raise NoChildError(f"no child process can be started: {error}", delay=FIRST_PAUSE) from error
            self._keepers.append(keeper)
            starting += 1

    def _settle(self) -> None:
        if not self.settled.done():
            self.settled.set_result(None)

    def _put_off(self) -> list[Call]:
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    # --- for the keepers ---

    def take(self, keeper: Keeper) -> Call | None:
        """The next call, now its child's; None when nothing waits, and the keeper is idle."""
        with self.lock:
            while self._waiting:
                call = self._waiting.popleft()
                if not call.is_cancelled and call.begins():
                    call.child = keeper.child
                    return call
            keeper.is_idle = True
            return None

    def done(self, call: Call) -> bool:
        """Nobody works on it any more; False when it was cancelled, and its child killed."""
        with self.lock:
            call.child = None
            return not call.is_cancelled

    def give_back(self, call: Call) -> None:
        """It was not begun: the next child takes it, before all others."""
        with self.lock:
            call.child = None
            if not self.is_closed:
                self._waiting.appendleft(call)
                return
        _refuse([call], _ENDING)

    def hired(self, keeper: Keeper, child: Child) -> None:
        """Known from its first moment on, so that it can be ended."""
        with self.lock:
            keeper.child = child
            if self.is_closed:
                child.kill()

    def ready(self, keeper: Keeper) -> None:
        with self.lock:
            keeper.is_serving = True
            self._failed = False
            if len(self._keepers) == self.limit and all(one.is_serving for one in self._keepers):
                self._settle()

    def gone(self, keeper: Keeper) -> None:
        """Its child is; what waited for it may find another one."""
        with self.lock:
            keeper.child, keeper.is_serving, keeper.is_idle = None, False, False
            if self._waiting:
                self._find_somebody()

    def start_failed(self, problem: str, pause: float) -> None:
        """Nobody waits for a child that may never come: where there is no other one, the work is put off."""
        with self.lock:
            self._failed = True
            self._settle()
            waiting = [] if self._anybody else self._put_off()
        _refuse(waiting, f"no child process can be started: {problem}", delay=pause)


def _refuse(calls: list[Call], problem: str, *, delay: float | None = None) -> None:
    for call in calls:
        if call.begins():
            call.future.set_exception(NoChildError(problem, delay=delay))


class Keeper(threading.Thread):
    """Keeps one child: starts it, gives it work, and replaces it when it dies, at work or idle."""

    def __init__(self, children: Children) -> None:
        super().__init__(name="keeper", daemon=True)
        self.children = children
        # Changed under the lock of `children` only.
        self.child: Child | None = None
        self.is_serving = False
        self.is_idle = False
        self._bell, self._button = Pipe(duplex=False)

    def ring(self) -> None:
        """There is work, or it is the end."""
        self._button.send_bytes(b"!")

    def run(self) -> None:
        pause = FIRST_PAUSE
        while not self.children.is_closed:
            problem = self._keep_one()
            if problem is None:
                pause = FIRST_PAUSE
                continue
            if self.children.is_closed:
                return
            _lost("starting", problem=problem, again_in_s=pause)
            self.children.start_failed(problem, pause)
            self._listen(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _keep_one(self) -> str | None:
        """One child from its start to its end; what kept it from starting, if something did."""
        child = None
        try:
            child = Child(self.children.prepare)
            self.children.hired(self, child)
            child.wait_until_ready()
        except Exception as error:  # noqa: BLE001 # this thread must go on, whatever cannot be started
            return str(error) or type(error).__name__
        else:
            self.children.ready(self)
            self._work(child)
            return None
        finally:
            self.children.gone(self)
            if child is not None:
                child.end()

    def _work(self, child: Child) -> None:
        """Until the child is gone."""
        while not self.children.is_closed:
            call = self.children.take(self)
            if call is not None:
                if not self._carry_out(child, call):
                    return
            elif not self._listen(child=child):
                if not self.children.is_closed:
                    _lost("idle", pid=child.pid, exit_code=child.exit_code())
                return

    def _listen(self, seconds: float | None = None, child: Child | None = None) -> bool:
        """Wait for the bell; False when the child ended meanwhile."""
        ended = [child.sentinel] if child is not None else []
        happened = wait([self._bell, *ended], seconds)
        if self._bell in happened:
            self._bell.recv_bytes()
        return not any(each in happened for each in ended)

    def _carry_out(self, child: Child, call: Call) -> bool:
        """False when it cost the child's life, or the child's death came before it."""
        value, problem = None, None
        try:
            value = child.call(call.function, call.args)
        except NotBegunError as error:
            self.children.give_back(call)
            _lost("idle", pid=child.pid, problem=str(error))
            return False
        except Exception as error:  # noqa: BLE001 # it is the caller's
            problem = error
        wanted = self.children.done(call)
        if problem is None:
            call.future.set_result(value)
        else:
            call.future.set_exception(problem)
        died = isinstance(problem, ChildDiedError)
        if died and wanted and not self.children.is_closed:
            _lost("working", pid=child.pid, problem=str(problem))
        return wanted and not died


def _lost(doing: str, **facts: Any) -> None:
    LOST.labels(doing).inc()
    log.warning("child_lost", doing=doing, **facts)
