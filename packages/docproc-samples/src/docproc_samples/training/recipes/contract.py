# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of contracts, and of the pages from their middle and end. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

CONTRACT: tuple[Recipe, ...] = (
    ("es", "CONTRATO DE ARRENDAMIENTO DE VIVIENDA|CONTRATO DE PRESTACIÓN DE SERVICIOS|CONTRATO DE TRABAJO INDEFINIDO|CONTRATO DE COMPRAVENTA|CONTRATO DE PRÉSTAMO|ACUERDO DE CONFIDENCIALIDAD|CONTRATO MERCANTIL|CONTRATO PRIVADO DE ARRAS|CONVENIO DE COLABORACIÓN|", """
En {city}, a {longdate}
[REUNIDOS|COMPARECEN|INTERVIENEN]
De una parte, [D.|Dña.|D./Dª] {person}, mayor de edad, con [DNI|NIF] {nif} y domicilio en {street}, {city}, [en adelante|en lo sucesivo] [el arrendador|la empresa|el cliente|la parte vendedora].
[De otra parte|De otra|Y de otra parte], {person}, en nombre y representación de {company}, con CIF {cif}.
Ambas partes se reconocen capacidad legal suficiente para [otorgar el presente contrato|contratar y obligarse], y
[EXPONEN|MANIFIESTAN|EXPOSITIVOS|ANTECEDENTES]
[I.- |PRIMERO.- ]Que [la propiedad|el arrendador|la empresa] es titular de la [vivienda|finca|actividad] sita en {street}.
[CLÁUSULAS|ESTIPULACIONES|PACTOS|ACUERDAN]
[PRIMERA|1ª|Cláusula primera].- [Objeto|Objeto del contrato]. El presente contrato tiene por objeto [la prestación de los servicios descritos|el arrendamiento de la vivienda|la compraventa].
[SEGUNDA|2ª|Cláusula segunda].- [Duración|Plazo]. La duración será de {few} [años|meses], prorrogable por acuerdo de las partes.
[TERCERA|3ª].- [Renta|Precio|Remuneración|Honorarios]. Se fija en {amount} euros [mensuales|anuales], pagaderos dentro de los siete primeros días.
[CUARTA|4ª].- [Fianza|Confidencialidad|Jornada|Obligaciones de las partes]. Las partes se obligan a cumplir lo pactado.
[QUINTA|5ª].- [Resolución|Gastos|Vacaciones]. El incumplimiento de cualquiera de las obligaciones facultará a la otra parte para resolver el contrato.
[SEXTA|6ª].- [Jurisdicción|Fuero|Legislación aplicable]. Las partes se someten a los juzgados y tribunales de {city}.
Y en prueba de conformidad, [firman|suscriben] el presente [contrato|documento] por duplicado [ejemplar|y a un solo efecto] en el lugar y fecha indicados.
[El arrendador El arrendatario|Fdo.: {person} Fdo.: {person}|La empresa El trabajador|Por {company}]"""),
    ("es", "CONTRATO DE TRABAJO|CONTRATO DE TRABAJO TEMPORAL|SOLICITUD-CONTRATO|CONDICIONES PARTICULARES DEL CONTRATO|", """
[DATOS DE LA EMPRESA|EMPRESA] {company} [CIF/NIF/NIE|CIF] {cif}
[D./DÑA.|Representante] {person} [EN CONCEPTO DE|como] [Administrador|Gerente]
[DATOS DEL TRABAJADOR/A|TRABAJADOR] {person} [NIF./NIE|DNI] {nif} [Nº AFILIACIÓN S.S.] {n} NIVEL FORMATIVO {few}
[CLÁUSULAS|DECLARAN|ACUERDAN Formalizar el presente contrato de trabajo de acuerdo con las siguientes:]
PRIMERA: El/la trabajador/a prestará sus servicios como {job}, incluido en el grupo profesional de {job}.
SEGUNDA: La jornada de trabajo será [a tiempo completo|a tiempo parcial] de {few} horas semanales, de lunes a viernes.
TERCERA: La duración del presente contrato será [indefinida|temporal], iniciándose la relación laboral en fecha {date}. Se establece un período de prueba de dos meses.
CUARTA: El/la trabajador/a percibirá una retribución total de {amount} euros brutos anuales.
QUINTA: La duración de las vacaciones anuales será de 30 días naturales.
SEXTA: En lo no previsto en este contrato se estará a la legislación vigente, en particular al Estatuto de los Trabajadores y al convenio colectivo.
Y para que conste, se extiende este contrato por triplicado ejemplar en {city}, a {longdate}
El/la trabajador/a El/la representante de la empresa"""),
    ("en", "SERVICES AGREEMENT|LEASE AGREEMENT|NON-DISCLOSURE AGREEMENT|EMPLOYMENT AGREEMENT|PURCHASE AGREEMENT|CONSULTING CONTRACT|LICENSE AGREEMENT|MASTER SERVICES AGREEMENT|CONTRACT|", """
This [Agreement|Contract] (the "Agreement") is [made and entered into|entered into|made] as of {date} [by and between|between] {company} [(the "Client")|("Landlord")|("Company")] and {person} [(the "Contractor")|("Tenant")|("Employee")].
[WHEREAS|RECITALS|Background], the parties wish to set out the terms on which the services will be provided;
NOW, THEREFORE, in consideration of the mutual covenants [contained herein|set forth below], the parties [hereby agree|agree] as follows:
1. [Term|Definitions|Services|Premises]. The [term of this Agreement|services] shall commence on {date} and continue for {few} months.
2. [Payment|Rent|Fees|Compensation]. The Client shall pay ${amount} [per month|within 30 days of receipt].
3. [Confidentiality|Security deposit|Intellectual property]. Each party shall keep confidential all information disclosed hereunder.
4. [Termination|Default]. Either party may terminate this Agreement upon {few} days' written notice.
5. [Governing law|Jurisdiction|Indemnification|Limitation of liability]. This Agreement shall be governed by the laws of {city}.
6. [Entire agreement|Notices|Severability|Assignment]. This Agreement constitutes the entire agreement between the parties.
IN WITNESS WHEREOF, the parties have executed this Agreement as of the date first above written.
[By: ______________ Name: {person} Title: {job}|Signature: __________ Date: ________|Landlord: ________ Tenant: ________]"""),
    ("ca", "CONTRACTE D'ARRENDAMENT|CONTRATO DE ALUGUEIRO|CONTRACTE DE SERVEIS|CONTRAT DE BAIL|CONTRATO DE LOCACIÓN", """
[REUNITS|REUNIDOS|ENTRE LES SOUSSIGNÉS|Conste por el presente documento]
[D'una part|Dunha parte|D'une part|De una parte], {person}, [amb DNI|con DNI] {nif}
[I de l'altra|E doutra parte|D'autre part|De otra], {company}
[MANIFESTEN|EXPOÑEN|IL A ÉTÉ CONVENU CE QUI SUIT|CLÁUSULAS]
[PRIMERA|Primeira|Article 1|Primera].- [Objecte|Obxecto|Objet|Objeto]. [El present contracte|O presente contrato|Le présent contrat|El presente contrato]
[SEGONA|Segunda|Article 2].- [Durada|Duración|Durée]. {few} [anys|anos|ans|años]
[TERCERA|Terceira|Article 3].- [Renda|Prezo|Loyer|Canon]. {amount} [euros mensuals|euros ao mes|euros|pesos]
[Les parts|As partes|Les parties|Las partes] [signen|asinan|signent|firman] [per duplicat|por duplicado|en deux exemplaires]"""),
)  # fmt: skip

# Pages from the middle and end of contracts: no title, no parties.
CONTRACT_CONTINUED: tuple[Recipe, ...] = (
    ("es", "|Página {few} de {few}", """
~[NOVENA|DÉCIMA|SÉPTIMA|OCTAVA|UNDÉCIMA].- [Notificaciones|Cesión|Protección de datos|Responsabilidad|Fuerza mayor].
Las comunicaciones entre las partes se harán por escrito a los domicilios que figuran en el encabezamiento.
Ninguna de las partes podrá ceder los derechos y obligaciones derivados del presente contrato sin el consentimiento previo de la otra.
El arrendatario se obliga a mantener la finca en buen estado de conservación y a devolverla al término del arrendamiento.
La parte incumplidora indemnizará a la otra por los daños y perjuicios causados.
[DUODÉCIMA|DECIMOTERCERA|Cláusula {few}].- Todos los gastos e impuestos serán de cuenta de la parte compradora.
El presente contrato se regirá por la legislación española y las partes renuncian a su fuero propio.
Si alguna de las cláusulas fuera declarada nula, el resto conservará su validez.
El trabajador guardará secreto sobre la información a la que tenga acceso por razón de su puesto.
Leído el presente documento, las partes lo firman en todas sus hojas."""),
    ("en", "|Page {few} of {few}", """
~{few}. [Indemnification|Force majeure|Assignment|Waiver|Notices|Counterparts|Insurance].
The Contractor shall indemnify and hold harmless the Client from any claims arising hereunder.
No waiver of any provision of this Agreement shall be deemed a waiver of any other provision.
Neither party may assign this Agreement without the prior written consent of the other party.
All notices required under this Agreement shall be in writing and delivered to the addresses set forth above.
{few}.{few} The Tenant shall keep the premises in good repair and shall not sublet without consent.
If any provision is held invalid, the remainder shall continue in full force and effect.
{few}.{few} Payment shall be due within thirty days, and late amounts shall accrue interest.
The parties hereto acknowledge that they have read and understood the terms herein.
In no event shall either party be liable for indirect or consequential damages."""),
    # The last page: only signatures.
    ("es", "|Página {few} de {few}|{few}", """
[LA PARTE VENDEDORA LA PARTE COMPRADORA|EL ARRENDADOR EL ARRENDATARIO|LA PROPIEDAD EL INQUILINO|POR LA EMPRESA EL TRABAJADOR|EL CEDENTE EL CESIONARIO|LA PRESTADORA EL CLIENTE|EL PRESTAMISTA EL PRESTATARIO|LA PARTE CONTRATANTE LA PARTE CONTRATADA]
[{company} {company}|{company} {person}|{person} {person}]
[Fdo.: {person} Fdo.: {person}|Firma: ____________ Firma: ____________|D. {person} D.ª {person}|P.p. {person} P.p. {person}]
[DNI {nif} DNI {nif}|NIF {cif} NIF {nif}|Administrador único Apoderado|Cargo: {job} Cargo: {job}]
[En {city}, a {longdate}|En prueba de conformidad, firman el presente contrato|]"""),
)  # fmt: skip
