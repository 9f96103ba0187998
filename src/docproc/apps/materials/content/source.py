"""A material's text as it was read: pages, and the chapters found in them."""

from __future__ import annotations

import bisect
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, model_validator

from docproc.apps.materials.content.wording import normal

# Between two pages of `SourceText.text`, as pdftotext writes it.
PAGE_BREAK = "\f"


class SourcePage(BaseModel):
    """One page; `number` counts from 1, as people count pages."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(ge=1)
    text: str


class Chapter(BaseModel):
    """A part of the text under a heading of its own: characters `start` to `end` of `SourceText.text`."""

    model_config = ConfigDict(frozen=True)

    title: str = Field(min_length=1, max_length=200)
    start: int = Field(ge=0)
    end: int

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> Chapter:
        if self.end <= self.start:
            raise ValueError(f"chapter {self.title!r} ends at {self.end}, before it starts at {self.start}")
        return self


class SourceText(BaseModel):
    """The text that authors write from and checks look evidence up in.

    `SourceText(pages=…)` without chapters is complete: `content.chapters.with_chapters` finds them.
    """

    model_config = ConfigDict(frozen=True)

    pages: list[SourcePage] = Field(min_length=1)
    chapters: list[Chapter] = []
    title: str = ""

    @classmethod
    def of_pages(cls, texts: list[str], title: str = "") -> SourceText:
        """Pages numbered from 1, in the order given."""
        pages = [SourcePage(number=number, text=text) for number, text in enumerate(texts, start=1)]
        return cls(pages=pages, title=title)

    @cached_property
    def text(self) -> str:
        return PAGE_BREAK.join(page.text for page in self.pages)

    @cached_property
    def _page_starts(self) -> list[int]:
        starts, offset = [], 0
        for page in self.pages:
            starts.append(offset)
            offset += len(page.text) + len(PAGE_BREAK)
        return starts

    @cached_property
    def _by_number(self) -> dict[int, SourcePage]:
        return {page.number: page for page in self.pages}

    @cached_property
    def _normal_pages(self) -> dict[int, str]:
        return {page.number: normal(page.text) for page in self.pages}

    def page_text(self, number: int) -> str:
        """The text of a page; empty where there is no such page."""
        page = self._by_number.get(number)
        return page.text if page else ""

    def normal_page(self, number: int) -> str:
        """Its words as comparisons see them (`wording.normal`)."""
        return self._normal_pages.get(number, "")

    def page_at(self, offset: int) -> int:
        """The number of the page that character `offset` of `text` is on."""
        index = max(0, bisect.bisect_right(self._page_starts, offset) - 1)
        return self.pages[index].number

    def pages_of(self, chapter: Chapter) -> range:
        return range(self.page_at(chapter.start), self.page_at(chapter.end - 1) + 1)

    def text_of(self, chapter: Chapter) -> str:
        return self.text[chapter.start : chapter.end]

    def chapter_at(self, offset: int) -> int | None:
        """The index of the chapter that character `offset` is in; None before the first one."""
        index = bisect.bisect_right([chapter.start for chapter in self.chapters], offset) - 1
        return index if index >= 0 and offset < self.chapters[index].end else None

    @property
    def word_count(self) -> int:
        return sum(len(page.text.split()) for page in self.pages)
