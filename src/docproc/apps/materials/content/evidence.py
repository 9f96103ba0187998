"""Evidence: the words of the source that a statement rests on, and how they are found again on their page."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.wording import normal


class Evidence(BaseModel):
    """A quotation, word by word, and the page (from 1) it stands on."""

    model_config = ConfigDict(extra="forbid")

    quote: str = Field(min_length=1, max_length=1000)
    page: int = Field(ge=1)


def is_found(source: SourceText, evidence: Evidence) -> bool:
    """Whether the quotation stands on its page, or begins there and ends on the next one."""
    page, following = evidence.page, evidence.page + 1
    quote = normal(evidence.quote)
    if quote in source.normal_page(page):
        return True
    across = normal(f"{source.page_text(page)}\n{source.page_text(following)}")
    return quote in across and quote not in source.normal_page(following)


def locate(source: SourceText, quote: str) -> Evidence | None:
    """The quotation with the first page it stands on: for an author that quotes but miscounts pages."""
    wanted = normal(quote)
    whole = next((page.number for page in source.pages if wanted in source.normal_page(page.number)), None)
    pages = [whole] if whole else [page.number for page in source.pages]
    found = (Evidence(quote=quote, page=number) for number in pages)
    return next((evidence for evidence in found if is_found(source, evidence)), None)
