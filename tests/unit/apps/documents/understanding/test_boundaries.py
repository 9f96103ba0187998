"""Two documents of one type in a row, told apart by what the pages say of themselves."""

from __future__ import annotations

import pytest

from docproc.apps.documents.understanding.boundaries import Group, PageKind, group, marks
from docproc.reading.page import PageText, Source
from docproc.reading.plain_text import page_of

BLANK = PageText((), Source.OCR)


def invoice(
    sender: str, number: str, *, tax_id: str = "B16596447", total: str = "121,00", foot: str = ""
) -> str:
    return (
        f"{sender}\nCIF: {tax_id}\nFACTURA\nNº factura: {number}\nFecha: 12/03/2026\nCliente: Ana Gil\n"
        f"Cantidad Descripción Importe\n2 Tornillos 50,00\nBase imponible 100,00\nIVA 21 % 21,00\n"
        f"Total factura {total} €\n{foot}"
    )


def rest(sender: str, number: str, *, foot: str = "") -> str:
    return (
        f"{sender}\nNº factura: {number}\nCantidad Descripción Importe\n3 Tuercas 30,00\n4 Arandelas 12,00\n"
        f"Condiciones de venta: la mercancía viaja por cuenta del comprador\n{foot}"
    )


def pages(*texts: str, kind: str = "invoice") -> list[PageKind]:
    return [PageKind(kind, 0.95, marks(page_of(text))) for text in texts]


def places(groups: list[Group]) -> list[tuple[int, ...]]:
    return [one.places for one in groups]


def test_marks_are_read_whatever_their_writing() -> None:
    said = marks(page_of("FACTURA\nPÁGINA\n1 de 2\nNº factura: FV-2025/0215."))
    assert (said["page"], said["of"], said["number"]) == (1, 2, "fv-2025/0215")
    assert marks(page_of("Page 2 of 3\nInvoice No. 77-A"))["number"] == "77-a"
    assert marks(page_of("pág. 3/12"))["page"] == 3
    assert marks(page_of("Hoja 2\nConcepto e importe"))["page"] == 2
    assert marks(page_of("CIF: B-16596447 y NIF 12345678Z"))["tax_ids"] == ["12345678z", "b16596447"]
    assert "es9121000418450200051332" in marks(page_of("IBAN ES91 2100 0418 4502 0005 1332"))["ids"]
    assert marks(page_of("Schedule C\nProfit or loss"))["form"] == "c"


def test_what_is_not_said_or_not_possible_is_left_out() -> None:
    said = marks(page_of("Querida Ana: la página 7 de 3 no existe, la factura número se perdió"))
    assert not {"page", "of", "number", "tax_ids", "ids", "sum"} & set(said)
    assert "tax_ids" not in marks(page_of("CIF: B16596448"))  # its check digit is wrong
    assert marks(BLANK) == {"blank": True}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Two senders; one sender, two numbers.
        (
            invoice("Vega S.L.", "A-1001"),
            invoice("Viveros S.A.", "77/25", tax_id="A14891576", total="9,50"),
            2,
        ),
        (invoice("Vega S.L.", "A-1001"), invoice("Vega S.L.", "A-1002", total="88,10"), 2),
        (invoice("Vega S.L.", "A-1001"), rest("Vega S.L.", "A-1001"), 1),
        (
            invoice("Vega S.L.", "A-1001", foot="Página 1 de 2"),
            rest("Vega S.L.", "A-1001", foot="Página 2 de 2"),
            1,
        ),
        (
            invoice("Vega S.L.", "A-1001", foot="Página 1 de 1"),
            invoice("Vega S.L.", "A-1002", foot="Página 1 de 1"),
            2,
        ),
    ],
)
def test_invoices_in_a_row(first: str, second: str, expected: int) -> None:
    found = group(pages(first, second))
    assert len(found) == expected
    assert all(0.5 <= one.confidence <= 1 for one in found)


def test_payslips_of_one_person_are_told_apart_by_their_month() -> None:
    slip = (
        "Empresa: Sol S.L. CIF B16596447\nTrabajador: Ana Gil NIF 12345678Z\nPeriodo: "
        "01/{m}/2026 - 30/{m}/2026\n"
        "Salario base 1.5{m},00\nTotal devengado 1.6{m},10\nIRPF 150,00\nLíquido a percibir 1.2{m},33\nNÓMINA"
    )
    assert places(group(pages(slip.format(m="03"), slip.format(m="04"), kind="payslip"))) == [(0,), (1,)]


def test_front_and_back_of_a_card_are_one_document() -> None:
    front = "ESPAÑA DOCUMENTO NACIONAL DE IDENTIDAD\nAPELLIDOS {name}\nNOMBRE ANA\nDNI {number}\nSEXO F"
    back = (
        "DOMICILIO\nC. REAL 5\nIDESPBAA000589{number}<<<<<<\n8001014F2501017ESP<<<<<<<<<<<7\n{name}<<ANA<<<<"
    )
    ana, eva = {"name": "GIL", "number": "12345678Z"}, {"name": "RUIZ", "number": "87654321X"}
    row = (
        front.format(**ana),
        back.format(**ana),
        front.format(**eva),
        back.format(**eva),
        front.format(**ana),
    )
    assert places(group(pages(*row, kind="id_card"))) == [(0, 1), (2, 3), (4,)]


def test_clauses_go_on_from_page_to_page() -> None:
    first = "CONTRATO DE ALQUILER\nREUNIDOS\nDe una parte, Ana Gil, y de otra, Luis Paz\nPRIMERA.- Objeto."
    second = "SÉPTIMA.- Gastos.\nLos gastos serán de cuenta de la parte arrendataria.\nOCTAVA.- Fianza."
    assert places(group(pages(first, second, first, kind="contract"))) == [(0, 1), (2,)]


def test_blank_page_is_the_back_of_the_page_before() -> None:
    row = [*pages(invoice("Vega S.L.", "A-1")), PageKind("other", 0.3, marks(BLANK))]
    (found,) = group(row)
    assert (found.doc_type, found.places) == ("invoice", (0, 1))
    # What comes after it is compared with the page that has words.
    numbered = [
        *pages(invoice("Vega S.L.", "A-1", foot="Página 1 de 2")),
        PageKind("other", 0.3, marks(BLANK)),
        *pages(rest("Vega S.L.", "A-1", foot="Página 2 de 2")),
    ]
    assert places(group(numbered)) == [(0, 1, 2)]
    assert places(group([PageKind("other", 0.3, marks(BLANK)), *pages(invoice("Vega S.L.", "A-1"))])) == [
        (0,),
        (1,),
    ]


def test_page_that_is_numbered_on_takes_the_type_of_its_document() -> None:
    first = pages(invoice("Vega S.L.", "A-1", foot="Página 1 de 2"))
    second = PageKind("other", 0.6, marks(page_of("Condiciones generales de venta\nPágina 2 de 2")))
    (found,) = group([*first, second])
    assert (found.doc_type, found.places) == ("invoice", (0, 1))


def test_a_persons_word_stands() -> None:
    row = pages(invoice("Vega S.L.", "A-1"), invoice("Vega S.L.", "A-2", total="88,10"))
    joined = [row[0], PageKind("invoice", 0.95, row[1].marks, begins=False)]
    assert places(group(joined)) == [(0, 1)]
    row = pages(invoice("Vega S.L.", "A-1"), rest("Vega S.L.", "A-1"))
    parted = [row[0], PageKind("invoice", 0.95, row[1].marks, begins=True)]
    assert [one.begins for one in group(parted)] == [(1.0,), (1.0,)]


def test_given_type_takes_each_file_whole() -> None:
    row = [PageKind("invoice", file_index=index) for index in (0, 0, 1)]
    assert places(group(row, by_file=True)) == [(0, 1), (2,)]
