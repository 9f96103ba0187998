"""Each check lets a good question pass and catches the fault that it is there for."""

from __future__ import annotations

import pytest

from docproc.apps.materials.checks.answerable import answer_from_evidence
from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.checks.examine import CHECKS, examine, examine_question, marked
from docproc.apps.materials.content.drafts import QuestionDraft, assemble
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import Question
from docproc.apps.materials.content.source import SourceText
from tests.unit.apps.materials.quizzes import PAGE, draft

MORE = (
    "La fotosíntesis, también llamada función clorofílica, transforma la luz en energía. La respiración "
    "consume oxígeno y glucosa. La transpiración elimina agua por las hojas. Los estomas regulan la "
    "transpiración. Pierre Curie descubrió el polonio en París."
)
SOURCE = SourceText.of_pages([PAGE, MORE])


def question(drafted: QuestionDraft) -> Question:
    return assemble("T", [drafted] * 5, language="es", generator="x").questions[0]


def failed(drafted: QuestionDraft) -> set[str]:
    return {found.check for found in examine_question(question(drafted), Grounds.of(SOURCE, "es"))}


LIGHT = Evidence(quote="transforma la luz en energía", page=2)
WHOLE = Evidence(
    quote="La fotosíntesis, también llamada función clorofílica, transforma la luz en energía.", page=2
)


def test_a_good_question_passes_every_check() -> None:
    assert failed(draft()) == set()
    gap = draft("Según «Curie», ¿qué fecha completa la frase? «Marie Curie nació en Varsovia en _____.»")
    gap = gap.model_copy(
        update={
            "correct": "1867",
            "distractors": ["1896", "1911", "1822"],
            "evidence": [Evidence(quote="Marie Curie nació en Varsovia en 1867.", page=1)],
        }
    )
    assert failed(gap) == set()


@pytest.mark.parametrize(
    ("check", "drafted"),
    [
        ("quoted", draft(evidence=[Evidence(quote="Recibió el Premio Nobel de Física en 1904.", page=1)])),
        ("quoted", draft(evidence=[draft().evidence[0].model_copy(update={"page": 2})])),
        ("supported", draft(correct="1915")),
        ("answerable", draft(correct="1911", distractors=["1896", "1867", "1903"])),
        ("answerable", draft("¿Qué color tiene la bandera que ondea en el castillo de la isla?")),
        ("distinct", draft(distractors=["el 1896", "1896", "1911"])),
        ("plausible", draft(distractors=["1896", "Varsovia", "1911"])),
        ("plausible", draft(distractors=["1896", "1911", "Todas las anteriores"])),
        (
            "plausible",
            draft(
                "¿Qué transforma la luz en energía?",
                correct="fotosíntesis",
                distractors=["respiración", "sed", "transpiración de todas las hojas que tiene una planta"],
                evidence=[WHOLE],
            ),
        ),
        (
            "no_giveaway",
            draft(
                "¿Qué transforma la luz en energía en las plantas?",
                correct="la fotosíntesis, también llamada función clorofílica, que transforma la luz",
                distractors=["respiración", "sudor", "los estomas"],
                evidence=[WHOLE],
            ),
        ),
        ("no_giveaway", draft("En 1903, ¿en qué año recibió Curie el Nobel de Física?")),
        (
            "no_synonym",
            draft(
                "¿Qué transforma la luz en energía?",
                correct="la fotosíntesis",
                distractors=["función clorofílica", "la respiración", "la transpiración"],
                evidence=[WHOLE],
            ),
        ),
        ("no_synonym", draft(correct="1903", distractors=["1.903", "1896", "1911"])),
        (
            "only_one_right",
            draft(
                "¿Quién descubrió el polonio?",
                correct="Marie Curie",
                distractors=["Pierre Curie", "Isaac Newton", "Louis Pasteur"],
                evidence=[Evidence(quote="Descubrió el polonio y el radio junto a Pierre Curie.", page=1)],
            ),
        ),
    ],
)
def test_a_fault_is_caught_by_its_check(check: str, drafted: QuestionDraft) -> None:
    assert check in failed(drafted)
    assert check in CHECKS


def test_the_second_opinion_answers_without_being_told() -> None:
    grounds = Grounds.of(SOURCE, "es")
    asked = question(draft())
    assert answer_from_evidence(asked, grounds) == asked.correct_answer
    swapped = asked.model_copy(update={"correct_answer": asked.distractors[0].id})
    assert answer_from_evidence(swapped, grounds) == asked.correct_answer, "it must not look at the key"


def test_only_numbers_are_looked_up_where_quiz_and_text_are_in_different_languages() -> None:
    english = draft("In which year did Marie Curie win the Nobel Prize in Physics?")
    quiz = assemble("T", [english] * 5, language="en", generator="x")
    grounds = Grounds.of(SOURCE, "en")
    assert not grounds.words_compare
    assert examine_question(quiz.questions[0], grounds) == []
    wrong = draft(correct="1915")
    assert examine_question(question(wrong), grounds)[0].check == "supported"


def test_a_quiz_is_marked_with_what_is_wrong_with_each_question_and_the_whole() -> None:
    drafts = [draft(f"¿En qué año {number} recibió Marie Curie el Nobel de Física?") for number in "abcd"]
    quiz = assemble("T", [*drafts, draft(correct="1915")], language="es", generator="x")
    findings = examine(quiz, SOURCE)
    reviewed = marked(quiz, findings)
    assert reviewed.questions[0].needs_review == []
    assert "repeated" in reviewed.questions[1].needs_review
    assert "supported" in reviewed.questions[4].needs_review
    always_a = quiz.model_copy(
        update={"questions": [q.model_copy(update={"correct_answer": "a"}) for q in quiz.questions]}
    )
    assert "positions_spread" in {found.check for found in examine(always_a, SOURCE)}
    assert "positions_spread" not in {found.check for found in findings}
