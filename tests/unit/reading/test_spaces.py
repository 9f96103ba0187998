from itertools import pairwise

import numpy
import pytest

from docproc.reading.ocr import lexicon, spaces
from docproc.reading.ocr.spaces import Character, Pixels


def line(text: str, *, letter: int = 16, white: int = 4, space: int = 14) -> tuple[list[Character], Pixels]:
    """A line of block letters as printed, and its characters as read when all spaces were swallowed."""
    starts, x = [], 2
    for sign in text:
        starts.append(x)
        x += space if sign == " " else letter + white
    picture = numpy.full((48, x + 2), 230, numpy.uint8)
    characters = []
    for sign, start in zip(text, starts, strict=True):
        if sign != " ":
            picture[12:36, start : start + letter] = 20
            characters.append((sign, (start + letter / 2) / picture.shape[1], 0.9))
    return characters, picture


def read(characters: list[Character]) -> str:
    return "".join(sign for sign, _, _ in characters)


@pytest.mark.parametrize("text", ["SANYU STATIONERY SHOP", "GESTORÍA NÚÑEZ", "LA CASA DEL PAN"])
def test_swallowed_space_between_capitals_comes_back(text: str) -> None:
    assert read(spaces.restored(*line(text))) == text


@pytest.mark.parametrize(
    ("text", "white", "space"),
    [
        ("PANADERIA", 4, 14),
        ("P A N A D E R I A", 4, 10),  # spaced out for looks: all gaps are alike
        ("TOTAL 12,50 €", 4, 14),  # beside digits the recognizer is to be believed
        ("Calle del Prado", 4, 14),
        ("IVA", 4, 14),
    ],
)
def test_nothing_else_is_parted(text: str, white: int, space: int) -> None:
    characters, picture = line(text, white=white, space=space)
    assert read(spaces.restored(characters, picture)) == text.replace(" ", "")


def test_light_print_on_dark_paper_is_measured_as_well() -> None:
    characters, picture = line("SANYU STATIONERY")
    assert read(spaces.restored(characters, 255 - picture)) == "SANYU STATIONERY"


def test_picture_without_any_stroke_changes_nothing() -> None:
    characters, picture = line("SANYUSTATIONERY")
    assert spaces.restored(characters, numpy.full_like(picture, 255)) == characters


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("PLEASECOMEAGAIN", ["PLEASE", "COME", "AGAIN"]),
        ("TOTALFACTURA", ["TOTAL", "FACTURA"]),
        ("HASSANBISTRO", ["HASSAN", "BISTRO"]),
        ("RESTAURANTE", ["RESTAURANTE"]),
        ("XQZWKJVQ", ["XQZWKJVQ"]),
    ],
)
def test_words_that_ran_together_are_known_apart(run: str, words: list[str]) -> None:
    edges = [0, *lexicon.cuts(run), len(run)]
    assert [run[start:end] for start, end in pairwise(edges)] == words
