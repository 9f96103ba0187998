"""The fields of contracts."""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.labels.rule import Rule

CONTRACT: dict[str, Rule] = {
    "date": Rule("date", (
        (3.0, ("fecha del contrato", "fecha de firma", "effective date", "dated", "made on",
               "entered into on", "fecha de efecto",
               "made as of", "dated as of", "is made on", "en fecha", "fecha de formalizacion",
               "signed on", "made this")),
        (2.2, ("fecha", "date", "a", "el dia", "on", "as of")),
    ), bottom=-0.4, alone=0.8),
    "party_a": Rule("name", ((2.8, ("nombre o razon social de la empresa", "razon social de la empresa",
    "parte arrendadora",
    "parte vendedora", "parte prestadora", "contratista", "arrendador", "arrendadora", "vendedor",
    "landlord", "seller",
    "licensor", "party a",
                                    "parte a", "el prestador", "empleador", "employer", "supplier",
                                    "prestador",
                                    "the company", "empresa", "provider")),)),
    "party_b": Rule("name", ((2.8, ("parte arrendataria", "datos del/de la trabajador/a",
    "datos del trabajador", "datos de la persona trabajadora", "datos del trabajador/a",
    "parte compradora", "persona trabajadora", "trabajador/a", "arrendatario", "arrendataria",
    "comprador", "tenant", "buyer",
    "licensee", "party b",
                                    "parte b", "el cliente", "trabajador", "employee", "cliente",
                                    "client", "customer")),)),
}  # fmt: skip
