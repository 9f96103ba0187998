"""Exported files are read back by independent readers: what they hold is what was written."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pypdfium2
import pytest

from docproc.apps.materials.authors.extractive.author import examine, summarise
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import Option, Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.export import FORMATS, write_all
from docproc.apps.materials.exports.words import words_of
from tests.unit.apps.materials.test_extractive import source

NASTY = '50 % {of} = ~all~ #1: <b>a</b> & "b" \\ c, *d* _e_ [f](g)'


@pytest.fixture(scope="module")
def content() -> tuple[Summary, Quiz]:
    """With signs in it that mean something in one format or another."""
    text = source("celula.es.txt")
    summary = summarise(text, "es")
    quiz = examine(text, summary, "es", 7)
    first = quiz.questions[0]
    options = [Option(id=one.id, text=f"{one.text} {NASTY}") for one in first.options]
    questions = [first.model_copy(update={"options": options, "text": f"{NASTY}?"}), *quiz.questions[1:]]
    return summary, quiz.model_copy(update={"questions": questions, "title": "Células / núcleo"})


def written(name: str, content: tuple[Summary, Quiz]) -> str:
    return FORMATS[name].write(*content).decode()


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_content_gives_the_same_bytes(name: str, content: tuple[Summary, Quiz]) -> None:
    assert FORMATS[name].write(*content) == FORMATS[name].write(*content)


def test_all_formats_are_written_beside_each_other(content: tuple[Summary, Quiz], tmp_path: Any) -> None:
    paths = write_all(*content, tmp_path / "new", "celula", list(FORMATS))
    assert [path.name for path in paths] == [
        "celula.html", "celula.md", "celula.pdf", "celula.moodle.xml", "celula.gift.txt", "celula.qti.zip",
        "celula.anki.csv",
    ]  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in paths)


# --- GIFT: a reader of the format as Moodle documents it --------------------------------------------------


def gift_questions(text: str) -> Iterator[dict[str, Any]]:
    body = "\n".join(line for line in text.splitlines() if not line.startswith(("//", "$CATEGORY:")))
    for block in filter(str.strip, re.split(r"\n\s*\n", body)):
        head, answers = re.fullmatch(r"(.*?)(?<!\\)\{(.*)(?<!\\)\}", block.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
        name, asked = re.fullmatch(r"::(.*?)(?<!\\)::\s*(.*)", head.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
        answers, general = re.split(r"(?<!\\)####", answers)
        found = re.split(r"(?<!\\)([=~])", answers)[1:]
        options = []
        for sign, rest in zip(found[::2], found[1::2], strict=True):
            text_, feedback = re.split(r"(?<!\\)#", rest.strip(), maxsplit=1)
            options.append((sign == "=", unescaped(text_), unescaped(feedback)))
        asked = re.sub(r"^\[plain\]", "", asked)
        yield {"name": name, "text": unescaped(asked), "options": options, "general": unescaped(general)}


def unescaped(text: str) -> str:
    return re.sub(r"\\([~=#{}:\\])", r"\1", text).strip()


def test_gift_reads_back(content: tuple[Summary, Quiz]) -> None:
    found = list(gift_questions(written("gift", content)))
    assert len(found) == len(content[1].questions)
    for read, question in zip(found, content[1].questions, strict=True):
        assert read["text"] == " ".join(question.text.split())
        assert [text for _, text, _ in read["options"]] == [option.text for option in question.options]
        assert [right for right, _, _ in read["options"]] == [
            option.id == question.correct_answer for option in question.options
        ]
        assert question.evidence[0].quote in read["general"]


# --- Moodle XML -------------------------------------------------------------------------------------------

# What Moodle's importer reads of a multichoice question: missing ones it warns of.
MOODLE_PARTS = {
    "name", "questiontext", "generalfeedback", "defaultgrade", "penalty", "hidden", "idnumber", "single",
    "shuffleanswers", "answernumbering", "correctfeedback", "partiallycorrectfeedback", "incorrectfeedback",
    "answer",
}  # fmt: skip


def test_moodle_xml_reads_back(content: tuple[Summary, Quiz]) -> None:
    root = ElementTree.fromstring(FORMATS["moodle"].write(*content))
    assert root.tag == "quiz"
    category, *questions = root
    assert category.get("type") == "category"
    assert category.findtext("category/text") == "$course$/top/Células // núcleo"
    assert len(questions) == len(content[1].questions)
    for element, question in zip(questions, content[1].questions, strict=True):
        assert element.get("type") == "multichoice"
        assert {child.tag for child in element} == MOODLE_PARTS
        assert all(child.find("text") is not None for child in element.iter("feedback"))
        assert seen(element.findtext("questiontext/text")) == question.text
        answers = element.findall("answer")
        assert [seen(answer.findtext("text")) for answer in answers] == [one.text for one in question.options]
        assert [answer.get("fraction") for answer in answers].count("100") == 1
        right = answers[[answer.get("fraction") == "100" for answer in answers].index(True)]
        assert seen(right.findtext("text")) == question.correct_option.text
        assert element.findtext("single") == "true" and element.findtext("defaultgrade") == str(
            question.points
        )


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)


def seen(html: str | None) -> str:
    """What a browser shows; the content itself brings no markup."""
    parser = _Seen()
    parser.feed(html or "")
    assert parser.tags == []
    return parser.text


# --- QTI 2.1 ----------------------------------------------------------------------------------------------

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
# The order of an item's parts in the schema of QTI 2.1, and the attributes that it requires.
ITEM_PARTS = ["responseDeclaration", "outcomeDeclaration", "itemBody", "responseProcessing", "modalFeedback"]
TEST_PARTS = ["outcomeDeclaration", "timeLimits", "testPart", "outcomeProcessing"]
REQUIRED = {
    "assessmentItem": {"identifier", "title", "adaptive", "timeDependent"},
    "assessmentTest": {"identifier", "title"},
    "testPart": {"identifier", "navigationMode", "submissionMode"},
    "assessmentSection": {"identifier", "title", "visible"},
    "assessmentItemRef": {"identifier", "href"},
    "responseDeclaration": {"identifier", "cardinality", "baseType"},
    "outcomeDeclaration": {"identifier", "cardinality", "baseType"},
    "choiceInteraction": {"responseIdentifier", "shuffle", "maxChoices"},
    "simpleChoice": {"identifier"},
    "modalFeedback": {"outcomeIdentifier", "identifier", "showHide"},
    "setOutcomeValue": {"identifier"},
    "baseValue": {"baseType"},
}


def in_order(root: ElementTree.Element, parts: list[str]) -> bool:
    places = [parts.index(child.tag.removeprefix(QTI)) for child in root]
    return places == sorted(places)


def test_qti_package_holds_together(content: tuple[Summary, Quiz]) -> None:
    archive = zipfile.ZipFile(io.BytesIO(FORMATS["qti"].write(*content)))
    assert archive.testzip() is None
    files = {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
    cp = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
    resources = files["imsmanifest.xml"].findall(f"{cp}resources/{cp}resource")
    assert [resource.get("type") for resource in resources] == ["imsqti_test_xmlv2p1"] + [
        "imsqti_item_xmlv2p1"
    ] * len(content[1].questions)
    assert {resource.get("href") for resource in resources} | {"imsmanifest.xml"} == set(files)
    identifiers = {resource.get("identifier") for resource in resources}
    depends = {one.get("identifierref") for one in resources[0].findall(f"{cp}dependency")}
    assert depends == identifiers - {resources[0].get("identifier")}
    test = files["test.xml"]
    assert in_order(test, TEST_PARTS)
    references = {one.get("href"): one.get("identifier") for one in test.iter(f"{QTI}assessmentItemRef")}
    for question in content[1].questions:
        item = files[f"items/{question.id}.xml"]
        assert references[f"items/{question.id}.xml"] == item.get("identifier")
        assert in_order(item, ITEM_PARTS)
        choices = {one.get("identifier"): one.text for one in item.iter(f"{QTI}simpleChoice")}
        assert choices == {option.id: option.text for option in question.options}
        assert (
            item.findtext(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")
            == question.correct_answer
        )
        declared = {one.get("identifier") for one in item.iter(f"{QTI}outcomeDeclaration")}
        assert {one.get("identifier") for one in item.iter(f"{QTI}setOutcomeValue")} <= declared
    for root in [test, *(files[name] for name in files if name.startswith("items/"))]:
        for element in root.iter():
            assert REQUIRED.get(element.tag.removeprefix(QTI), set()) <= set(element.attrib), element.tag


# --- for people -------------------------------------------------------------------------------------------


def test_anki_deck_reads_back(content: tuple[Summary, Quiz]) -> None:
    summary, quiz = content
    text = written("anki", content)
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head[:3] == ["#separator:Comma", "#html:true", "#notetype:Basic"]
    rows = list(csv.reader(io.StringIO("\n".join(text.splitlines()[len(head) :]))))
    assert [len(row) for row in rows] == [3] * (len(quiz.questions) + len(summary.glossary))
    parser = _Seen()
    parser.feed(rows[0][0])
    assert parser.tags == ["ol", "li", "li", "li", "li"] and quiz.questions[0].options[3].text in parser.text
    assert quiz.questions[1].correct_option.text in rows[1][1].replace("&#x27;", "'")


def test_html_shows_everything_and_brings_nothing_from_elsewhere(content: tuple[Summary, Quiz]) -> None:
    summary, quiz = content
    html = written("html", content)
    parser = _Seen()
    parser.feed(html)
    for question in quiz.questions:
        assert question.text in parser.text and question.evidence[0].quote in parser.text
    assert all(section.content in parser.text for section in summary.sections)
    assert not re.search(r"(?:src|href)=|<script|<b>a</b>", html)
    assert '<html lang="es">' in html


def test_markdown_is_read_as_text(content: tuple[Summary, Quiz]) -> None:
    markdown = written("markdown", content)
    assert "\\<b\\>a" in markdown and "\\*d\\*" in markdown
    shown = re.sub(r"\\([\\`*_\[\]<>#|~+.-])", r"\1", markdown)
    assert all(question.text in shown for question in content[1].questions)
    assert markdown.count("\n### ") == len(content[0].sections) + 1


def test_pdf_opens_and_says_it_all(content: tuple[Summary, Quiz]) -> None:
    document = pypdfium2.PdfDocument(FORMATS["pdf"].write(*content))
    try:
        text = " ".join(
            " ".join(document[index].get_textpage().get_text_bounded().split())
            for index in range(len(document))
        )
    finally:
        document.close()
    for question in content[1].questions:
        assert question.correct_option.text.split()[0] in text
    assert "célula" in text and content[0].sections[4].title in text and "Soluciones" in text


@pytest.mark.parametrize(("pages", "told"), [((), ""), ((3, 3), "página 3"), ((5, 2, 5), "páginas 2, 5")])
def test_one_page_is_a_page_and_two_are_pages(pages: tuple[int, ...], told: str) -> None:
    evidence = [Evidence(quote="Dicho.", page=page) for page in pages]
    assert words_of("es").on_pages(evidence) == told
