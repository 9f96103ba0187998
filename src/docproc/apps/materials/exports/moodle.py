"""Moodle XML: the questions as Moodle imports them, each with its quotation as general feedback."""

from __future__ import annotations

from html import escape
from xml.etree import ElementTree

from docproc.apps.materials.content.quiz import Option, Question, Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import words_of

# What is lost of a question at each further try, where a quiz allows several.
_PENALTY = "0.3333333"


def write(summary: Summary, quiz: Quiz) -> bytes:
    root = ElementTree.Element("quiz")
    category = ElementTree.SubElement(root, "question", type="category")
    _text(ElementTree.SubElement(category, "category"), f"$course$/top/{_category(quiz.title)}")
    for question in quiz.questions:
        root.append(_question(question, quiz))
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _question(question: Question, quiz: Quiz) -> ElementTree.Element:
    page = words_of(quiz.language).page
    element = ElementTree.Element("question", type="multichoice")
    _text(ElementTree.SubElement(element, "name"), f"{question.order:02d} {question.text}"[:255])
    _html(element, "questiontext", question.text)
    quotes = "; ".join(f"{one.quote} ({page.format(page=one.page)})" for one in question.evidence)
    _html(element, "generalfeedback", quotes)
    for name, value in (
        ("defaultgrade", f"{question.points}"),
        ("penalty", _PENALTY),
        ("hidden", "0"),
        ("idnumber", ""),
        ("single", "true"),
        ("shuffleanswers", "true"),
        ("answernumbering", "abc"),
    ):
        ElementTree.SubElement(element, name).text = value
    _html(element, "correctfeedback", question.feedback.correct)
    _html(element, "partiallycorrectfeedback", "")
    _html(element, "incorrectfeedback", question.feedback.incorrect)
    for option in question.options:
        element.append(_answer(option, question))
    return element


def _answer(option: Option, question: Question) -> ElementTree.Element:
    is_correct = option.id == question.correct_answer
    answer = ElementTree.Element("answer", fraction="100" if is_correct else "0", format="html")
    _text(answer, escape(option.text))
    said = question.feedback.correct if is_correct else question.feedback.incorrect
    _html(answer, "feedback", said)
    return answer


def _html(parent: ElementTree.Element, name: str, text: str) -> None:
    """The text is HTML to Moodle: what looks like markup in it is not to be any."""
    _text(ElementTree.SubElement(parent, name, format="html"), escape(text))


def _text(parent: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(parent, "text").text = text


def _category(title: str) -> str:
    """A slash parts categories; a double one is a slash."""
    return title.replace("/", "//")
