"""When the joins of documents only count: then whoever sends a page or a document there counts it at once.

Every worker that sends to them asks this, so it imports neither of their components.
"""

from __future__ import annotations

from docproc.apps.documents.schemas import early_answer_of
from docproc.engine.message import PipelineMessage
from docproc.engine.workflow.definition import Stage, Workflow

# Stage option: a document goes to extraction as soon as its neighbours are known.
STAGGERED = "staggered"
# In the payload of a page that comes back from a person: {page index: whether a document begins there}.
SPLITS = "splits"
EXTRACTOR = "extractor"


def counts_pages(_flow: Workflow, join: Stage, page: PipelineMessage) -> bool:
    """Unless the join looks at each page: for documents that are final, or for what a person said of it."""
    return not join.options.get(STAGGERED) and SPLITS not in page.payload


def counts_documents(flow: Workflow, join: Stage, _document: PipelineMessage) -> bool:
    """Unless the join looks at each document: for an early answer, or for fields that it brings."""
    return early_answer_of(flow) is None and not may_differ(flow, join)


def may_differ(flow: Workflow, join: Stage) -> bool:
    """Whether documents come to the join from anywhere but the extractor, which writes its own."""
    names = [stage.name for stage in flow.stages]
    before = join.after or names[max(names.index(join.name) - 1, 0) : names.index(join.name)]
    return any(flow.stage(name).component != EXTRACTOR for name in before)
