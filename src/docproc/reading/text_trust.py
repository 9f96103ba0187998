"""Whether a text layer says what the page shows: decisions only, from the facts `text_layer` gathered."""

from __future__ import annotations

import math
import re
import unicodedata

from docproc.reading.text_layer import FEW_LETTERS, LARGE_PICTURE, TextLayer

_PICTURE_WORTH_READING = 0.15  # of the page
_MEANINGLESS_SHARE = 0.05
_MOJIBAKE_SHARE = 0.02  # of the words
_SYMBOLS_SHARE = 0.5
_GIBBERISH_SHARE = 0.35  # of the words; languages stay below a tenth
_ENOUGH_LETTERS = 60  # to speak of frequencies
_LEAST_LIKELIHOOD = -3.2  # languages measure −2.85 to −3.1, shifted alphabets below −3.3
_INK_UNDER_WORDS = 0.35  # lines, logos and stains are ink too
_WORDS_ON_INK = 0.6

# UTF-8 taken for Latin-1 or Windows-1252: Ã³, Ã±, Â€, â‚¬, â€“.
_MOJIBAKE = re.compile(r"[ÃÂ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â‚¬|â€")
_LEADER = re.compile(r"([-._·…–—=*])\1{3,}")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]+")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6}")
_VOWELS = frozenset("aeiouy")
# Letters per ten thousand, over Spanish, English, French, German, Italian, Portuguese and Catalan.
# fmt: off
_FREQUENCY = {
    "a": 950, "b": 130, "c": 380, "d": 450, "e": 1300, "f": 130, "g": 140, "h": 250, "i": 700,
    "j": 40, "k": 60, "l": 450, "m": 290, "n": 700, "o": 700, "p": 260, "q": 80, "r": 650,
    "s": 700, "t": 630, "u": 400, "v": 130, "w": 70, "x": 40, "y": 100, "z": 60,
}
# fmt: on


def is_trustworthy(layer: TextLayer) -> bool:
    """The page needs no OCR: its text layer says what it shows, or it shows nothing."""
    return not doubt(layer)


def doubt(layer: TextLayer) -> str:
    """Why the page is better read by OCR, in words; empty when the layer is believed."""
    if layer.is_blank:
        return ""
    if not layer.page.words:
        return "there is no text"
    return garbled(layer.page.text) or _out_of_place(layer)


def garbled(text: str) -> str:
    """What is wrong with the characters; empty when they look like language."""
    letters = "".join(text.split())
    if not letters:
        return "there is no text"
    # Rows of dots or dashes lead the eye from a name to its amount: they are lines, not symbols to judge by.
    letters = _LEADER.sub("", letters) or letters
    if sum(map(_is_meaningless, letters)) > _MEANINGLESS_SHARE * len(letters):
        return "characters have no meaning (a font without its Unicode table)"
    words = text.split()
    if sum(1 for word in words if _MOJIBAKE.search(word)) > max(1, _MOJIBAKE_SHARE * len(words)):
        return "accents were decoded wrongly"
    if sum(map(str.isalnum, letters)) < _SYMBOLS_SHARE * len(letters):
        return "it is mostly symbols"
    return _gibberish(text)


def _is_meaningless(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Co", "Cn", "Cs")


def _gibberish(text: str) -> str:
    # Codes and numbers are left alone: only words made of Latin letters can look wrong.
    words = [_folded(word) for word in _LATIN_WORD.findall(text)]
    long = [word for word in words if len(word) >= 4]
    if len(long) >= 5:
        odd = sum(1 for word in long if not _VOWELS & set(word) or _CONSONANTS.search(word))
        if odd > _GIBBERISH_SHARE * len(long):
            return "its words cannot be pronounced"
    known = [letter for word in long for letter in word if letter in _FREQUENCY]
    if len(known) >= _ENOUGH_LETTERS and likelihood(known) < _LEAST_LIKELIHOOD:
        return "its letters are not those of a language (a font with its own alphabet)"
    return ""


def likelihood(letters: list[str]) -> float:
    """The mean logarithm of how common the letters a–z are in European languages."""
    return sum(math.log(_FREQUENCY[letter] / 10_000) for letter in letters) / len(letters)


def _folded(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _out_of_place(layer: TextLayer) -> str:
    """What the layer leaves out or puts where nothing is printed."""
    ink = layer.ink
    is_short = layer.letters < FEW_LETTERS
    if is_short and layer.image_share >= _PICTURE_WORTH_READING:
        return "there is little text beside a picture"
    if ink is None:
        return ""
    if layer.is_hidden or layer.image_share >= LARGE_PICTURE:
        if ink.words_on_ink < _WORDS_ON_INK:
            return "its words lie where nothing is printed"
        if ink.under_words < _INK_UNDER_WORDS:
            return "much of what is printed is not in it"
    elif is_short and ink.under_words < _INK_UNDER_WORDS:
        return "much of what is drawn is not in it"
    return ""
