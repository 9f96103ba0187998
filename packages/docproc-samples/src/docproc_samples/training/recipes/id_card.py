# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of identity cards, passports and permits. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

ID_CARD: tuple[Recipe, ...] = (
    ("es", "ESPAÑA DOCUMENTO NACIONAL DE IDENTIDAD|REINO DE ESPAÑA DOCUMENTO NACIONAL DE IDENTIDAD|DOCUMENTO NACIONAL DE IDENTIDAD NATIONAL IDENTITY CARD|", """
[DNI|DNI NÚM.|DNI NUM.] {nif}
[APELLIDOS|PRIMER APELLIDO|Apellidos / Surname] {surname}
[SEGUNDO APELLIDO] {surname}
[NOMBRE|Nombre / Name] {given}
[SEXO|SEXO / SEX] [M|F] [NACIONALIDAD|NACIONALIDAD / NATIONALITY] ESP
[FECHA DE NACIMIENTO|NACIMIENTO|FECHA DE NACIMIENTO / DATE OF BIRTH] {birth}
[EMISIÓN|FECHA DE EMISIÓN|EMISIÓN / ISSUED] {birth} [VALIDEZ|VALIDO HASTA|VALIDEZ / EXPIRY DATE] {birth}
[NUM SOPORT|IDESP|NÚM. SOPORTE|SOPORTE] {n}
[CAN] {few}
[FIRMA DEL TITULAR|]"""),
    ("es", "DOMICILIO|DOMICILIO / ADDRESS|", """
{street}
{city}
[LUGAR DE DOMICILIO|PROVINCIA/PAÍS] {city}
[LUGAR DE NACIMIENTO|LUGAR DE NACIMIENTO / PLACE OF BIRTH] {city}
[HIJO/A DE|HIJO DE] {given} / {given}
[EQUIPO] {n}
IDESP{n}{n}<<<<<<<
{few}{few}{few}F{few}{few}ESP<<<<<<<<<<<{few}
{surname}<{surname}<<{given}<<<<<<<<"""),
    ("es", "PERMISO DE CONDUCCIÓN REINO DE ESPAÑA|PERMISO DE CONDUCIR|PERMISO DE RESIDENCIA|TARJETA DE RESIDENCIA|NIE|PASAPORTE|REINO DE ESPAÑA PASAPORTE|CÉDULA DE IDENTIDAD|CREDENCIAL PARA VOTAR|CÉDULA DE CIUDADANÍA|TARJETA SANITARIA", """
1. {surname} [|APELLIDOS {surname}]
2. {given} [|NOMBRE {given}]
3. {birth} {city}
4a. {birth} 4b. {birth} 4c. {city}
5. {nif} [|NIE {nif}|N.I.E. {nif}|NÚMERO {n}]
9. [AM B|B|A2 B]
[TIPO DE PERMISO|TIPO / TYPE|CLAVE DE ELECTOR|CURP|OBSERVACIONES] [RÉGIMEN COMUNITARIO|P|RESIDENCIA LARGA DURACIÓN|{n}]
[NACIONALIDAD|NACIONALIDAD / NATIONALITY] [ESP|MAR|ROU|COL|ESPAÑOLA]
[FECHA DE NACIMIENTO|FECHA DE EXPEDICIÓN|VÁLIDO HASTA|FECHA DE CADUCIDAD|VIGENCIA] {birth}
[SEXO|SEXO / SEX] [M|F|V]
[AUTORIDAD|EXPEDIDO EN|LUGAR DE EXPEDICIÓN] {city}
[P<ESP{surname}<{surname}<<{given}<<<<<<<<<<|IXESP{n}<<<<<<<|]
[{n}ESP{few}{few}{few}M{few}{few}<<<<<<<|]"""),
    ("en", "DRIVER LICENSE|DRIVING LICENCE|DRIVER'S LICENSE|PASSPORT|IDENTITY CARD|IDENTIFICATION CARD|RESIDENCE PERMIT|PERMANENT RESIDENT|UNITED STATES OF AMERICA PASSPORT|CARTE NATIONALE D'IDENTITE|PERSONALAUSWEIS|CARTA D'IDENTITA|CARTÃO DE CIDADÃO", """
[DL|DLN|4d LIC#|LIC NO|License No|Passport No|Document No|ID No|Card No] {n}
[EXP|4b EXP|Date of expiry|Expires|Date of expiration|Valid until] {birth} [ISS|4a ISS|Date of issue] {birth}
[LN|1 LN|Surname|Last name|Surname / Nom / Name] {surname}
[FN|2 FN|Given names|First name|Given Names / Prénoms] {given}
[8|] {street} {city}
[DOB|3 DOB|Date of birth|Date of birth / Geburtstag] {birth}
[SEX|15 SEX|Sex] [M|F] [HGT|16 HGT|Height] 5'-{few}" [WGT|17 WGT] {few} lb [EYES|18 EYES] [BRO|BLU] [HAIR] [BRN|BLK]
[CLASS|9 CLASS] [C|D] [END|9a END] NONE [REST|12 REST|RSTR] [NONE|A|B] [DD|5 DD] {n}
[Nationality|Place of birth|Authority|Type|Code|Country of birth] {city}
[ORGAN DONOR|DONOR|VETERAN|]
[P<USA{surname}<<{given}<<<<<<<<<<<<<|I<UTO{n}<<<<<|P<GBR{surname}<<{given}<<<<|]
[{n}USA{few}{few}{few}M{few}{few}<<<<<<<|]"""),
)  # fmt: skip
