"""The shapes of summary and quiz, chapters found by headings, quotations found on their pages."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.drafts import assemble, correct_places, shared_points
from docproc.apps.materials.content.evidence import Evidence, is_found, locate
from docproc.apps.materials.content.quiz import OPTION_IDS, Question, Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.content.wording import in_dictionary
from tests.unit.apps.materials.quizzes import draft

BODY = "The cell is the smallest unit of life, and every living thing is made of one or more of them. " * 3


def quiz(count: int = 5) -> Quiz:
    drafts = [draft(f"¿Pregunta número {number}?") for number in range(count)]
    return assemble("Marie Curie", drafts, language="es", generator="extractive")


def summary(**changes: Any) -> dict[str, Any]:
    values = {
        "title": "Cells",
        "language": "en",
        "sections": [
            {
                "title": f"Section {order}",
                "content": BODY,
                "difficulty": "basic",
                "estimated_time_minutes": 2,
                "order": order,
            }
            for order in range(1, 6)
        ],
        "glossary": [
            {"term": f"term {order}", "definition": "what it is", "order": order} for order in range(1, 11)
        ],
        "reflection_questions": [f"Why {number}?" for number in range(5)],
        "generator": "extractive",
    }
    return {**values, **changes}


def test_a_quiz_has_the_specified_keys_and_adds_up_to_100_points() -> None:
    document = quiz(7).model_dump(mode="json")
    assert {
        "title",
        "questions",
        "total_questions",
        "total_points",
        "passing_score",
        "time_limit_minutes",
    } <= set(document)
    assert (document["total_questions"], document["total_points"], document["passing_score"]) == (7, 100, 70)
    question = document["questions"][0]
    assert question["type"] == "multiple_choice"
    assert [option["id"] for option in question["options"]] == ["a", "b", "c", "d"]
    assert sum(question["points"] for question in document["questions"]) == 100
    assert {option["id"]: option["text"] for option in question["options"]}[
        question["correct_answer"]
    ] == "1903"


@pytest.mark.parametrize("count", range(5, 11))
def test_points_are_shared_as_evenly_as_whole_numbers_can_be(count: int) -> None:
    shares = shared_points(count)
    assert len(shares) == count and sum(shares) == 100 and max(shares) - min(shares) <= 1


def test_correct_places_are_spread_and_the_same_on_a_retry() -> None:
    drafts = [draft(f"¿Pregunta número {number}?") for number in range(10)]
    places = correct_places(drafts)
    assert places == correct_places(drafts)
    assert set(places) == {0, 1, 2, 3}
    assert max(Counter(places).values()) <= 3
    assert (
        OPTION_IDS[places[0]]
        == assemble("T", drafts, language="es", generator="x").questions[0].correct_answer
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"total_questions": 6}, "total_questions is 6"),
        ({"total_points": 90}, "add up to 90"),
        ({"questions": []}, "at least 5 items"),
    ],
)
def test_a_quiz_that_contradicts_itself_is_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Quiz.model_validate({**quiz().model_dump(), **change})


def test_two_options_that_differ_in_case_or_spaces_only_say_the_same() -> None:
    question = quiz().questions[0].model_dump()
    question["options"][1]["text"] = f" {question['options'][0]['text'].upper()} "
    with pytest.raises(ValidationError, match="two options say the same"):
        Question.model_validate(question)


def test_a_summary_keeps_to_the_specified_numbers() -> None:
    assert Summary.model_validate(summary()).sections[0].order == 1
    with pytest.raises(ValidationError, match="at least 50 characters"):
        Summary.model_validate(summary(sections=[{**summary()["sections"][0], "content": "short"}] * 5))
    with pytest.raises(ValidationError, match="must be ordered 1 to 5"):
        Summary.model_validate(summary(sections=[summary()["sections"][0]] * 5))
    with pytest.raises(ValidationError, match="at least 10 items"):
        Summary.model_validate(summary(glossary=summary()["glossary"][:9]))


def test_a_quotation_is_found_across_line_breaks_hyphens_and_onto_the_next_page() -> None:
    source = SourceText.of_pages(
        ["La foto-\nsíntesis ocurre   en los\ncloroplastos. Es una", "reacción lenta."]
    )
    assert is_found(source, Evidence(quote="La fotosíntesis ocurre en los cloroplastos.", page=1))
    assert is_found(source, Evidence(quote="Es una reacción lenta.", page=1))
    assert not is_found(source, Evidence(quote="La fotosíntesis ocurre en los cloroplastos.", page=2))
    assert not is_found(source, Evidence(quote="reacción lenta.", page=1))
    assert not is_found(source, Evidence(quote="La fotosíntesis ocurre en las raíces.", page=1))
    assert locate(source, "reacción lenta") == Evidence(quote="reacción lenta", page=2)
    assert locate(source, "clorofila") is None


@pytest.mark.parametrize(
    ("headings", "titles"),
    [
        (["Capítulo 1. La célula", "Capítulo 2: El núcleo"], ["La célula", "El núcleo"]),
        (["CHAPTER I\nThe cell", "CHAPTER II\nThe nucleus"], ["The cell", "The nucleus"]),
        (["1. The cell", "2. The nucleus"], ["The cell", "The nucleus"]),
        (["THE CELL", "THE NUCLEUS"], ["THE CELL", "THE NUCLEUS"]),
        (["The cell", "The nucleus"], ["The cell", "The nucleus"]),
    ],
)
def test_chapters_are_found_by_their_headings(headings: list[str], titles: list[str]) -> None:
    contents = "Contents\n\n1. The cell ........ 1\n2. The nucleus ......... 2\n"
    pages = [contents, *(f"Biology for schools\n\n{heading}\n\n{BODY}\n" for heading in headings)]
    pages.append(f"Biology for schools\n\n{BODY}")
    source = with_chapters(SourceText.of_pages(pages))
    assert [chapter.title for chapter in source.chapters] == titles
    assert [source.pages_of(chapter)[0] for chapter in source.chapters] == [2, 3]
    assert BODY.strip() in source.text_of(source.chapters[1])
    assert source.chapter_at(source.chapters[1].start + 5) == 1


def test_a_text_without_headings_is_one_chapter() -> None:
    source = with_chapters(SourceText.of_pages([BODY, BODY], title="Cells"))
    assert [(chapter.title, list(source.pages_of(chapter))) for chapter in source.chapters] == [
        ("Cells", [1, 2])
    ]


def test_words_are_sorted_as_in_a_dictionary() -> None:
    words = ["cromosoma", "célula", "ciclo de Calvin", "año", "ano", "Anzuelo"]
    assert sorted(words, key=in_dictionary) == [
        "ano", "Anzuelo", "año", "célula", "ciclo de Calvin", "cromosoma",
    ]  # fmt: skip
