import pytest

from docproc.apps.documents.understanding.classify import TYPES, Classification
from docproc.apps.documents.understanding.classify import classify as classify_page
from docproc.reading.page import Code, PageText, Source
from docproc.reading.plain_text import page_of


def classify(text: str, types: dict[str, list[str]] | None = None) -> Classification:
    return classify_page(page_of(text), types)


PAGES = {
    "invoice": [
        "Talleres Ruiz S.L.\nNIF B12345674\nFACTURA\nNº factura: 2026/15\nFecha: 12/03/2026\nBase "
        "imponible 100,00\nIVA 21 % 21,00\nTotal 121,00 €",
        "Acme Ltd\nINVOICE\nInvoice number: 55\nDue date: 1 May 2026\nBill to: Bob\nSubtotal 10.00\n"
        "VAT 20% 2.00\nTotal 12.00",
        "Página 2 de 2\nCantidad Descripción Precio Importe\n2 Tornillos 1,00 2,00\nBase imponible "
        "2,00\nCuota IVA 0,42\nTotal factura 2,42 €",
        # as OCR may read it: no accents, odd letters
        "FACTURA\nN. factura 77\nBase lmponible 10,00\nIVA 21% 2,10\nTota1 factura 12,10\nForma de "
        "pago transferencia\nCliente Ana",
        # what tickets say too, but it names who buys
        "HOSTAL LA FUENTE\nSr. Juan Ruiz   Factura / Invoice 26/00123\nTALLERES RUIZ S.L.   Fecha / Date "
        "14/03/2026\nCIF: B12345674   Habitación / Room 12\nCajero / Cashier RECEP1\nFecha Descripción "
        "Cargos Abonos\n12/03/26 Alojamiento 80,00\n13/03/26 Desayuno 9,00\n14/03/26 Visa XXXX 89,00\n"
        "Base imponible IVA Total\nIVA 10% 80,91 8,09 89,00\nI.V.A. incluido. Gracias por su visita\n"
        "Hostelería del Sur S.A. CIF A58818501",
        "CASH DEL NORTE MAYORISTAS\nDistribuciones Norte S.A.   Fra. Nº...: 026/CF/0012\nC.I.F. A58818501 "
        "  Fecha....: 18.02.2026\nCaja/Op: 04 Hora: 09:52\nCLIENTE 77 ANA GIL MORA NIF 99999999R\n"
        "ARTÍCULO UDS PRECIO IVA R.E. IMPORTE\nHARINA 1KG 10 0,80 4 0,5 8,00\nBASE %IVA CUOTA IVA TOTAL\n"
        "8,00 4,00 0,32 8,36\nTOTAL A PAGAR: 8,36 €\nPagado con: TARJETA 8,36\nLe atendió: LUIS",
        "ANA GIL MORA\nArquitecta. Colegiada nº 1234\nMinuta de honorarios n.º 7/26\nToledo, 2 de marzo de "
        "2026\nTALLERES RUIZ, S.L.\nC.I.F. B12345674\nProyecto básico 1.200,00 €\nBase imponible 1.200,00 €\n"
        "21 % I.V.A. 252,00 €\nRetención I.R.P.F. 15 % – 180,00 €\nSuplidos 20,00 €\nTOTAL A PERCIBIR "
        "1.292,00 €\nFdo.: Ana Gil Mora\nN.I.F. 99999999R",
    ],
    "receipt": [
        "SUPERMERCADO SOL\nFactura simplificada\n12/03/2026 18:22\nPAN 1,20\nTOTAL 1,20\nEfectivo "
        "2,00\nCambio 0,80\nGracias por su visita",
        "CORNER SHOP\n03/04/2026 10:11\nMilk 1.10\nTotal 1.10\nCash 5.00\nChange 3.90\nThank you",
    ],
    "id_card": [
        "ESPAÑA DOCUMENTO NACIONAL DE IDENTIDAD\nAPELLIDOS\nESPAÑOLA\nNOMBRE\nCARMEN\nSEXO F "
        "NACIONALIDAD ESP\nFECHA DE NACIMIENTO 01 01 1980",
        "DOMICILIO\nC. REAL 5\nIDESPBAA000589599999999R<<<<<<\n8001014F2501017ESP<<<<<<<<<<<7\n"
        "ESPANOLA<ESPANOLA<<CARMEN<<<<<",
    ],
    "payslip": [
        "NÓMINA\nEmpresa: Sol S.L.\nTrabajador: Ana Gil\nPeriodo de liquidación: marzo 2026\nSalario "
        "base 1.500,00\nTotal devengado 1.500,00\nIRPF 150,00\nTotal a deducir 250,00\nLíquido a "
        "percibir 1.250,00",
        "Pay slip\nEmployee: Joe Doe\nPay period: June 2026\nGross pay 2,000.00\nTotal deductions "
        "400.00\nNet pay 1,600.00",
    ],
    "contract": [
        "CONTRATO DE ARRENDAMIENTO\nEn Madrid, a 1 de marzo de 2026\nREUNIDOS\nDe una parte, D. Juan "
        "Ruiz, y de otra parte, Dª Ana Gil\nEXPONEN\nCLÁUSULAS\nPRIMERA.- Objeto.",
        "SEXTA.- Gastos.\nLos gastos serán de cuenta de la parte arrendataria.\nSÉPTIMA.- Fianza.\n"
        "Las partes acuerdan una fianza de dos meses.\nEn prueba de conformidad firman el presente "
        "contrato.",
        "SERVICES AGREEMENT\nThis Agreement is made on 1 May 2026 between A Ltd and B Ltd.\nWHEREAS "
        "the parties wish to\nNOW THEREFORE the parties hereby agree\n1. Term\nGoverning law",
    ],
    "bank_statement": [
        "BANCO SUR\nEXTRACTO DE CUENTA\nTitular: Ana Gil\nIBAN ES91 2100 0418 4502 0005 1332\nFecha "
        "Concepto Importe Saldo\nSaldo inicial 10,00\n01/03 Recibo luz -5,00 5,00\nSaldo final 5,00",
    ],
}  # fmt: skip

OPEN_SET = {
    "letter about an invoice": "Estimado señor Gómez:\n\nLe escribo en relación con la factura "
    "número 2026/15 que recibimos la semana pasada."
    " Hemos comprobado que el importe total no coincide con el presupuesto que nos envió y le "
    "pedimos que la corrija.\n\nAtentamente,\nAna Gil",
    "article about payslips": "Cómo leer su nómina\n\nLa nómina es el documento que recoge lo que la "
    "empresa paga a un trabajador. En ella se ven los"
    " devengos y las deducciones, y al final el líquido a percibir. Muchas personas no saben que el "
    "IRPF depende de su situación y que la base de"
    " cotización se calcula con las pagas extraordinarias. Por ejemplo, si el salario base sube, "
    "también lo hace la cotización a la seguridad social.",
    "news in English": "Why invoices are late\n\nSmall companies say that it takes more than sixty "
    "days for an invoice to be paid. The new law"
    " is meant to change that, but it is not clear who will check it. However, most of the owners we "
    "spoke to are not waiting for the courts.",
    "delivery note": "ALBARÁN\nAlbarán nº 55\nCliente: Ana Gil\nCantidad Descripción\n2 Tornillos\n"
    "Recibí conforme",
    "recipe": "Tortilla de patatas\nIngredientes\n4 huevos\n3 patatas\nsal\nFreír las patatas y "
    "batir los huevos.",
}  # fmt: skip

OPEN_SET |= {
    "delivery note with prices": """
Maderas Ruiz S.L. ALBARÁN VALORADO
CIF A58818501
Albarán nº 77 Fecha 3/2/2026
Cliente: Trama S.L. NIF B12345674
Artículo Cantidad Precio Importe
Tabla 2 10,00 20,00
Base imponible 20,00
IVA 21 % 4,20
Total albarán 24,20
Documento sin valor de factura
Recibí conforme
""",
    "proforma": """
Maderas Ruiz S.L.
FACTURA PROFORMA
CIF A58818501
Nº 2026/7 Fecha 3/2/2026
Cliente: Trama S.L. NIF B12345674
Descripción Cantidad Precio Importe
Tabla 2 10,00 20,00
Base imponible 20,00
IVA 21 % 4,20
Total 24,20 €
Forma de pago: transferencia por adelantado
""",
    "article with an example": """
Inicio > Blog > Autónomos
Cómo hacer una factura paso a paso
Por Ana Gil · 5 min de lectura
Si acabas de empezar, emitir tu primera factura puede dar miedo, pero es más fácil de lo que parece.
Número de factura y fecha de expedición.
NIF del emisor y del destinatario.
Ejemplo
Base imponible: 100,00 €
IVA 21 %: 21,00 €
Total factura: 121,00 €
Recuerda que debes guardar una copia. ¿Te ha gustado? Suscríbete.
2 comentarios
""",
    "rent receipt": """
RECIBO DE ALQUILER
Recibo nº 3
He recibido de D. Juan Ruiz con DNI 99999999R la cantidad de 650,00 euros en concepto de alquiler
del mes de marzo de la vivienda sita en calle Mayor 5
Toledo, 2 de marzo de 2026
Firma del arrendador
""",
    "certificate of withholdings": """
CERTIFICADO DE RETENCIONES E INGRESOS A CUENTA DEL IRPF
Ejercicio 2025
Datos del perceptor: Ana Gil NIF 99999999R
Datos del pagador: Trama S.L. NIF B12345674
Rendimientos del trabajo: importe íntegro 20.000,00
Retenciones practicadas 2.500,00
Firma y sello del pagador
""",
    "vehicle": """
PERMISO DE CIRCULACIÓN
Reino de España Ministerio del Interior
A 1234 BBB
B 12/03/2019
C.1.1 RUIZ MORA
C.1.2 ANA
C.1.3 CALLE MAYOR 5 TOLEDO
D.1 SEAT
E VSSZZZ6JZBR000000
P.1 1390 P.2 63 P.3 GASOLINA
S.1 5
""",
}


@pytest.mark.parametrize(
    ("doc_type", "text"), [(name, text) for name, texts in PAGES.items() for text in texts]
)
def test_pages_get_their_type(doc_type: str, text: str) -> None:
    found = classify(text)
    assert found.doc_type == doc_type, found.scores
    assert found.confidence > 0.6


@pytest.mark.parametrize("name", OPEN_SET)
def test_what_only_speaks_of_documents_is_other(name: str) -> None:
    found = classify(OPEN_SET[name])
    assert found.doc_type == "other", found.scores


@pytest.mark.parametrize("text", ["", " \n ", "..."])
def test_nothing_to_read_is_other_with_little_confidence(text: str) -> None:
    found = classify(text)
    assert (found.doc_type, found.confidence < 0.5) == ("other", True)


def test_scores_are_probabilities_of_all_types() -> None:
    found = classify(PAGES["invoice"][0])
    assert set(found.scores) == set(TYPES)
    assert sum(found.scores.values()) == pytest.approx(1.0)
    assert found.confidence == max(found.scores.values())


def test_workflows_add_types_by_their_phrases() -> None:
    text = "PÓLIZA DE SEGURO\nTomador: Ana Gil\nPrima anual 320,00 €\nCobertura: hogar"
    types = {"policy": ["póliza de seguro", "tomador", "prima anual"]}
    assert classify(text).doc_type == "other"
    assert classify(text, types).doc_type == "policy"
    assert classify(PAGES["invoice"][0], types).doc_type == "invoice"


def test_a_code_tells_what_the_words_do_not() -> None:
    words = page_of("Talleres Ruiz S.L.\n12/03/2026\nReparación 100,00\n121,00").words
    url = "https://www2.agenciatributaria.gob.es/wlpl/TIKE-CONT/ValidarQR?nif=B12345674&numserie=1&fecha=12-03-2026&importe=121.00"
    without, with_code = (
        classify_page(PageText(words, Source.OCR, 595, 842, codes=codes)).scores["invoice"]
        for codes in ((), (Code("qr", url),))
    )
    assert with_code > max(without, 0.5)


def test_a_code_that_proves_the_type_decides_it() -> None:
    """A letter by all its words: the tax agency's code is on invoices and receipts only."""
    words = page_of(
        "Estimado vecino:\nLe informamos de que el presupuesto aprobado en la junta\n"
        "se envía adjunto con el acta de la reunión.\nCertificado de asistencia\nInforme anual\n"
        "Atentamente, el presidente de la comunidad"
    ).words
    without = classify_page(PageText(words, Source.OCR, 595, 842))
    assert (without.doc_type, without.confidence > 0.99) == ("other", True)
    url = "https://www2.agenciatributaria.gob.es/wlpl/TIKE-CONT/ValidarQR?nif=B12345674&numserie=1&fecha=12-03-2026&importe=121.00"
    proven = classify_page(PageText(words, Source.OCR, 595, 842, codes=(Code("qr", url),)))
    assert proven.doc_type == "invoice" and proven.confidence > 0.8
    assert proven.scores["invoice"] + proven.scores["receipt"] == pytest.approx(0.99)
    assert sum(proven.scores.values()) == pytest.approx(1)
