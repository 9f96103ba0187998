"""The offline author on a Spanish and an English text: shapes, grounds, coverage, and the same on a retry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docproc.apps.materials.authors.extractive.author import ExtractiveAuthor, examine, summarise
from docproc.apps.materials.authors.extractive.definitions import definitions_of
from docproc.apps.materials.authors.extractive.material import study
from docproc.apps.materials.authors.extractive.names import NameKind
from docproc.apps.materials.authors.extractive.numbers import numbers_of, wrong_ones
from docproc.apps.materials.authors.extractive.relations import relations_of
from docproc.apps.materials.checks.examine import examine as check
from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.evidence import is_found
from docproc.apps.materials.content.sentences import Sentence, sentences_of
from docproc.apps.materials.content.source import SourceText
from docproc.errors import PermanentError

TEXTS = Path(__file__).parent / "texts"
CASES = [("celula.es.txt", "es"), ("rome.en.txt", "en")]


def source(name: str) -> SourceText:
    """A page for every 30 lines, with a running head and a page number as books have them."""
    lines = (TEXTS / name).read_text().splitlines()
    pages = [lines[start : start + 30] for start in range(0, len(lines), 30)]
    printed = [
        "\n".join(["Escuela Mayor", "", *page, "", str(number)]) for number, page in enumerate(pages, 1)
    ]
    return SourceText.of_pages(printed, title="Un texto")


def sentence(text: str) -> Sentence:
    return Sentence(text, page=1, chapter=0, index=0, opens_paragraph=True)


@pytest.mark.parametrize(("name", "language"), CASES)
def test_a_summary_quotes_every_chapter(name: str, language: str) -> None:
    text = with_chapters(source(name))
    summary = summarise(text, language)
    assert summary.language == language and summary.generator == "extractive"
    quotes = [evidence for section in summary.sections for evidence in section.evidence]
    quotes += [evidence for term in summary.glossary for evidence in term.evidence]
    assert all(is_found(text, evidence) for evidence in quotes)
    for chapter in text.chapters:
        assert any(quote.quote[:40] in " ".join(text.text_of(chapter).split()) for quote in quotes), (
            chapter.title
        )
    assert "Escuela Mayor" not in summary.model_dump_json()


@pytest.mark.parametrize(("name", "language"), CASES)
def test_every_question_passes_every_check_and_every_chapter_is_asked_about(name: str, language: str) -> None:
    text = with_chapters(source(name))
    quiz = examine(text, summarise(text, language), language, 10)
    assert len(quiz.questions) == 10
    assert check(quiz, text) == []
    chapters = {sentence.text: sentence.chapter for sentence in sentences_of(text)}
    asked = {chapters[evidence.quote] for question in quiz.questions for evidence in question.evidence}
    assert asked == set(range(len(text.chapters)))
    assert quiz == examine(text, summarise(text, language), language, 10), "a retry must store the same"


async def test_an_author_keeps_to_the_number_of_questions_asked_for() -> None:
    author, text = ExtractiveAuthor(), source("celula.es.txt")
    summary = await author.summarise(text, language="es")
    assert len((await author.examine(text, summary, language="es", questions=5)).questions) == 5


def test_a_text_in_another_language_keeps_its_words_and_gets_questions_in_the_one_asked_for() -> None:
    text = source("rome.en.txt")
    summary = summarise(text, "es")
    quiz = examine(text, summary, "es", 6)
    assert quiz.language == "es" and all(question.text.startswith("Según") for question in quiz.questions)
    assert check(quiz, text) == []


def test_a_language_it_cannot_read_is_refused_with_what_to_do() -> None:
    finnish = "Kissa istuu pöydällä ja katselee ulos ikkunasta, koska siellä lentää lintuja. " * 60
    with pytest.raises(PermanentError, match="Spanish and English") as refused:
        summarise(SourceText.of_pages([finnish]), "en")
    assert "DOCPROC_MATERIALS_AUTHOR" in refused.value.remedy


def test_a_text_that_says_too_little_is_refused_with_what_to_do() -> None:
    with pytest.raises(PermanentError, match="sections"):
        summarise(SourceText.of_pages(["The house is red and the garden is green. " * 3]), "en")


@pytest.mark.parametrize(
    ("text", "language", "term", "body"),
    [
        (
            "La ósmosis es el paso de agua por una membrana.",
            "es",
            "ósmosis",
            "el paso de agua por una membrana",
        ),
        (
            "Se denomina ecosistema al conjunto de seres vivos de un lugar.",
            "es",
            "ecosistema",
            "conjunto de seres vivos de un lugar",
        ),
        (
            "El mercado se define como el lugar donde se compra y se vende.",
            "es",
            "mercado",
            "el lugar donde se compra y se vende",
        ),
        (
            "An isotope is a form of an element with another mass.",
            "en",
            "isotope",
            "a form of an element with another mass",
        ),
        (
            "Erosion refers to the wearing away of rock by water.",
            "en",
            "Erosion",
            "the wearing away of rock by water",
        ),
    ],
)
def test_definitions_are_found(text: str, language: str, term: str, body: str) -> None:
    [found] = definitions_of([sentence(text)], language)
    assert (found.term, found.body) == (term, body)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Esto es un problema que nadie supo resolver.", "es"),
        ("El resultado es una mezcla de las dos cosas.", "es"),
        ("It is a question that nobody could answer then.", "en"),
        ("The reason is the lack of water in the region.", "en"),
    ],
)
def test_a_sentence_about_something_said_before_defines_nothing(text: str, language: str) -> None:
    assert definitions_of([sentence(text)], language) == []


@pytest.mark.parametrize(
    ("text", "language", "subject", "rest"),
    [
        (
            "Alexander Fleming descubrió la penicilina en 1928.",
            "es",
            "Alexander Fleming",
            "descubrió la penicilina en 1928",
        ),
        (
            "La penicilina fue descubierta por Alexander Fleming.",
            "es",
            "Alexander Fleming",
            "fue descubierta la penicilina",
        ),
        (
            "Penicillin was discovered by Alexander Fleming.",
            "en",
            "Alexander Fleming",
            "was Penicillin discovered",
        ),
        ("The roots absorb water and salts.", "en", "The roots", "absorb water and salts"),
    ],
)
def test_relations_are_turned_into_questions_about_their_subject(
    text: str, language: str, subject: str, rest: str
) -> None:
    [found] = relations_of([sentence(text)], language)
    assert (found.subject, found.rest) == (subject, rest)


@pytest.mark.parametrize(
    ("text", "language", "numbers"),
    [
        (
            "En 1492 llegaron tres barcos con 90 hombres.",
            "es",
            [("1492", "year"), ("90", "figure"), ("tres", "number_word")],
        ),
        ("La torre mide 300 000 metros según la tabla 4.", "es", [("300 000", "figure")]),
        ("The war of the 19th century began in 753 BC.", "en", [("19th", "century"), ("753", "year")]),
        ("It weighs 4.5 kilograms and has 1500 pieces.", "en", [("4.5", "figure"), ("1500", "figure")]),
    ],
)
def test_numbers_are_told_apart(text: str, language: str, numbers: list[tuple[str, str]]) -> None:
    found = numbers_of([sentence(text)], language)
    assert [(number.text, str(number.kind)) for number in found] == numbers


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("El hueso humano más largo mide 206 milímetros.", "es"),
        ("La luz recorre 300.000 kilómetros cada segundo.", "es"),
        ("El 70,5 % de la superficie está cubierto de agua.", "es"),
        ("Each of them has 4 legs and a long tail.", "en"),
    ],
)
def test_wrong_figures_are_three_written_like_the_right_one(text: str, language: str) -> None:
    [number] = [found for found in numbers_of([sentence(text)], language) if found.kind == "figure"]
    wrong = wrong_ones(number, [], language)
    assert len(set(wrong)) == 3 and number.text not in wrong
    shape = [sign for sign in number.text if not sign.isdigit()]
    assert all([sign for sign in one if not sign.isdigit()] == shape for one in wrong), wrong


def test_names_are_persons_places_or_things() -> None:
    text = (
        "Simón Bolívar nació en Caracas. La batalla de Boyacá fue dura. En Caracas gobernó Simón Bolívar. El "
        "ejército cruzó los Andes hasta llegar a Bogotá. Los Andes son altos y largos."
    )
    kinds = {name.text: name.kind for name in study(SourceText.of_pages([text])).names}
    assert kinds["Simón Bolívar"] is NameKind.PERSON
    assert kinds["Caracas"] is NameKind.PLACE
    assert kinds["Andes"] is NameKind.THING


def test_sentences_leave_out_headings_page_numbers_and_tables() -> None:
    page = (
        "Biología\n\n1. La célula\nLa célula es la unidad de vida, como dijo el Dr. Hooke en su li-\nbro de "
        "1665. Mide poco.\n\nAltura 12 14 15\n• Las plantas fabrican su propio alimento con luz.\n17"
    )
    other = "Biología\n\n{} animales comen plantas u otros animales.\n18"
    found = sentences_of(SourceText.of_pages([page, other.format("Muchos"), other.format("Pocos")]))
    assert [(one.text, one.page) for one in found] == [
        ("La célula es la unidad de vida, como dijo el Dr. Hooke en su libro de 1665.", 1),
        ("Las plantas fabrican su propio alimento con luz.", 1),
        ("Muchos animales comen plantas u otros animales.", 2),
        ("Pocos animales comen plantas u otros animales.", 3),
    ]


@pytest.mark.parametrize(("name", "language"), CASES)
def test_no_reflection_asks_what_a_term_has_to_do_with_the_chapter_of_its_name(
    name: str, language: str
) -> None:
    text = with_chapters(source(name))
    titles = {chapter.title.casefold() for chapter in text.chapters}
    for question in summarise(text, language).reflection_questions:
        named = [one.casefold() for one in re.findall(r"[«“]([^»”]+)[»”]", question)]
        chapters, terms = set(named) & titles, set(named) - titles
        assert not any(term in chapter for term in terms for chapter in chapters), question
