"""What the offline author says in its own words, in each language it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from docproc.apps.materials.content.languages import ENGLISH, SPANISH

GAP = "_____"


@dataclass(frozen=True, slots=True)
class Phrases:
    quiz_title: str
    # Of questions; {chapter} is where it stands, {sentence} has a gap.
    complete_year: str
    complete_figure: str
    complete_term: str
    complete_name: str
    which_term: str
    what_is: str
    # {rest} is the verb and what follows it.
    who_or_what: str
    by_whom: str
    # Of feedback.
    correct: str
    incorrect: str
    # Of the summary.
    part: str
    continued: str
    reflection: tuple[str, ...]


PHRASES: dict[str, Phrases] = {
    SPANISH: Phrases(
        quiz_title="Cuestionario: {title}",
        complete_year="Según «{chapter}», ¿qué fecha completa la frase? «{sentence}»",
        complete_figure="Según «{chapter}», ¿qué cifra completa la frase? «{sentence}»",
        complete_term="Según «{chapter}», ¿qué término completa la frase? «{sentence}»",
        complete_name="Según «{chapter}», ¿qué nombre completa la frase? «{sentence}»",
        which_term="Según «{chapter}», ¿a qué término corresponde esta definición? «{definition}»",
        what_is="Según «{chapter}», ¿cómo se define «{term}»?",
        who_or_what="Según «{chapter}», ¿quién o qué {rest}?",
        by_whom="Según «{chapter}», ¿por quién o por qué {rest}?",
        correct="Correcto. En la página {page} se lee: «{quote}»",
        incorrect="No es así: la respuesta es «{answer}». Lee de nuevo la página {page}: «{quote}»",
        part="Parte {number}",
        continued="{title} ({number})",
        reflection=(
            "¿Por qué es importante «{term}» para entender «{chapter}»?",
            "¿Qué relación hay entre «{term}» y «{other}»?",
            "¿Cómo explicarías «{term}» con tus palabras a una persona que no lo conoce?",
            "¿Qué ejemplo de tu entorno ilustra lo que se dice en «{chapter}»?",
            "¿Qué cambiaría en lo que cuenta «{chapter}» sin «{term}»?",
            "¿Qué pregunta te queda por responder sobre «{term}» y dónde buscarías la respuesta?",
            "¿Qué idea de «{chapter}» te parece más discutible, y por qué?",
        ),
    ),
    ENGLISH: Phrases(
        quiz_title="Quiz: {title}",
        complete_year="According to “{chapter}”, which date completes the sentence? “{sentence}”",
        complete_figure="According to “{chapter}”, which figure completes the sentence? “{sentence}”",
        complete_term="According to “{chapter}”, which term completes the sentence? “{sentence}”",
        complete_name="According to “{chapter}”, which name completes the sentence? “{sentence}”",
        which_term="According to “{chapter}”, which term has this definition? “{definition}”",
        what_is="According to “{chapter}”, how is “{term}” defined?",
        who_or_what="According to “{chapter}”, who or what {rest}?",
        by_whom="According to “{chapter}”, by whom or by what {rest}?",
        correct="Correct. Page {page} says: “{quote}”",
        incorrect="Not so: the answer is “{answer}”. Read page {page} again: “{quote}”",
        part="Part {number}",
        continued="{title} ({number})",
        reflection=(
            "Why does “{term}” matter for understanding “{chapter}”?",
            "How are “{term}” and “{other}” related?",
            "How would you explain “{term}” in your own words to somebody who has never heard of it?",
            "Which example from your own surroundings illustrates what “{chapter}” says?",
            "What would be different in “{chapter}” without “{term}”?",
            "Which question about “{term}” is still open for you, and where would you look for the answer?",
            "Which idea of “{chapter}” do you find most debatable, and why?",
        ),
    ),
}
