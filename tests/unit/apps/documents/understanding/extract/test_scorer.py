from __future__ import annotations

from decimal import Decimal

import numpy
import pytest

from docproc.apps.documents.quality.fitting import scoring
from docproc.apps.documents.quality.fitting.scoring import FieldExample, KnownDocument
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import blocks, calibrate, features, periods, scorer, sums
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.layout import Stretch, layout
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.apps.documents.understanding.extract.search import Search
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.apps.documents.understanding.extract.spelling import Words, repaired
from docproc_samples.training import extraction
from docproc_samples.training.prints import page, prints

PLACE = Stretch("", (0.1, 0.1, 0.2, 0.12), 0.99, 0, 0, 0, 1)


def scored(value: str, score: float) -> Scored:
    return Scored(Candidate(value, PLACE), score)


def test_weights_are_arrays_and_small() -> None:
    path = models.PACKAGED / "extraction.npz"
    with numpy.load(path, allow_pickle=False) as stored:
        assert set(features.NAMES) >= {str(name) for name in stored["features"]}
    assert path.stat().st_size < 100_000


def test_field_nobody_trained_is_weighed_between_its_kind_and_the_rules() -> None:
    weights = scorer.weights_now()
    known, _ = weights.of("policy", "prima_anual", "amount")
    assert numpy.allclose(2 * known, weights.kinds["amount"][0] + scorer.PRIOR[0])


def test_a_value_in_two_places_has_both_shares() -> None:
    ranking = scorer.rank([scored("1", 3.0), scored("2", 3.1), scored("1", 3.0)], "x", "y", "unheard of")
    assert ranking is not None and ranking.best.value == "1" and ranking.share > 0.5


def test_two_equally_good_values_share_the_confidence() -> None:
    one = scorer.rank([scored("1", 5.0)], "x", "y", "amount")
    two = scorer.rank([scored("1", 5.0), scored("2", 5.0)], "x", "y", "amount")
    assert one is not None and two is not None
    assert (
        calibrate.confidence(two, "x", "y", "amount") < 0.75 < calibrate.confidence(one, "x", "y", "amount")
    )


def test_training_learns_what_tells_right_from_wrong() -> None:
    """The right one is in capitals, whatever the rules say."""
    made = []
    for number in range(40):
        both = [
            Scored(Candidate("right", PLACE), 2.0, {"caps": 1.0}),
            Scored(Candidate("wrong", PLACE), 2.5, {"caps": 0.0}),
        ]
        right = numpy.array([1.0, 0.0])
        made.append(FieldExample("x", "y", "name", both, features.matrix(both), right, str(number), 1.0))
    weights, nothing = scoring.fit(made).of("x", "y", "name")
    logits = made[0].seen @ weights
    assert logits[0] > logits[1] and logits[0] > nothing


def test_calibration_says_how_often_it_is_right() -> None:
    chosen = []
    for number in range(200):
        ranking = scorer.ranked(
            [scored("1", 5.0)], features.matrix([scored("1", 5.0)]), numpy.array([4.0]), 2.0
        )
        example = FieldExample("x", "y", "name", [], numpy.zeros((0, 1)), numpy.zeros(0), "", 1.0)
        chosen.append((example, ranking, number % 10 < 8))
    fitted = extraction.fit_calibration(chosen)
    assert calibrate.probability(calibrate.signals(ranking), fitted["name"]) == pytest.approx(0.8, abs=0.06)


def test_noise_is_the_same_every_time() -> None:
    document = next(iter(prints()))
    labelled = [KnownDocument(document.doc_type, document.fields, (document.page,), "g", False)]
    first, second = (list(extraction.with_noise(labelled)) for _ in range(2))
    assert first == second and len(first) == 2


def test_rows_of_a_tax_table_are_added_up() -> None:
    text = (
        "BASE      %IVA     CUOTA\n100,00    21%      21,00\n 50,00    10%       5,00\n"
        "TOTAL FACTURA      176,00 €"
    )
    found = extract(
        "invoice", [FieldSpec("net_amount", "decimal"), FieldSpec("tax_amount", "decimal")], [page(text)]
    )
    assert [value and value.value for value in found.values()] == ["150.00", "26.00"]


def test_sum_with_tax_withheld() -> None:
    parts = [
        [scored("1200.00", 4.0)],
        [scored("252.00", 4.0)],
        [scored("1272.00", 4.0), scored("1452.00", 2.0)],
    ]
    assert sums.agreeing(parts, [Decimal(0), Decimal(180)]) == ("1200.00", "252.00", "1272.00")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("01/03/2024 al 31/03/2024", "Del "),
        ("01 MAR 24 a 31 MAR 24", "MENS "),
        ("Marzo 2024", ""),
        ("1 al 30 de junio de 2024", "del "),
        ("03/2024", ""),
    ],
)
def test_period_is_found_without_a_label(written: str, words: str) -> None:
    found = periods.periods(layout([page(f"ACME SL\nAbono   {words}{written}   Total 30")]), [])
    assert [each.candidate.value for each in found] == [written]


def test_address_without_a_label_is_the_customer() -> None:
    text = (
        "TALLERES RUIZ S.L.                  Marta Soler Vidal\n"
        "CIF B60885050                       C/ Mayor 3\n"
        "                                    28013 Madrid\nFACTURA 12   Fecha 01/02/2024\nTOTAL  10,00 €"
    )
    found = extract("invoice", [FieldSpec("customer_name"), FieldSpec("vendor_name")], [page(text)])
    assert found["customer_name"] is not None and found["customer_name"].value == "Marta Soler Vidal"
    assert found["vendor_name"] is not None and found["vendor_name"].value == "TALLERES RUIZ S.L."
    assert any(block.evidence >= 1.6 for block in blocks.blocks(layout([page(text)])))


def test_cash_less_change_is_the_total() -> None:
    text = "BAR PEPE\n2 CAFE      3,20\nTOTAI\n3,20\nENTREGADO     5,00\nCAMBIO        1,80"
    found = extract("receipt", [FieldSpec("total_amount", "decimal")], [page(text)])["total_amount"]
    assert found is not None and found.value == "3.20"


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("AMANO SON BHD", "AMANO SDN BHD"),
        ("WorId Foods", "World Foods"),
        ("F0TOS RUIZ S.1.", "FOTOS RUIZ S.L."),
    ],
)
def test_names_of_scans_are_repaired(read: str, printed: str) -> None:
    assert repaired(read) == printed


def test_a_label_with_one_letter_misread_is_found_in_its_place() -> None:
    words = Words.of(["total factura", "fecha"])
    assert words.corrected("tofal factvra: 12,00") == "total factura: 12,00"
    assert words.corrected("12345 fecha") == "12345 fecha"


def test_time_grows_with_the_page_not_with_its_square() -> None:
    """Counted in labels looked at: a clock would be unfair on a busy machine."""

    def looked_at(rows: int) -> int:
        text = "\n".join(f"Fecha 01/02/2024   Total {row},00   Importe {row},50" for row in range(rows))
        search = Search.of("invoice", (FieldSpec("total_amount", "decimal"),), [page(text)])
        return sum(len(told.labels) for told in search.told("amount"))

    assert looked_at(200) < 2.5 * looked_at(100)
