"""The words beside the number of an account, the same on every paper."""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.labels.rule import Labels

IBAN: Labels = ((2.5, (
    "iban", "cuenta", "ccc", "cuenta bancaria", "# de cuenta", "bank account", "domiciliacion",
                        "account #", "cuenta corriente", "codigo iban")),)  # fmt: skip
