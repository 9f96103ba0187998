"""The fields of statements."""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.labels.account import IBAN
from docproc.apps.documents.understanding.extract.labels.rule import Rule

BANK_STATEMENT: dict[str, Rule] = {
    "iban": Rule("iban", IBAN, alone=2.2),
    "account_holder": Rule("name", (
        (3.2, ("titular", "titulares", "titular/es de la cuenta", "titular(es)", "intervinientes",
        "titular de la cuenta", "account holder", "account name",
               "nombre del titular", "holder",
               "titular/es", "titular cuenta")),
        (2.0, ("cliente", "customer", "name", "nombre", "customer name")),
    ), block=True),
    "closing_balance": Rule("amount", (
        (3.6, ("saldo final", "saldo final a su favor", "saldo actual a su favor",
        "saldo a fin de periodo", "saldo fin de mes", "saldo final del periodo",
               "saldo final periodo", "saldo a favor", "saldo cuenta", "saldo total", "saldo final eur",
               "saldo final (eur)", "saldo real", "closing balance", "ending balance", "nuevo saldo",
               "saldo actual",
               "saldo al", "balance carried forward",
               "saldo a fecha", "saldo disponible", "new balance", "saldo a su favor", "saldo contable",
               "final balance",
               "saldo a", "closing balance at", "saldo cierre", "saldo al cierre")),
        (1.8, ("saldo", "balance", "total balance")),
    ), bottom=0.4),
    "opening_balance": Rule("amount", ((3.6, (
        "saldo inicial", "saldo anterior", "opening balance", "previous balance",
        "balance brought forward", "beginning balance")),)),
    "date": Rule("date", (
        (3.2, ("fecha de extracto", "fecha extracto", "fecha fin", "fecha hasta", "fecha fin periodo",
        "saldo a fecha", "fecha de corte", "fecha de cierre", "statement date", "fecha de emision",
               "fecha emision", "hasta", "period end",
               "extracto a fecha", "date of statement", "fecha del extracto")),
        (2.2, ("fecha", "date", "al", "to", "a fecha")),
    ), bottom=-0.5, alone=0.6),
}  # fmt: skip
