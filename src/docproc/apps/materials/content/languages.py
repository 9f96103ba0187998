"""The little that is known of each language here: its commonest words, by which it is also recognised."""

from __future__ import annotations

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def word_list(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPANISH = "es"
ENGLISH = "en"
# Whose texts the offline author and the checks of words can read.
KNOWN = (SPANISH, ENGLISH)

# Words that say nothing of what a sentence is about.
STOPWORDS: dict[str, frozenset[str]] = {
    SPANISH: word_list(
        """
        a acá además ahora ahí al algo alguien algún alguna algunas alguno algunos allí ambas ambos ante
        antes apenas aquel aquella aquellas aquello aquellos aquí así aun aunque aún bajo bastante bien
        cada casi como con conforme contra cual cuales cualquier cualquiera cuando cuanta cuanto cuya
        cuyas cuyo cuyos cuál cuáles cuándo cómo de debe deben deber debido del demás dentro desde después
        donde dos durante dónde e el ella ellas ello ellos embargo en entonces entre era eran eres es esa
        esas ese eso esos esta estaba estaban estado estamos estar estas este esto estos está están etc ex
        excepto fue fueron fuera gran grandes ha haber había habían hace hacen hacer hacia han hasta hay
        he hizo hoy incluso junto la las le les lo los luego mas mayor mayores mayoría me mediante medio
        mejor menor menos mi mientras mis misma mismas mismo mismos modo mucha muchas mucho muchos muy más
        mí nada nadie ni ningún ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nunca o
        os otra otras otro otros para parte partir pero poca pocas poco pocos podemos poder podría por
        porque primer primera primero primeros propia propias propio propios pueda puede pueden pues que
        quien quienes quién qué sea sean según ser será serán si sido siempre siendo sin sino sobre sola
        solamente solo son su sus suele suelen sí sólo tal tales también tampoco tan tanta tanto te
        tenemos tener tenía tenían tiene tienen toda todas todavía todo todos tras través tres tu tus tuvo
        u un una unas uno unos usted va van varias varios veces ver vez y ya yo él ésta éste ésa ése éstas
        éstos cierta ciertas cierto ciertos diferentes distintas distintos diversas diversos ejemplo forma
        formas tipo tipos manera maneras
        """
    ),
    ENGLISH: word_list(
        """
        a about above across after again against all almost along already also although always am among an
        and another any anything are around as at away back be became because become becomes been before
        began behind being below between both but by called came can cannot could did do does doing done
        down during each either else enough especially etc even ever every everything example few first
        for form forms found from further gave get give given gives go goes had has have having he hence
        her here hers him his how however i if in include includes including indeed instead into is it its
        itself just kind known large largely last later latter least less let like likely made main mainly
        make makes making many may me might more most mostly much must my near nearly neither never no nor
        not nothing now of off often on once one ones only or other others otherwise our out over own part
        parts per perhaps quite rather said same seem seen several shall she should since small so some
        something sometimes soon still such take taken takes than that the their them themselves then
        there therefore these they thing things this those though three through thus to together too
        toward towards two type types under unlike until up upon us use used uses using usually various
        very was way ways we well went were what whatever when where whereas whether which while who whole
        whom whose why will with within without would yet you your
        amid beside besides beyond despite inside like onto outside throughout via
        """
    ),
}


def words(text: str) -> list[str]:
    """Its words in lower case, without numbers and signs."""
    return [match.group().casefold() for match in WORD.finditer(text)]


def content_words(text: str, language: str) -> list[str]:
    """The words that say what it is about."""
    stopwords = STOPWORDS.get(language, frozenset())
    return [word for word in words(text) if word not in stopwords and len(word) > 1]


def recognise(text: str, otherwise: str = "") -> str:
    """The language of a text, by which language's common words it has more of; `otherwise` where neither."""
    counts = Counter(words(text[:20000]))
    shares = {
        language: sum(counts[word] for word in STOPWORDS[language]) / max(1, sum(counts.values()))
        for language in KNOWN
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= 0.15 else otherwise


def stem(word: str, language: str) -> str:
    """The word without the endings of number and gender: enough to see that two words are one."""
    word = word.casefold()
    if language == SPANISH:
        return re.sub(r"(?:es|[aoe]s|s|[aoe])$", "", word) if len(word) > 4 else word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and len(word) > 4 and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)] + instead
    return word


def stems(text: str, language: str) -> set[str]:
    """The stems of its content words: what two statements have in common is measured on these."""
    return {stem(word, language) for word in content_words(text, language)}
