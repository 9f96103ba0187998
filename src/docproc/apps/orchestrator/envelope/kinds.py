"""The types of message, with their usual priorities (specification §3.1, §3.2)."""

from __future__ import annotations

from typing import Final

# §3.2: what each type is usually worth; 0 is the most urgent.
TYPICAL_PRIORITY: Final = {
    ("agent", "execute"): 3,
    ("agent", "status"): 2,
    ("workflow", "start"): 4,
    ("workflow", "step"): 5,
    ("tool", "execute"): 3,
    ("tool", "response"): 2,
    ("conversation", "update"): 6,
    ("system", "health"): 1,
    ("system", "metric"): 8,
}
DOMAINS: Final = ("agent", "workflow", "conversation", "tool", "system")
# §3.1 names these for any domain.
COMMON_ACTIONS: Final = ("execute", "update", "query", "notify")
ACTIONS: Final = tuple(dict.fromkeys((*COMMON_ACTIONS, *(action for _, action in TYPICAL_PRIORITY))))
# Of a type that §3.2 does not list; queries are RAG queries, §7.2.
OTHER_PRIORITY: Final = 5


def is_known(domain: str, action: str) -> bool:
    """The union of both lists: every domain with the common actions, and the pairs of the table."""
    return domain in DOMAINS and (action in COMMON_ACTIONS or (domain, action) in TYPICAL_PRIORITY)


def typical_priority(domain: str, action: str) -> int:
    return TYPICAL_PRIORITY.get((domain, action), OTHER_PRIORITY)


def actions_of(domain: str) -> list[str]:
    """What may follow a domain, for people who wrote something else."""
    return [action for action in ACTIONS if is_known(domain, action)]
