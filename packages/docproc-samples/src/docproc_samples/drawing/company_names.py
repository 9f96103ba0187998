"""Invented company names of many shapes: families, activities, made-up words, long legal ones."""

from __future__ import annotations

from random import Random

from docproc_samples.drawing.names import SURNAMES

ACTIVITIES = {
    "es": (
        "Suministros",
        "Talleres",
        "Construcciones",
        "Reformas",
        "Instalaciones",
        "Transportes",
        "Comercial",
        "Distribuciones",
        "Asesoría",
        "Gestión",
        "Ingeniería",
        "Muebles",
        "Electricidad",
        "Fontanería",
        "Mármoles",
        "Imprenta",
        "Gráficas",
        "Bodegas",
        "Conservas",
        "Carpintería",
        "Sistemas",
        "Soluciones",
        "Servicios",
        "Consultores",
        "Autocares",
        "Frío Industrial",
        "Jardinería",
        "Seguridad",
        "Recambios",
    ),
    "en": (
        "Supplies",
        "Engineering",
        "Builders",
        "Plumbing",
        "Logistics",
        "Trading",
        "Foods",
        "Consulting",
        "Interiors",
        "Roofing",
        "Printing",
        "Systems",
        "Solutions",
        "Motors",
        "Electrical",
        "Catering",
        "Landscapes",
        "Joinery",
        "Security",
        "Packaging",
        "Analytics",
        "Partners",
        "Design",
        "Fabrication",
    ),
}
OBJECTS = {
    "es": (
        "del Noroeste",
        "de Levante",
        "del Ebro",
        "Costa Blanca",
        "Sierra Norte",
        "La Encina",
        "El Faro",
        "Los Almendros",
        "San Roque",
        "Nueva Era",
        "Ibérica",
        "Atlántico",
        "Vallés",
        "2000",
        "Hispania",
        "Peñalara",
        "Ría Baja",
        "Campo Real",
        "Monteclaro",
        "del Sur",
    ),
    "en": (
        "Northern",
        "Atlantic",
        "Redstone",
        "Ironbridge",
        "Bluewater",
        "Greenfield",
        "Highland",
        "Kingsley",
        "Silver Birch",
        "Harbourside",
        "Westgate",
        "Three Rivers",
        "Evergreen",
        "Pioneer",
        "Union",
    ),
}
STARTS = ("Nor", "Tec", "Inver", "Lumi", "Vero", "Agri", "Medi", "Quan", "Solu", "Ver", "Zen", "Akra", "Orbi")
ENDS = ("valia", "novia", "tek", "plast", "gest", "lux", "mar", "sys", "data", "cor", "via", "ma", "nexo")
LONG = {
    "es": (
        "Compañía Ibérica de Suministros y Montajes Eléctricos",
        "Sociedad Agraria de Transformación Los Regadíos",
        "Centro de Estudios y Formación Profesional Alcor",
        "Servicios Integrales de Limpieza y Mantenimiento Urbano",
        "Explotaciones Hosteleras y Turísticas del Litoral",
        "Promociones y Desarrollos Inmobiliarios Puerta Sierra",
    ),
    "en": (
        "The Northern Counties Catering Equipment Company",
        "Professional Facilities Management Services",
        "Riverside Community Health and Training Partnership",
        "International Marine Hardware and Supply",
    ),
}
FORMS = {
    "ES": (
        ", S.L.",
        " S.L.",
        " SL",
        ", S.L.",
        ", S.A.",
        " S.A.",
        ", S.L.U.",
        " SLU",
        ", S. Coop.",
        ", C.B.",
        ", S.L.P.",
        " S.A.U.",
        ", Sociedad Limitada",
        " S.L.L.",
    ),
    "GB": (" Ltd", " Limited", " Ltd.", " LLP", " plc", ""),
    "US": (" Inc.", " LLC", ", Inc.", " Corp.", " Co.", ""),
}


def stem(random: Random, language: str) -> str:
    """A name without its legal form."""
    return random.choice((_family, _activity, _activity, _made_up, _initials, _long))(random, language)


def tax_letter(form: str) -> str:
    """The first letter of a Spanish company's tax id says its legal form."""
    if "Coop" in form:
        return "F"
    if "C.B" in form:
        return "E"
    return "A" if "S.A" in form else "B"


def _family(random: Random, language: str) -> str:
    first, second = random.sample(SURNAMES[language], 2)
    if language == "en":
        return random.choice(
            (f"{first} & {second}", f"{first} Brothers", f"{first} & Sons", f"{first} {second}")
        )
    return random.choice(
        (
            f"Hermanos {first}",
            f"{first} e Hijos",
            f"{first} y {second}",
            f"Hijos de J. {first}",
            f"{first} {second} Asociados",
        )
    )


def _activity(random: Random, language: str) -> str:
    what = random.choice(ACTIVITIES[language])
    whose = random.choice((random.choice(OBJECTS[language]), random.choice(SURNAMES[language])))
    return f"{what} {whose}" if language == "es" else f"{whose} {what}"


def _made_up(random: Random, language: str) -> str:
    word = random.choice(STARTS) + random.choice(ENDS)
    word = random.choice((word, word, word.upper()))
    return random.choice((word, f"{word} {random.choice(ACTIVITIES[language])}"))


def _initials(random: Random, language: str) -> str:
    letters = "".join(random.choices("ABCDEFGHJLMNPRSTV", k=3))
    return f"{random.choice((letters, '.'.join(letters) + '.'))} {random.choice(ACTIVITIES[language])}"


def _long(random: Random, language: str) -> str:
    return random.choice(LONG[language])
