"""What each check is called where people are told that a question did not pass it."""

from __future__ import annotations

from collections.abc import Mapping

CHECK_NAMES: Mapping[str, Mapping[str, str]] = {
    "quoted": {
        "en": "the quotation does not stand on its page",
        "es": "la cita no está en su página",
    },
    "supported": {
        "en": "the quotation hardly carries the answer",
        "es": "la cita apenas sostiene la respuesta",
    },
    "answerable": {
        "en": "the quotation alone does not lead to the answer",
        "es": "solo con la cita no se llega a la respuesta",
    },
    "only_one_right": {
        "en": "the text says the same of another option",
        "es": "el texto dice lo mismo de otra opción",
    },
    "distinct": {"en": "two options say the same", "es": "dos opciones dicen lo mismo"},
    "plausible": {
        "en": "an option is of another kind or length",
        "es": "una opción es de otro tipo o longitud",
    },
    "no_giveaway": {
        "en": "the answer gives itself away",
        "es": "la respuesta se delata",
    },
    "no_synonym": {
        "en": "an option is the answer in other words",
        "es": "una opción es la respuesta con otras palabras",
    },
    "repeated": {
        "en": "another question asks the same",
        "es": "otra pregunta pide lo mismo",
    },
}
