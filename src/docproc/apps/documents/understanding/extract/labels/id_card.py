"""The fields of identity cards, passports and permits."""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.labels.rule import Rule

_NAME_PARTS: dict[str, Rule] = {
    "surname": Rule("name", (
        (3.2, ("apellidos", "surname", "surnames", "last name", "family name", "nom", "nume", "apellido",
               "primer apellido", "1er apellido",
               "apellidos/surnames", "apellidos/surname", "surname/nom", "cognoms", "apelidos",
               "surname(s)", "name/surname", "nachname")),
    )),
    "second_surname": Rule("name", ((3.2, ("segundo apellido", "2o apellido", "second surname")),)),
    "given_name": Rule("name", (
        (3.2, ("nombre", "nombres", "nombre/names", "nombre/name", "nombre/given names",
        "nombre/given name", "nom/nombre", "names",
               "given names/prenoms", "given name(s)", "given names", "given name", "first name",
               "first names", "prenoms",
               "prenom", "prenume",
               "vornamen", "forenames")),
    )),
}  # fmt: skip

ID_CARD: dict[str, Rule] = _NAME_PARTS | {
    "full_name": Rule("name", ((3.0, (
        "apellidos y nombre", "nombre y apellidos", "full name", "holder", "titular", "name",
        "nombre completo")),)),
    "id_number": Rule("number", (
        (3.4, ("dni #", "# dni", "dni", "dni num", "nie #", "# nie", "num dni",
        "pasaporte #/passport #", "# pasaporte", "pasaporte", "passport",
               "pasaporte n/passport n", "dni/nie", "documento #", "# de identificacion",
               "# de identidad de extranjero", "5 #", "n i e", "n.i.e", "d n i", "d.n.i",
               "# permiso", "permiso #", "nie", "# de documento", "document #", "passport #",
               "pasaporte #", "# de pasaporte",
               "lic #", "dl #", "dln", "4d lic #", "4d customer identifier", "customer identifier",
               "4d dl", "license #",
               "identity card #", "id #", "# soporte dni", "4d", "seria", "licence #", "4d dln",
               "personal id", "# identidad",
               "ausweisnummer", "numero de documento de identidad")),
        (2.0, ("idesp", "# soporte", "num soporte", "soport", "num soport", "cnp", "#", "5")),
    ), alone=-2.0),
    "date_of_birth": Rule("date", ((3.4, (
        "fecha de nacimiento", "fecha nacimiento", "f nacimiento", "fecha de nacimiento/date of birth",
        "fec nac", "f nac", "fecha nac", "data de nacemento",
        "date of birth/date de naissance", "date of birth", "dob", "3 dob",
        "birth date", "born",
        "nacimiento", "date de naissance", "geburtsdatum", "nacido el", "nacido", "birthdate",
        "naixement", "3 date of birth",
        )), (1.5, ("3",))), alone=-1.0),
    "expiry_date": Rule("date", ((3.4, (
        "validez", "valido hasta", "valido hasta/card expiry", "valido hasta/valid until",
        "fecha de caducidad/date of expiry", "fecha caducidad", "card expiry",
        "valida hasta", "fecha de vencimiento", "caduca", "fecha validez", "valid thru", "valid to",
        "fecha de validez", "fecha de caducidad", "caducidad",
        "date of expiry", "date of expiration",
        "expiry date", "expiry", "expires", "4b exp", "exp", "valid until", "expiration date", "4b",
        "data de validesa",
        "valabilitate", "validity", "emision/ validez")),), alone=-1.5),
    "issue_date": Rule("date", ((3.4, (
        "fecha de expedicion", "fecha de emision", "emision", "expedicion", "date of issue",
        "issue date", "iss", "4a iss",
        "issued", "4a")),), alone=-1.5),
    "nationality": Rule("name", ((3.2, (
        "nacionalidad", "nationality", "nacionalitat", "nationalite", "staatsangehorigkeit",
        "citizenship")),)),
}  # fmt: skip
