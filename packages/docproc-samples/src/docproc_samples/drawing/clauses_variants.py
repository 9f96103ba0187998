"""The prose of more contracts: loans, confidentiality and the sale of a vehicle."""

from __future__ import annotations

LOAN = {
    "es": (
        (
            "Objeto",
            "La parte prestamista entrega en este acto a la parte prestataria, en concepto de préstamo, la "
            "cantidad de {amount}, "
            "que esta recibe a su entera satisfacción.",
        ),
        (
            "Plazo",
            "El préstamo se devolverá en sesenta cuotas mensuales, la primera de ellas el día cinco del "
            "mes siguiente a la firma.",
        ),
        (
            "Interés",
            "El capital pendiente devengará un interés nominal del tres por ciento anual, que se liquidará "
            "con cada cuota.",
        ),
        ("Forma de pago", "Las cuotas se abonarán por transferencia a la cuenta {iban}."),
        (
            "Amortización anticipada",
            "La parte prestataria podrá devolver todo o parte del capital antes de su vencimiento sin "
            "comisión.",
        ),
        (
            "Impago",
            "La falta de pago de tres cuotas permitirá reclamar la totalidad de lo pendiente con sus "
            "intereses.",
        ),
    ),
    "en": (
        (
            "The loan",
            "The Lender lends the Borrower the sum of {amount}, which the Borrower confirms having "
            "received in full.",
        ),
        (
            "Repayment",
            "The loan is repaid in sixty monthly instalments, the first on the fifth day of the month "
            "after signature.",
        ),
        (
            "Interest",
            "The outstanding capital bears interest at three per cent a year, payable with each instalment.",
        ),
        ("Early repayment", "The Borrower may repay all or part of the loan at any time without charge."),
        ("Default", "If three instalments remain unpaid the Lender may claim all that is outstanding."),
    ),
}
SECRECY = {
    "es": (
        (
            "Información confidencial",
            "Se entiende por información confidencial la técnica, comercial o financiera que una parte "
            "entregue a la otra, de palabra o por escrito, con motivo del proyecto común.",
        ),
        (
            "Obligaciones",
            "Quien la reciba la usará solo para evaluar la colaboración, la guardará con la diligencia con "
            "que guarda "
            "la propia y no la revelará a terceros sin permiso escrito.",
        ),
        (
            "Excepciones",
            "No es confidencial lo que ya fuera público, lo que se conociera antes o lo que exija una "
            "autoridad.",
        ),
        (
            "Duración",
            "Estas obligaciones rigen durante tres años desde la firma, aunque las conversaciones terminen "
            "antes.",
        ),
        (
            "Devolución",
            "A petición de la otra parte, se devolverán o destruirán los documentos recibidos y sus copias.",
        ),
        (
            "Penalización",
            "El incumplimiento dará lugar a una indemnización de {amount}, sin perjuicio de otros daños "
            "probados.",
        ),
    ),
    "en": (
        (
            "Confidential information",
            "It means technical, commercial or financial information that one party gives the other, in "
            "speech or writing, in connection with the joint project.",
        ),
        (
            "Duties",
            "The receiving party uses it only to weigh the project, keeps it as carefully as its own, and "
            "shows it to no one "
            "without written leave.",
        ),
        ("Exceptions", "Nothing that was public, known before, or must be disclosed by law is confidential."),
        ("Term", "These duties last for three years from signature, even if talks end earlier."),
        ("Return", "On request, documents and copies are returned or destroyed."),
    ),
}
SALE = {
    "es": (
        "El vendedor vende al comprador el vehículo descrito por la cantidad de {amount}, que el comprador "
        "entrega en este acto.",
        "El vendedor declara que no pesa sobre el vehículo ninguna carga, gravamen ni impuesto pendiente "
        "en la fecha de este contrato.",
        "El comprador declara conocer el estado actual del vehículo y se hace cargo de cuantas "
        "responsabilidades puedan derivarse de su uso.",
        "Los gastos de transferencia serán de cuenta del comprador.",
    ),
    "en": (
        "The seller sells the vehicle described above to the buyer for {amount}, paid on signature.",
        "The seller states that the vehicle is free of any charge, lien or unpaid tax on the date of this "
        "contract.",
        "The buyer has inspected the vehicle and accepts it in its present condition.",
        "The buyer bears the cost of registering the transfer.",
    ),
}
