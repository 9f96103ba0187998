"""Sentences that say who did or does what: the subject is asked for, so that the verb keeps its place.

Asking for the subject needs no change of word order in either language ("Fleming discovered penicillin" →
"who or what discovered penicillin?"), and so no grammar beyond a list of verbs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.content.languages import ENGLISH, SPANISH, STOPWORDS, word_list, words
from docproc.apps.materials.content.sentences import Sentence

_MOST_WORDS_OF_A_SUBJECT = 6
_LEAST_WORDS_OF_THE_REST = 2
_MOST_WORDS_OF_THE_REST = 22

_VERBS: dict[str, frozenset[str]] = {
    SPANISH: word_list(
        """
        descubrió descubrieron inventó inventaron fundó fundaron escribió publicó propuso propusieron
        formuló desarrolló desarrollaron creó crearon diseñó demostró demostraron conquistó conquistaron
        derrotó derrotaron introdujo introdujeron construyó construyeron pintó compuso dirigió encabezó
        lideró gobernó firmó proclamó describió observó produjo provocó causó originó estableció logró
        obtuvo produce producen causa causan provoca provocan genera generan contiene contienen transporta
        transportan regula regulan controla controlan protege protegen convierte convierten transforma
        transforman absorbe absorben libera liberan almacena almacenan elimina eliminan determina
        determinan mide miden estudia estudian rodea rodean separa separan recibe reciben representa
        representan constituye constituyen impide impiden aumenta aumentan reduce reducen emite emiten
        ocupa ocupan sostiene sostienen afirma afirman establece establecen describe describen
        """
    ),
    ENGLISH: word_list(
        """
        discovered invented founded wrote published proposed formulated developed created designed proved
        conquered defeated introduced built painted composed led ruled signed proclaimed described
        observed produced caused established achieved obtained demonstrated showed won replaced produces
        produce causes cause generates generate contains contain carries carry transports transport
        regulates regulate controls control protects protect converts convert transforms transform absorbs
        absorb releases release stores store removes remove determines determine measures measure studies
        surrounds surround separates separate receives receive represents represent prevents prevent
        increases increase reduces reduce emits emit occupies occupy connects connect allows allow
        requires require provides provide supplies supply
        """
    ),
}
_ACTIVE = {
    language: re.compile(rf"^(?P<subject>[^,;:()]+?) (?P<rest>(?:{'|'.join(sorted(verbs))}) [^;:]+?)[.!]$")
    for language, verbs in _VERBS.items()
}
_PASSIVE = {
    SPANISH: re.compile(
        r"^(?P<thing>[^,;:()]+?) (?P<verb>(?:fue|fueron) \w+[dt][oa]s?) por (?P<agent>[^,;:()]+?)"
        r"(?P<when> (?:en|hacia|durante) [^,;:()]+)?[.!]$"
    ),
    ENGLISH: re.compile(
        r"^(?P<thing>[^,;:()]+?) (?P<verb>(?:was|were) (?:first )?\w+(?:ed|en|nt|ght|de|ten|wn)) by "
        r"(?P<agent>[^,;:()]+?)(?P<when> (?:in|around|during) [^,;:()]+)?[.!]$"
    ),
}


@dataclass(frozen=True, slots=True)
class Relation:
    # The answer, as the sentence has it.
    subject: str
    # What is asked after "who or what" or, where passive, after "by whom or by what".
    rest: str
    is_passive: bool
    sentence: Sentence


def relations_of(sentences: Sequence[Sentence], language: str) -> list[Relation]:
    return [found for sentence in sentences if (found := _related_by(sentence, language)) is not None]


def _related_by(sentence: Sentence, language: str) -> Relation | None:
    passive = _PASSIVE[language].match(sentence.text)
    if passive and _is_a_noun(passive["agent"], language) and _is_a_noun(passive["thing"], language):
        thing = passive["thing"]
        first = thing.split()[0].casefold()
        thing = first + thing[len(first) :] if first in GRAMMARS[language].articles else thing
        verb_first = f"{passive['verb']} {thing}"
        if language == ENGLISH:  # by whom was penicillin discovered
            auxiliary, participle = passive["verb"].split(" ", 1)
            verb_first = f"{auxiliary} {thing} {participle}"
        return Relation(passive["agent"], verb_first + (passive["when"] or ""), True, sentence)
    active = _ACTIVE[language].match(sentence.text)
    if active and _is_a_noun(active["subject"], language):
        rest = active["rest"]
        if _LEAST_WORDS_OF_THE_REST <= len(rest.split()) <= _MOST_WORDS_OF_THE_REST:
            return Relation(active["subject"], rest, False, sentence)
    return None


def _is_a_noun(text: str, language: str) -> bool:
    parts = words(text)
    grammar = GRAMMARS[language]
    inside = {word for word in parts[1:] if word in STOPWORDS[language] and word not in grammar.articles}
    return (
        0 < len(parts) <= _MOST_WORDS_OF_A_SUBJECT
        and parts[0] not in grammar.pointing_back
        and (parts[0] in grammar.articles or parts[0] not in STOPWORDS[language])
        and parts[-1] not in STOPWORDS[language]
        and inside <= {"de", "y", "of", "and", "en", "in"}
        and not any(sign.isdigit() for sign in text)
    )
