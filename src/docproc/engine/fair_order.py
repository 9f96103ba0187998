"""Fair order: whose turn it is where messages of several tenants wait for the same workers.

Start-time fair queueing: every tenant has a virtual time that its turns move forward, by one for each message
at weight 1, by a third at weight 3. Whoever is furthest behind is next. A tenant that had nothing to do
starts at the time of those that had, so that nobody saves up turns; one that is alone has every turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

LOWEST_BAND, HIGHEST_BAND = 0, 9
# So many tenants share a claim at most, in larger parts where there are more: each costs a statement.
MOST_SHARING = 8
# Of so many turns one is for what has waited too long behind more urgent bands.
AGING_EVERY = 16
# Nobody's weight makes a turn so small or so large that sums go wrong.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.001, 1000.0


@dataclass(frozen=True, slots=True)
class Group:
    """Messages of one tenant and one band that wait in a queue."""

    tenant_id: str
    band: int
    weight: float = 1.0
    # How long the one that is first among them has waited.
    waited_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Turn:
    """So many messages of a tenant may be taken now, of these bands."""

    tenant_id: str
    number: int
    lowest: int = LOWEST_BAND
    highest: int = HIGHEST_BAND
    is_aged: bool = False
    # Of a tenant that had less than its share of what a broker has.
    is_behind: bool = False


class FairOrder:
    """The turns at one queue, as one process gives them. It decides; the caller takes, and says how much.

    Each process shares what it can do itself fairly, so all together do, without a word between them.
    """

    def __init__(self, aging_seconds: float) -> None:
        self.aging_seconds = aging_seconds
        self._groups: list[Group] = []
        # The virtual time up to which a tenant has had its turns; those behind `_now` are as good as none.
        self._had: dict[str, float] = {}
        self._now = 0.0
        self._since_aged = 0

    def see(self, groups: Sequence[Group]) -> None:
        """What waits now."""
        self._groups = list(groups)
        self._had = {tenant: had for tenant, had in self._had.items() if had > self._now}

    @property
    def is_empty(self) -> bool:
        return not self._groups

    def turns(self, limit: int) -> list[Turn]:
        """Who may take how much of `limit` messages, the first one first; empty when nothing waits."""
        if not self._groups:
            return []
        top = max(group.band for group in self._groups)
        aged = self._aged(top, limit)
        if aged is not None:
            limit -= aged.number
        tenants = {group.tenant_id for group in self._groups}
        if len(tenants) == 1:
            shares = [Turn(tenants.pop(), limit)]
        else:
            shares = self._share([group for group in self._groups if group.band == top], limit)
        found = [aged, *shares] if aged is not None else shares
        return [turn for turn in found if turn.number > 0]

    def behind(self, released: Mapping[str, int]) -> list[Turn]:
        """Turns of those who wait and had less than their share of what was `released` to a broker lately.

        What the broker still has of it was released before they came, but nobody works on it yet: they go
        before it, until they have had their share.
        """
        if not self._groups:
            return []
        top = max(group.band for group in self._groups)
        waiting = sorted({group.tenant_id for group in self._groups if group.band == top})
        everybody = sum(self._weight(tenant) for tenant in {*waiting, *released})
        due = sum(released.values()) / everybody
        lags = {tenant: int(due * self._weight(tenant)) - released.get(tenant, 0) for tenant in waiting}
        return [Turn(t, lag, lowest=top, is_behind=True) for t, lag in lags.items() if lag > 0]

    def took(self, turn: Turn, number: int) -> None:
        """`number` messages were taken on a turn; fewer than it allowed: there are no more of that kind."""
        self._had[turn.tenant_id] = self.start_of(turn.tenant_id) + number / self._weight(turn.tenant_id)
        self._since_aged = 0 if turn.is_aged else self._since_aged + number
        if number < turn.number:
            self._groups = [group for group in self._groups if not _is_of(group, turn)]
        if self._groups:
            top = max(group.band for group in self._groups)
            waiting = [self.start_of(group.tenant_id) for group in self._groups if group.band == top]
            self._now = max(self._now, min(waiting))
        else:
            self._now = max(self._now, self._had[turn.tenant_id])

    def times(self, turn: Turn) -> Iterator[float]:
        """The virtual times of the messages of a turn, one by one; to be asked before they are taken."""
        return count(self.start_of(turn.tenant_id), 1 / self._weight(turn.tenant_id))

    def gave_back(self, tenant_id: str, number: int) -> None:
        """Messages were taken and not used."""
        had = self._had.get(tenant_id, self._now) - number / self._weight(tenant_id)
        self._had[tenant_id] = had
        self._now = min(self._now, had)  # else it would be charged all the same

    def start_of(self, tenant_id: str) -> float:
        """The virtual time of a tenant's next turn."""
        return max(self._had.get(tenant_id, 0.0), self._now)

    def _share(self, contenders: Sequence[Group], limit: int) -> list[Turn]:
        part = max(1, limit // MOST_SHARING)
        line = [(self.start_of(group.tenant_id), group.tenant_id) for group in contenders]
        heapq.heapify(line)
        numbers: dict[str, int] = {}
        while limit > 0:
            start, tenant = heapq.heappop(line)
            number = min(part, limit)
            limit -= number
            numbers[tenant] = numbers.get(tenant, 0) + number
            heapq.heappush(line, (start + number / self._weight(tenant), tenant))
        top = contenders[0].band
        return [Turn(tenant, number, lowest=top) for tenant, number in numbers.items()]

    def _aged(self, top: int, limit: int) -> Turn | None:
        """A share of the turns for the group below the most urgent band that has waited longest."""
        number = max(limit // AGING_EVERY, 1 if self._since_aged >= AGING_EVERY else 0)
        late = [g for g in self._groups if g.band < top and g.waited_seconds >= self.aging_seconds]
        if not number or not late:
            return None
        oldest = max(late, key=lambda group: group.waited_seconds)
        return Turn(oldest.tenant_id, number, oldest.band, oldest.band, is_aged=True)

    def _weight(self, tenant_id: str) -> float:
        weight = next((group.weight for group in self._groups if group.tenant_id == tenant_id), 1.0)
        return min(max(weight, _LEAST_WEIGHT), _MOST_WEIGHT)


def _is_of(group: Group, turn: Turn) -> bool:
    return group.tenant_id == turn.tenant_id and turn.lowest <= group.band <= turn.highest
