"""A document's lines as folded text in which every stretch knows its place on the page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from docproc.reading.folding import fold
from docproc.reading.page import Box, PageText, Word, union

WIDE = "   "  # between words that stand in different columns
_WIDE_GAP = 1.8  # character widths
_MARGIN = 0.08
_FEWEST_TURNED = 4  # words that stand upright, before a margin is read from the bottom up
_RULES = frozenset("|¦│┃")  # between columns; without them a wide gap is left


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some characters of a line."""

    text: str
    box: Box
    confidence: float
    page: int
    line: int  # index among the document's lines
    start: int
    end: int


@dataclass(frozen=True)
class Line:
    """A printed line: its words one space apart, its columns three."""

    words: tuple[Word, ...]
    page: int
    index: int
    aspect: float  # width of the page through its height

    @cached_property
    def _layout(self) -> tuple[str, tuple[int, ...]]:
        letters = sum(len(word.text) for word in self.words)
        char = sum(word.box[2] - word.box[0] for word in self.words) / max(letters, 1)
        text, starts, edge = "", [], 0.0
        for word in self.words:
            if text:
                text += WIDE if word.box[0] - edge > _WIDE_GAP * char else " "
            starts.append(len(text))
            text += word.text
            edge = word.box[2]
        return text, tuple(starts)

    @property
    def text(self) -> str:
        return self._layout[0]

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def box(self) -> Box:
        return union([word.box for word in self.words])

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]

    def stretch(self, start: int, end: int) -> Stretch:
        """The characters from `start` to `end`, with the part of each word's box that they take."""
        text, starts = self._layout
        boxes, confidence = [], 1.0
        for index in range(max(bisect_right(starts, start) - 1, 0), len(starts)):
            word, at = self.words[index], starts[index]
            if at >= end:
                break
            left, right = max(start - at, 0), min(end - at, len(word.text))
            if left < right:
                x0, y0, x1, y1 = word.box
                step = (x1 - x0) / len(word.text)
                boxes.append((x0 + left * step, y0, x0 + right * step, y1))
                confidence = min(confidence, word.confidence)
        box = (boxes[0] if len(boxes) == 1 else union(boxes)) if boxes else self.box
        return Stretch(text[start:end], box, confidence, self.page, self.index, start, end)

    def columns(self) -> tuple[Stretch, ...]:
        """The line cut where the gaps are wide."""
        return self._columns

    @cached_property
    def _columns(self) -> tuple[Stretch, ...]:
        at, columns = 0, []
        for part in self.text.split(WIDE):
            if part.strip():
                columns.append(self.stretch(at, at + len(part)))
            at += len(part) + len(WIDE)
        return tuple(columns)

    def column_end(self, start: int) -> int:
        """Where the column ends that begins or runs on at `start`."""
        end = self.text.find(WIDE, start)
        return len(self.text) if end < 0 else end


@dataclass(frozen=True)
class Document:
    """The pages of one document, line after line."""

    lines: tuple[Line, ...]
    pages: tuple[PageText, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def below(self, line: int) -> Iterator[Line]:
        """The lines after this one on its page."""
        for later in self.lines[line + 1 :]:
            if later.page != self.lines[line].page:
                return
            yield later


def layout(pages: Sequence[PageText]) -> Document:
    lines: list[Line] = []
    for number, page in enumerate(pages):
        aspect = page.width / page.height
        turned = _turned(page.words, aspect)
        aside = set(map(id, turned))
        for words in page.lines:
            kept = (word for word in words if word.text not in _RULES and id(word) not in aside)
            ordered = tuple(sorted(kept, key=lambda word: word.box[0]))
            if ordered:
                lines.append(Line(ordered, number, len(lines), aspect))
        if turned:
            lines.append(Line(turned, number, len(lines), aspect))
    return Document(tuple(lines), tuple(pages))


def _turned(words: Sequence[Word], aspect: float) -> tuple[Word, ...]:
    """The small print that runs up a margin, in its order; on its own line it disturbs no other."""
    upright = [word for word in words if len(word.text) > 2 and _is_upright(word, aspect)]
    if len(upright) < _FEWEST_TURNED:
        return ()
    for left, right in ((0.0, _MARGIN), (1 - _MARGIN, 1.0)):
        strip = [word for word in upright if left <= word.box[0] and word.box[2] <= right]
        if len(strip) >= _FEWEST_TURNED:
            x0, x1 = min(word.box[0] for word in strip), max(word.box[2] for word in strip)
            inside = [word for word in words if word.box[0] >= x0 - 0.003 and word.box[2] <= x1 + 0.003]
            return tuple(sorted(inside, key=lambda word: -word.box[3]))
    return ()


def _is_upright(word: Word, aspect: float) -> bool:
    x0, y0, x1, y1 = word.box
    return y1 - y0 > 1.5 * (x1 - x0) * aspect
