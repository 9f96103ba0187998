"""Memory: what is learnt of one document reads the next one of its layout, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from docproc.apps.documents.understanding import memory
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.memory import Example, fingerprint, keys, recall, similarity
from docproc.apps.documents.understanding.memory.fingerprints import same_owner
from docproc.reading.page import PageText, Source
from tests.pages import page_of

SPECS = [
    FieldSpec("vendor_name"),
    FieldSpec("invoice_number"),
    FieldSpec("date", "date"),
    FieldSpec("total_amount", "decimal"),
    FieldSpec("customer_name"),
]
TRUTH = {"vendor_name": "Zarzal & Hijos", "invoice_number": "26/00817", "total_amount": "418.06"}
READ = {"vendor_name": "Gestoría Puerta", "invoice_number": "7781", "total_amount": "517.56"}


def sawmill(number: str, total: str, *items: str, down: int = 0) -> PageText:
    """The issuer is only a logo, and the totals have odd names; more items push them down."""
    rows = "\n".join(f"      {item}" for item in items)
    return page_of(
        "\n" * down
        + f"""
                                       Polígono Las Eras, nave 7, Talavera
                                       www.zarzal.example  Teléfono 925 800 413
      Factura
                                       Expediente     Documento       Día
                                       7781           {number}        03/02/2026
      Para: Gestoría Puerta

{rows}

                                       Total bruto                 345,50
                                       Total con recargo           517,56
                                       A su cargo                  {total}
"""
    )


def clinic(total: str) -> PageText:
    """Another issuer with a layout of its own."""
    return page_of(
        f"""
      CLÍNICA DENTAL ALAMEDA
      Calle Mayor 3, Soria                         NIF B16596447
      FACTURA
      Número: 26/00900          Fecha: 03/02/2026
      Para: Gestoría Puerta
      Limpieza                                     60,00
      Importe total                                {total}
"""
    )


def learnt(page: PageText, order: float = 0.0, **more: str | None) -> Example:
    return memory.learn(SPECS, [page], {**TRUTH, **more}, READ, order=order)


def read(value: str, confidence: float = 0.6, source: Source = Source.TEXT_LAYER) -> FieldValue:
    return FieldValue(value, confidence, source, 0, None)


def recalled(
    page: PageText, *examples: Example, **found: FieldValue | None
) -> Mapping[str, FieldValue | None]:
    answers: dict[str, FieldValue | None] = {spec.name: None for spec in SPECS}
    return recall("invoice", SPECS, [page], {**answers, **found}, examples)


FIRST = sawmill("26/00817", "418,06", "Tablero de pino   300,00", "Corte a medida     45,50")
NEXT = sawmill("26/01230", "1.101,58", "Puerta maciza   812,00", "Bisagras  38,40", "Transporte  60,00")


def test_value_is_read_where_the_corrected_one_stood() -> None:
    answer = recalled(NEXT, learnt(FIRST), total_amount=read("517.56", 0.9))["total_amount"]
    assert answer is not None
    assert answer.value == "1101.58"  # not the one that was read, however sure
    assert answer.confidence > 0.75
    assert (answer.source, answer.page) == (Source.TEXT_LAYER, 0)
    assert answer.box is not None and answer.box[0] > 0.6


def test_number_is_read_below_the_same_heading() -> None:
    answer = recalled(NEXT, learnt(FIRST), invoice_number=read("7781"))["invoice_number"]
    assert answer is not None and answer.value == "26/01230"


def test_issuer_is_recalled_though_it_is_not_printed() -> None:
    answer = recalled(NEXT, learnt(FIRST), vendor_name=read("Gestoría Puerta"))["vendor_name"]
    assert answer is not None
    assert (answer.value, answer.source, answer.box) == ("Zarzal & Hijos", Source.MEMORY, None)
    assert answer.confidence > 0.75


@pytest.mark.parametrize("down", [1, 3])
def test_page_that_was_scanned_a_little_lower_is_the_same_layout(down: int) -> None:
    moved = sawmill("26/01230", "1.101,58", "Puerta maciza   812,00", down=down)
    answer = recalled(moved, learnt(FIRST))["total_amount"]
    assert answer is not None and answer.value == "1101.58"


def test_other_layout_is_left_alone() -> None:
    found = {"total_amount": read("60.00"), "vendor_name": read("Clínica Dental Alameda", 0.5)}
    answers = recalled(clinic("60,00"), learnt(FIRST), **found)
    assert {name: answers[name] for name in found} == found


def test_same_template_of_another_issuer_does_not_take_its_name() -> None:
    other = page_of(
        "\n".join(
            line.replace("www.zarzal.example  Teléfono 925 800 413", "Oficinas centrales  CIF B16596447")
            for line in _lines(NEXT)
        )
    )
    answers = recalled(other, learnt(FIRST), vendor_name=read("Otra, S.L.", 0.5))
    assert answers["vendor_name"] == read("Otra, S.L.", 0.5)
    assert answers["total_amount"] is not None and answers["total_amount"].value == "1101.58"


def test_later_correction_beats_an_earlier_one() -> None:
    old = learnt(FIRST, order=1.0, total_amount="517.56")
    new = learnt(FIRST, order=2.0)
    for examples in ((old, new), (new, old)):
        answer = recalled(NEXT, *examples)["total_amount"]
        assert answer is not None and answer.value == "1101.58"


def test_more_examples_that_agree_make_it_surer() -> None:
    once = recalled(NEXT, learnt(FIRST))["total_amount"]
    twice = recalled(NEXT, learnt(FIRST), learnt(FIRST))["total_amount"]
    assert once is not None and twice is not None
    assert once.confidence < twice.confidence <= 0.98


def test_confirmed_reading_does_not_overrule_a_surer_one() -> None:
    confirmed = memory.learn(SPECS, [FIRST], {"total_amount": "418.06"}, {"total_amount": "418.06"})
    sure = read("999.00", 0.97)
    assert recalled(NEXT, confirmed, total_amount=sure)["total_amount"] == sure


def test_agreement_raises_the_confidence() -> None:
    answer = recalled(NEXT, learnt(FIRST), total_amount=read("1101.58", 0.6))["total_amount"]
    assert answer is not None and answer.value == "1101.58" and answer.confidence > 0.9


@pytest.mark.parametrize("source", [Source.CODE, Source.EMBEDDED])
def test_data_made_for_machines_is_not_overruled(source: Source) -> None:
    code = read("12.00", 0.7, source)
    assert recalled(NEXT, learnt(FIRST), total_amount=code)["total_amount"] == code


def test_value_that_its_validators_refute_loses() -> None:
    strict = [replace(spec, max="1000.00") if spec.name == "total_amount" else spec for spec in SPECS]
    kept = read("517.56", 0.5)
    answers = recall("invoice", strict, [NEXT], {"total_amount": kept}, [learnt(FIRST)])
    assert answers["total_amount"] == kept


def test_amounts_that_add_up_are_not_broken() -> None:
    specs = [FieldSpec(name, "decimal") for name in ("net_amount", "tax_amount", "total_amount")]
    found = {"net_amount": read("345.50"), "tax_amount": read("172.06"), "total_amount": read("517.56")}
    assert recall("invoice", specs, [NEXT], found, [learnt(FIRST)]) == found


def test_what_people_said_is_not_there_is_not_answered() -> None:
    example = memory.learn(SPECS, [FIRST], {"customer_name": None}, {"customer_name": "Gestoría Puerta"})
    assert recalled(NEXT, example, customer_name=read("Gestoría Puerta"))["customer_name"] is None
    doubted = recalled(NEXT, example, customer_name=read("Otro, S.A.", 0.9))["customer_name"]
    assert doubted is not None and doubted.confidence < 0.6


def test_text_is_taken_after_the_words_before_it() -> None:
    example = learnt(FIRST, customer_name="Gestoría Puerta")
    other = page_of("\n".join(line.replace("Gestoría Puerta", "Talleres Duero") for line in _lines(NEXT)))
    answer = recalled(other, example)["customer_name"]
    assert answer is not None and answer.value == "Talleres Duero"


def test_place_a_person_pointed_at_counts_where_a_value_stands_twice() -> None:
    page = page_of("Total factura    50,00\nPagado           50,00\nCambio            0,00")
    where = {"total_amount": (0, (0.0, 0.0, 1.0, 0.8 / 70))}
    lesson = memory.learn(SPECS, [page], {"total_amount": "50.00"}, {}, where).lessons[0]
    assert [round(place.y, 3) for place in lesson.places] == [round(0.4 / 70 * 297 / 210, 3)]


def test_examples_survive_being_packed() -> None:
    example = learnt(FIRST, order=3.0)
    assert memory.unpack(memory.pack(example)) == example


def test_second_review_keeps_what_the_first_said_of_other_fields() -> None:
    first = learnt(FIRST, order=1.0)
    second = memory.learn(SPECS, [FIRST], {"total_amount": "517.56"}, {}, order=2.0).joined(first)
    assert {lesson.field: lesson.value for lesson in second.lessons} == {**TRUTH, "total_amount": "517.56"}


# --- fingerprints ---------------------------------------------------------------------------------------


def test_documents_of_one_layout_share_keys_and_others_do_not() -> None:
    first, following, other = (set(keys(fingerprint([page]))) for page in (FIRST, NEXT, clinic("60,00")))
    assert len(first & following) >= 3
    assert not first & other


def test_likeness_tells_layouts_apart() -> None:
    first, following, other = (fingerprint([page]) for page in (FIRST, NEXT, clinic("60,00")))
    assert similarity(first, first) == 1.0
    assert similarity(first, following) == similarity(following, first) > 0.75
    assert similarity(first, other) < 0.3


def test_tax_id_of_the_customer_says_nothing_of_the_issuer() -> None:
    page = page_of("Suministros Vega, S.L.  CIF B16596447\nCliente: Puerta, S.A.  NIF A28599033")
    assert fingerprint([page]).owners == {"t:b16596447", "t:a28599033"}
    assert fingerprint([page], others=["A-28599033"]).owners == {"t:b16596447"}


def test_each_naming_a_tax_id_unknown_to_the_other_are_two_issuers() -> None:
    one = fingerprint([page_of("Vega CIF B16596447\nCliente A28599033")])
    other = fingerprint([page_of("Faro CIF B23946627\nCliente A28599033")])
    assert same_owner(one, other, 0.9) == 0.0
    assert same_owner(one, one, 0.9) > 0.9


def test_dates_are_no_numbers_of_an_issuer() -> None:
    assert fingerprint([page_of("Fecha 12/03/2026 y 12-03-2026")]).owners == frozenset()


def test_blank_page_has_no_keys_and_recalls_nothing() -> None:
    blank = PageText((), Source.OCR)
    assert keys(fingerprint([blank])) == []
    assert recalled(blank, learnt(FIRST))["total_amount"] is None


def _lines(page: PageText) -> list[str]:
    """The page drawn again, word by word where it stood."""
    rows: dict[int, str] = {}
    for word in page.words:
        start = round(word.box[0] * 100)
        rows[word.line] = rows.get(word.line, "").ljust(start) + word.text
    return [rows.get(number, "") for number in range(max(rows) + 1)]
