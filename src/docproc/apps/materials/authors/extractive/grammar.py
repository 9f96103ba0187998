"""The function words of each language that the offline author finds its way by."""

from __future__ import annotations

from dataclasses import dataclass

from docproc.apps.materials.content.languages import ENGLISH, SPANISH, word_list


@dataclass(frozen=True, slots=True)
class Grammar:
    # An article, and the kind of noun it announces: an option that does not fit the article before a gap
    # would give itself away.
    articles: dict[str, str]
    # First words of a sentence that points back to another one, so that it cannot stand alone.
    pointing_back: frozenset[str]
    # Words that speak to the reader, or of the author: no statement of fact has them.
    to_the_reader: frozenset[str]
    # Words that a noun follows, besides articles; and words that only a verb follows.
    before_nouns: frozenset[str]
    before_verbs: frozenset[str]
    # Nouns that any text has, whatever it is about.
    generic: frozenset[str]
    # Endings of words that are no nouns.
    not_nouns: tuple[str, ...]
    # The numbers that are written as words.
    number_words: dict[str, int]
    months: frozenset[str]


_SPANISH = Grammar(
    articles={
        **dict.fromkeys(("el", "un", "al", "del", "este", "cada", "nuestro"), "m"),
        **dict.fromkeys(("la", "una", "esta", "nuestra"), "f"),
        **dict.fromkeys(("los", "unos", "estos"), "mp"),
        **dict.fromkeys(("las", "unas", "estas"), "fp"),
    },
    pointing_back=word_list(
        """
        este esta esto estos estas ese esa eso esos esas aquel aquella aquellos aquellas él ella ello
        ellos ellas su sus además también así asimismo entonces pero y e o sin sino aunque por tal tales
        dicha dicho dichos dichas ambos ambas otra otro otros otras luego después finalmente
        posteriormente igualmente allí ahí aquí cuyo cuya lo ahora ninguno ninguna tampoco mientras
        aquello ésta éste
        """
    ),
    to_the_reader=word_list(
        """
        yo tú usted ustedes nosotros nosotras vosotros me te nos os mi mis tu tus nuestro nuestra nuestros
        nuestras vamos veamos veremos hemos supongamos recuerda recordemos imagina imaginemos puedes
        podemos tienes debes
        """
    ),
    before_nouns=word_list("de en con por sobre entre sin contra hacia y o e como"),
    before_verbs=word_list("se no que le les lo quien quienes nos"),
    generic=word_list(
        """
        años año parte partes número persona personas día días tiempo vez veces vida mundo cosa cosas
        momento lugar lado final principio siglo siglos mitad total conjunto resto grupo punto modo medida
        horas minutos hora caso casos hecho uso través mayoría cantidad
        """
    ),
    not_nouns=(
        "mente", "ando", "endo", "iendo", "aron", "ieron", "aba", "aban", "ía", "ían", "arse", "erse", "irse",
        "ar", "er", "ir", "ado", "ido", "ada", "ida", "ados", "idos", "adas", "idas",
    ),
    number_words={
        "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9,
        "diez": 10, "once": 11, "doce": 12,
    },
    months=word_list(
        """
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        """
    ),
)  # fmt: skip

_ENGLISH = Grammar(
    articles={"a": "c", "an": "v", "the": "", "its": "", "their": "", "each": "", "every": ""},
    pointing_back=word_list(
        """
        this that these those it its they their he his she her them such however therefore also but and or
        so thus then here there both another other others instead moreover furthermore nevertheless
        similarly finally later afterwards meanwhile likewise otherwise besides because although while
        whereas neither nor yet again still
        """
    ),
    to_the_reader=word_list(
        """
        i me my we us our ours you your yours let's let’s we'll we’ll you'll you’ll we've we’ve you've
        you’ve we're we’re you're you’re i'm i’m here's here’s
        """
    ),
    before_nouns=word_list("of in with for by from between into on as and or"),
    before_verbs=word_list(
        "to can could will would may might must should not they it which that who he she we"
    ),
    generic=word_list(
        """
        years year time times number people day days life world thing things place side end beginning century
        centuries half total rest group point way case cases fact use majority amount hours minutes hour month
        months order
        """
    ),
    not_nouns=("ly", "ed", "ing", "ous", "ful", "able", "ible", "ive", "less"),
    number_words={
        "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11, "twelve": 12,
    },
    months=word_list(
        """
        january february march april may june july august september october november december
        """
    ),
)  # fmt: skip

GRAMMARS: dict[str, Grammar] = {SPANISH: _SPANISH, ENGLISH: _ENGLISH}
