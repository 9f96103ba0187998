# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of pages that belong to none of the known types, many of them close to one. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

OTHER: tuple[Recipe, ...] = (
    # Commerce that is not an invoice.
    ("es", "ALBARÁN|ALBARÁN VALORADO|FACTURA PROFORMA|PROFORMA|Factura proforma nº {n}|PROFORMA INVOICE|Albarán valorado nº {n}|NOTA DE ENTREGA|Nota de pedido|PEDIDO|Presupuesto", """
{company} [|ALBARÁN|PROFORMA|PEDIDO|PRESUPUESTO]
[CIF|NIF|C.I.F.]: {cif} {street} {city}
[Albarán nº|Proforma nº|Nº albarán|Nº proforma|Pedido nº|Presupuesto nº|Nº documento]: {n} [Fecha]: {date}
[Cliente|Datos del cliente|Destinatario]: {company} [NIF|CIF]: {cif}
[Su pedido|Vendedor|Ruta|Portes|Transporte|Validez]: {n}
[Código|Ref.] [Descripción|Artículo] [Cantidad|Uds.|Servido Pendiente] Precio [Dto.|IVA] Importe
*{few} {item} {few} {amount} {amount}
*{n} {item} {few} {few} {few}
[Base imponible|Suma|Total bruto] {amount}
[IVA|I.V.A.] {pct} {amount}
[Total albarán|TOTAL|Total proforma|TOTAL PEDIDO|Total presupuesto] {amount}
[Este documento no es una factura|Sin validez fiscal|No válido como factura|Se facturará a fin de mes|Pago por adelantado|Portes por cuenta del cliente]
[Recibido por (nombre y firma)|Firma y sello|Conforme el cliente|Forma de pago: transferencia previa {iban}]"""),
    # Articles with an example in them.
    ("es", "Cómo rellenar una factura|Cómo leer tu nómina|Qué es una factura simplificada|Blog|Guía práctica|El contrato de alquiler, explicado|Cómo interpretar el extracto de tu banco|Plantilla de factura|Cómo pedir un ticket", """
[Blog / {item}|Escrito por {person}, {longdate}|Publicado el {longdate}|Lectura de {few} minutos]
Muchas personas [hacen su primera factura|reciben su primera nómina|abren su primera cuenta] sin saber bien qué pone en ella y lo aprenden con los años.
En este artículo te contamos lo que no puede faltar y cómo se calcula cada parte.
[Lo imprescindible|Los datos que debe llevar|Qué mirar primero]
[El número de factura y la serie, como {n}|El salario base, los complementos y las pagas extra|El titular, el IBAN y el saldo final].
[La fecha de expedición y el vencimiento|El total devengado y el total a deducir|La fecha de cada movimiento y su fecha valor].
[El NIF y el domicilio de quien vende y de quien compra|El grupo de cotización y la antigüedad].
[Un ejemplo con números|Veamos un caso|Ejemplo]
[Base imponible|Salario base|Saldo inicial]: {amount} €
[IVA 21 %|IRPF {pct}|Abonos]: {amount} €
[Retención IRPF 15 %|Contingencias comunes|Cargos]: {amount} €
[Total factura|Líquido a percibir|Saldo final]: {amount} €
Si la empresa se llamara {company} y su CIF fuera {cif}, los pondríamos arriba, a la izquierda.
[Fallos habituales|Dudas de los lectores|En resumen]
No olvides que la ley obliga a guardar estos papeles durante varios años y que una copia en la nube también vale.
[Apúntate a nuestro boletín|Descarga la plantilla|También te puede interesar|Comparte en redes|{few} comentarios|Deja tu comentario]
{given}: muchas gracias por la explicación, me ha servido para [la declaración|mi negocio]."""),
    ("en", "How to write an invoice|How to read your payslip|What is a receipt?|Blog|Invoice template explained|Guide for freelancers", """
[Home > Blog > {item}|By {person} · {few} min read|Updated {longdate}]
If you have just started [as a freelancer|a new job], [your first invoice|your first payslip] can look confusing.
Here is what it must show and a worked example.
[Invoice number and date|Gross pay and deductions|Names and addresses of the seller and the buyer].
[For example|Worked example]
[Subtotal|Gross pay]: {amount}
[VAT 20%|Income tax]: {amount}
[Total due|Net pay]: {amount}
Imagine that your company is {company} and that your customer pays after {few} days.
[Common mistakes|Frequently asked questions|Conclusion]
Remember that you should keep a copy for at least six years and that late payment is common.
[Subscribe to our newsletter|Download the free template|{few} comments|Share this article]"""),
    # What is called a receipt, a settlement or a permit.
    ("es", "RECIBO|RECIBO DE ALQUILER|Recibo de prima|Recibo de la comunidad de propietarios|Recibo domiciliado|RECIBO BANCARIO|Recibo de préstamo|Carta de pago", """
[{company}|Banco {city}|Comunidad de Propietarios {street}|Ayuntamiento de {city}|{person}]
[Recibo nº|Número de recibo|Nº recibo]: {n} [Fecha|Fecha de cargo|Fecha de emisión]: {date} [Vencimiento|Periodo]: {date}
[He recibido de D. {person}|Recibí de {person}|Titular: {person}|Tomador: {person}|Arrendatario: {person}|Propietario: {person}] [NIF|DNI] {nif}
[la cantidad de {amount} euros|Importe|Cuota mensual|Prima total|Renta mensual|Amortización de capital] {amount}
[en concepto de alquiler del mes de {month}|por la renta de la vivienda sita en {street}|Póliza nº {n}|Cuota ordinaria de {month}|Préstamo nº {n}|Derrama]
[Intereses|Consorcio|Capital pendiente|Gastos de comunidad|Agua|IBI|Recargos] {amount}
[Cuenta de cargo|Domiciliación|Adeudo en cuenta|Entidad]: {iban}
[Identificador del acreedor|Referencia del mandato|Emisora|Referencia]: {n}
[Firma del arrendador|Recibí|El administrador|Este recibo no acredita el pago de los anteriores|Documento de adeudo]"""),
    ("es", "FINIQUITO|DOCUMENTO DE LIQUIDACIÓN Y FINIQUITO|Propuesta de liquidación|CERTIFICADO DE RETENCIONES|Certificado de retenciones e ingresos a cuenta del IRPF|Certificado de empresa|INFORME DE VIDA LABORAL|INFORME DE BASES DE COTIZACIÓN|Carta de despido|Certificado de ingresos", """
{company} [CIF|NIF] {cif}
[Trabajador|Perceptor|D./Dª|Datos del perceptor|Nombre y apellidos]: {person} [NIF|DNI] {nif} [Nº Seguridad Social|NAF]: {n}
[Ejercicio {year}|Fecha de baja: {date}|Situaciones|Causa de la extinción: fin de contrato]
[Recibo de {company} la cantidad de {amount} euros en concepto de liquidación, saldo y finiquito|Con el percibo de esta cantidad me declaro saldado y finiquitado|El pagador certifica que en el ejercicio {year} ha satisfecho|Ha figurado en situación de alta durante {few} días]
[Rendimientos del trabajo: importe íntegro|Retribuciones dinerarias|Vacaciones no disfrutadas|Parte proporcional paga extra|Indemnización] {amount}
[Retenciones practicadas|Ingresos a cuenta|Gastos deducibles|Cotizaciones a la Seguridad Social|Total liquidación|Total devengado|Total bruto|IRPF {pct}] {amount}
[Líquido a percibir|Líquido de la liquidación|Total a percibir|Neto|] {amount}
*[GENERAL|AUTÓNOMO|RÉGIMEN GENERAL] {company} {date} {date} {few} {few}
*{few}/{year} {amount} {amount}
[Y para que conste, firmo el presente en {city}, a {longdate}|{city}, {longdate}|Referencia electrónica {n}|Firma y sello del pagador|El trabajador La empresa]"""),
    ("es", "PERMISO DE CIRCULACIÓN|TARJETA DE INSPECCIÓN TÉCNICA|FICHA TÉCNICA DEL VEHÍCULO|Informe de vehículo|INSPECCIÓN TÉCNICA DE VEHÍCULOS|Carné de estudiante|Carné de socio|Título de transporte|Tarjeta de fidelidad|Libro de familia|Acreditación", """
[REINO DE ESPAÑA MINISTERIO DEL INTERIOR|Dirección General de Tráfico|{company}|Universidad de {city}|Club {city}]
[A Matrícula|Matrícula|A]: {n} [B|Fecha de matriculación]: {date}
[C.1.1|Titular|Socio|Alumno]: {surname} [C.1.2|]: {given}
[C.1.3|Domicilio]: {street} {city}
[D.1 Marca|D.1|D.2|D.3|E Bastidor|Nº de bastidor|Tipo|Variante]: {n}
[F.1|G|P.1 Cilindrada|P.2 Potencia|P.3 Combustible|S.1 Plazas|Curso|Grupo|Temporada]: {few}
[Próxima inspección|Válido hasta|Curso {year}|Resultado: favorable|Defectos leves]: {date}
[Servicio: particular sin especificar|Reforma|Observaciones|Este carné es personal e intransferible]"""),
    ("es", "ALBARÁN|ALBARÁN DE ENTREGA|Nota de entrega|Albarán nº {n}|ALBARÀ", """
{company}
[CIF|NIF]: {cif}
[Albarán nº|Nº albarán|Número]: {n} [Fecha|Fecha de entrega]: {date}
[Cliente|Entregar a|Dirección de entrega]: {company}
[Cantidad|Uds.|Bultos] [Artículo|Descripción|Referencia] [Lote|Peso|Pedido]
*{few} {item} {few}
*{few} {item}
[Bultos|Peso total|Transportista|Matrícula]: {few}
[Recibí conforme|Firma y sello del cliente|Conforme el cliente|Mercancía recibida en buen estado]
[Su pedido|Pedido nº]: {n}"""),
    ("es", "PRESUPUESTO|Presupuesto nº {n}|OFERTA|Oferta económica|PRESSUPOST|Propuesta económica|COTIZACIÓN", """
{company}
[CIF|NIF]: {cif}
[Presupuesto nº|Nº presupuesto|Referencia oferta]: {n} [Fecha]: {date}
[Cliente|A la atención de|Obra]: {company}
[Cantidad|Uds.|Partida] [Descripción|Concepto] Precio Importe
*{few} {item} {amount} {amount}
[Base imponible|Subtotal|Total sin IVA] {amount}
IVA {pct} {amount}
[Total presupuesto|TOTAL OFERTA|Importe total estimado] {amount}
[Validez de la oferta|Validez del presupuesto|Este presupuesto tiene una validez de] {few} días
[Acepto el presupuesto|Conforme el cliente|Aceptado: firma y fecha|Plazo de ejecución: {few} semanas|Forma de pago: 50 % a la aceptación]"""),
    ("es", "PEDIDO|Pedido de compra|HOJA DE PEDIDO|ORDEN DE COMPRA|Confirmación de pedido|Pedido nº {n}", """
{company}
[Nº pedido|Pedido]: {n} [Fecha pedido|Fecha]: {date}
[Proveedor|Solicitante|Enviar a]: {company}
[Cantidad|Uds.] [Referencia|Artículo] [Precio|Plazo] Importe
*{few} {item} {amount} {amount}
[Total pedido|Importe del pedido] {amount}
[Fecha de entrega prevista|Plazo de entrega|Condiciones de entrega]: {date}
[Autorizado por|Rogamos confirmen la recepción de este pedido|Indiquen el número de pedido en su factura]"""),
    ("en", "PURCHASE ORDER|QUOTATION|Quote|ESTIMATE|DELIVERY NOTE|PACKING SLIP|Packing list|Order confirmation|Bill of lading|Work order|Price list|STATEMENT OF WORK", """
{company}
[PO Number|Quote #|Order no|Delivery note no|Estimate no|Shipment]: {n} Date: {date}
[Vendor|Prepared for|Deliver to|Ship to|Customer|Consignee]: {company}
[Qty|Quantity|Ordered Shipped|Packages] [Description|Item|SKU] [Unit price|Weight|Price|]
*{few} {item} {amount}
*{few} {item}
[Order total|Estimated total|Quote total|Total weight|Number of packages] {amount}
[This quote is valid for 30 days|Expected delivery date {date}|Received in good condition: signature|Authorized by|Carrier|Prices exclude VAT and may change without notice]
[Accepted by: ________ Date: ______|Please quote this order number on your invoice|Driver|Goods received by]"""),
    ("es", "LISTA DE PRECIOS|TARIFA {year}|Catálogo de productos|MENÚ DEL DÍA|Carta|Inventario|Relación de facturas emitidas|LIBRO DE FACTURAS|Listado de clientes|Stock de almacén", """
{company}
[Referencia|Código] [Artículo|Producto|Plato] [Precio|PVP|Existencias]
*{few} {item} {amount}
*{item} {amount}
*{date} {n} {company} {amount}
[Precios sin IVA|IVA no incluido|Precios válidos hasta {date}|Página {few} de {few}]"""),
    # Banks and payments that are no statement.
    ("es", "JUSTIFICANTE DE TRANSFERENCIA|Transferencia realizada|Orden de transferencia|Comprobante de operación|JUSTIFICANTE DE PAGO|Adeudo por domiciliación|Orden de domiciliación SEPA|Aviso de cargo", """
[{company}|Banco {city}]
[Ordenante|Titular|Deudor]: {person} [Cuenta de cargo|IBAN]: {iban}
[Beneficiario|Acreedor]: {company} [Cuenta de abono|Cuenta de destino|IBAN beneficiario]: {iban}
[Importe|Importe de la transferencia|Total]: {amount} EUR
[Fecha de la operación|Fecha valor|Fecha de emisión]: {date}
[Concepto]: [factura {n}|alquiler {month}|nómina {month}|pago pedido {n}]
[Referencia|Nº de operación|Mandato]: {n}
[Comisiones|Gastos]: {amount}
[Este documento es un justificante de la orden|Operación realizada correctamente|Documento sin valor de pago hasta su abono]"""),
    ("en", "REMITTANCE ADVICE|Payment confirmation|Transfer receipt|Wire transfer|Deposit slip|Credit card authorization|Loan estimate|Credit report|Mortgage application|Closing disclosure", """
{company}
[From account|Payer|Applicant|Borrower]: {person} {n}
[To|Payee|Beneficiary|Lender]: {company}
[Amount|Payment amount|Loan amount|Loan term]: {amount}
[Date|Payment date|Value date|Closing date]: {date}
[Reference|Invoice no|Confirmation number|Loan ID]: {n}
[Estimated monthly payment|Interest rate|Annual income|Employer|Credit score] {amount}
[Your payment has been sent|This is not a commitment to lend|Signature of applicant]"""),
    # Public administration and taxes.
    ("es", "MODELO 303|Modelo 100|MODELO 190|Modelo 111|MODELO 347|Impuesto sobre el Valor Añadido Autoliquidación|Impuesto sobre la Renta de las Personas Físicas|Declaración informativa|AGENCIA TRIBUTARIA|RECIBO I.B.I.|Certificado de retenciones", """
[Agencia Tributaria|Ayuntamiento de {city}|Delegación de {city}|Ministerio de Hacienda]
[Identificación|Declarante|Sujeto pasivo|Contribuyente]: NIF {nif} {person}
[Ejercicio|Devengo]: {year} Periodo: [1T|2T|3T|4T|0A]
[IVA devengado|Régimen general|Rendimientos del trabajo|Retenciones e ingresos a cuenta] [Base imponible Tipo % Cuota|casilla {few}] {amount}
[Base liquidable general|Cuota íntegra|Cuota diferencial|Total cuota devengada|Percepciones íntegras|Valor catastral] [{few}|] {amount}
*[0{few}|{few}] {amount}
[Resultado de la declaración|A ingresar|A devolver|Resultado de la liquidación|Importe a ingresar] {amount}
[Número de justificante|Código seguro de verificación|Expediente|Referencia]: {n}
[Domiciliación del importe a ingresar|IBAN] {iban}"""),
    ("en", "Form 1040 U.S. Individual Income Tax Return|W-2 Wage and Tax Statement|Form 1099-INT|1099-MISC|Form W-9|SCHEDULE C|P60 End of year certificate|Form 1098|1099-NEC Nonemployee compensation|SCHEDULE A|Form W-4|P45", """
[Department of the Treasury Internal Revenue Service|OMB No. 1545-{few}|HM Revenue & Customs|Copy B For Recipient|CORRECTED (if checked)]
[Employer identification number (EIN)|PAYER'S TIN|Your social security number|RECIPIENT'S TIN]: {n}
[PAYER'S name, street address, city|Employer's name, address, and ZIP code|Name shown on return]: {company}
[RECIPIENT'S name|Employee's first name and initial]: {person} {street}
*{few} [Wages, tips, other compensation|Federal income tax withheld|Interest income|Ordinary dividends|Gross receipts or sales|State tax withheld|Social security wages|Total income|Adjusted gross income|Depreciation|Rents received|Medicare tax withheld] {amount}
[Attach to Form 1040|For Privacy Act and Paperwork Reduction Act Notice, see instructions|Under penalties of perjury|Cat. No. {n}|This is important tax information]
Tax year {year} [Page {few}|]"""),
    ("es", "CERTIFICADO DE EMPADRONAMIENTO|VOLANTE DE EMPADRONAMIENTO|CERTIFICADO DE TITULARIDAD|Certificado de titularidad bancaria|CERTIFICADO|Certificado de estar al corriente|Certificado de residencia|INFORME DE VIDA LABORAL|Certificado de empresa|TÍTULO|Diploma|Certificado de nacimiento|ACTA|RESOLUCIÓN|Notificación", """
[Ayuntamiento de {city}|Tesorería General de la Seguridad Social|{company}|Banco {city}|Registro Civil de {city}]
[D./Dª {person}, secretario|El titular de la oficina|{person}, en calidad de {job},]
[CERTIFICA|CERTIFICO|HACE CONSTAR|INFORMA]:
[Que según los datos que obran en este registro|Que {person}, con DNI {nif},] [figura inscrito en el padrón municipal|es titular de la cuenta {iban}|ha trabajado en esta empresa|se encuentra al corriente de sus obligaciones|ha superado el curso de {job}] [desde el {date}|en el domicilio {street}].
*{date} {date} {company} {few} días
[Y para que conste, a petición del interesado, se expide el presente certificado|Lo que se certifica a los efectos oportunos] en {city}, a {longdate}
[Firmado electrónicamente|Código de verificación: {n}|Sello y firma|El alcalde]"""),
    ("es", "NOTA SIMPLE INFORMATIVA|Registro de la Propiedad de {city}|ESCRITURA|Consulta descriptiva y gráfica de datos catastrales|Permiso de circulación|FICHA TÉCNICA|Poder notarial|TASACIÓN|Certificado de eficiencia energética", """
[Finca nº|Referencia catastral|Número de protocolo|Matrícula|Expediente]: {n}
[DESCRIPCIÓN DE LA FINCA|Naturaleza de la finca|Localización]: URBANA. Vivienda en {street}, {city}. Superficie {few} metros cuadrados.
[TITULARIDADES|Titular|Propietario]: {person} NIF {nif} [100 % del pleno dominio|con carácter privativo]
[CARGAS|Cargas vigentes]: [hipoteca a favor de {company} por {amount} euros|libre de cargas|afección fiscal]
Inscripción {few}ª, tomo {few}, libro {few}, folio {few}
[Los datos consignados en la presente nota simple tienen valor puramente informativo|Valor de tasación|Uso: residencial|Año de construcción {year}]
{city}, {longdate}"""),
    ("es", "CONDICIONES GENERALES DE VENTA|CONDICIONES GENERALES DE CONTRATACIÓN|Condiciones de uso|Términos y condiciones|Aviso legal|Bases legales", """
~1. Los precios no incluyen impuestos y pueden cambiar sin previo aviso.
2. El pago se hará en la fecha que indica cada factura; la demora devenga intereses.
3. La mercancía viaja por cuenta y riesgo del comprador.
4. Las reclamaciones se harán por escrito en los siete días siguientes a la entrega.
5. La propiedad de los productos no se transmite hasta su pago completo.
6. La garantía cubre los defectos de fabricación durante {few} meses.
7. El usuario acepta estas condiciones al utilizar el servicio.
8. Los datos personales se tratan según la normativa de protección de datos.
9. Para cualquier litigio serán competentes los juzgados de {city}."""),
    ("en", "TERMS AND CONDITIONS OF SALE|GENERAL CONDITIONS|Terms of use|Terms and conditions|Legal notice|Returns policy", """
~1. Prices exclude tax and may change without notice.
2. Payment is due on the date that each invoice shows; late payment bears interest.
3. Goods travel at the risk of the buyer.
4. Claims must be made in writing within seven days of delivery.
5. Title to the goods does not pass until they are paid for in full.
6. The warranty covers defects for {few} months and excludes wear.
7. By using this service you accept these terms.
8. We handle personal data as the law requires.
9. The courts of {city} settle any dispute."""),
    # Insurance, health, schools, jobs.
    ("es", "PÓLIZA DE SEGURO|Condiciones particulares|SEGURO DE HOGAR|Recibo de prima|Póliza nº {n}|SUPLEMENTO|Parte de accidente", """
{company}
[Póliza nº|Nº de póliza]: {n} [Efecto|Fecha de efecto]: {date} [Vencimiento]: {date}
[Tomador|Tomador del seguro|Asegurado]: {person} NIF {nif}
[Riesgo asegurado|Vehículo|Beneficiario]: {street}
[Coberturas|Garantías contratadas] [Capital|Límite|Suma asegurada]
*[Incendio|Robo|Responsabilidad civil|Daños por agua|Asistencia|Defensa jurídica|Rotura de cristales] {amount}
[Prima neta|Prima total anual|Consorcio|Impuestos] {amount}
[Franquicia|Forma de pago: anual|Mediador] {amount}
[El tomador declara haber recibido las condiciones generales|La compañía El tomador]"""),
    ("es", "INFORME MÉDICO|Informe de alta|HISTORIA CLÍNICA|Analítica|Receta médica|Consentimiento informado|Parte de baja|Resultados de laboratorio|Cita médica", """
[Hospital de {city}|Centro de salud {city}|Servicio de {job}]
[Paciente]: {person} [Fecha de nacimiento|F. nac.]: {date} [NHC|Nº historia|Tarjeta sanitaria]: {n} [Sexo]: [M|F|H]
[Motivo de consulta|Diagnóstico|Antecedentes personales|Exploración física|Tratamiento|Juicio clínico]: [dolor lumbar|hipertensión|sin alergias conocidas|control anual]
*[Glucosa|Colesterol|Hemoglobina|Creatinina|Leucocitos|Plaquetas] {few} mg/dL
[Recomendaciones|Próxima revisión|Evolución]: {date}
[Dr.|Dra.|Médico]: {person} [Nº colegiado|Colegiado]: {n}
[Firma del paciente|Autorizo la intervención]"""),
    ("en", "MEDICAL HISTORY|Patient information|Medical report|Lab results|CONSENT FORM|Prescription|New patient form|Insurance policy|DECLARATIONS PAGE|Certificate of insurance|Discharge summary|Application form|Membership form|Survey", """
[Patient name|Name|Insured|Applicant]: {person} [DOB|Date of birth]: {date} [Sex|Gender]: [M|F]
[Address|City]: {street} {city} [Phone|Home phone|Emergency contact]: {phone}
[Policy number|Member ID|Medical record no|Group no]: {n}
[Allergies|Medications|Past medical history|Reason for visit|Coverage|Diagnosis]: [none|asthma|see attached|diabetes]
*[Do you smoke?|High blood pressure|Heart disease|Dwelling coverage|Liability|Deductible|Blood glucose|Hemoglobin] [Yes No|{few}|{amount}]
[I consent to|I authorize|I certify that the information above is true|I understand that]
[Physician|Doctor|Agent|Primary care provider]: {person}
[Signature|Signature of patient or guardian|Printed name]: ____________ Date: ______"""),
    ("es", "CURRÍCULUM VITAE|CURRICULUM VITAE|Currículum|{person}|Datos personales|Carta de presentación", """
{person}
{street} {city} {phone} {mail}
[Perfil profesional|Perfil|Sobre mí|Objetivo profesional]
[Experiencia laboral|Experiencia profesional|Experiencia]
*{year} - [{year}|actualidad] {job} en {company}. [Gestión de equipos|Atención al cliente|Facturación y nóminas|Contabilidad y extractos bancarios|Redacción de contratos]
[Formación|Formación académica|Estudios|Educación]
*{year} [Grado en Administración|Bachillerato|Máster|Ciclo formativo], [Universidad|Instituto] de {city}
[Idiomas|Informática|Competencias|Habilidades|Otros datos]: [inglés B2|francés|carné de conducir B|Excel avanzado]
[Referencias disponibles|Disponibilidad inmediata|Fecha de nacimiento: {date}]"""),
    ("en", "RESUME|Curriculum Vitae|{person}|Résumé|Professional profile|Cover letter|Transcript|Report card|Job description", """
{person}
{street} {city} {phone} {mail}
[Summary|Profile|Objective|About me]
[Work experience|Professional experience|Employment history|Experience]
*{job}, {company}, {year} - [{year}|present]. [Managed a team of {few}|Processed payroll and invoices|Reviewed contracts|Reconciled bank statements|Increased sales by {pct}]
[Education|Qualifications|Courses]
*[BA|BSc|MBA|High school diploma], University of {city}, {year}
[Skills|Languages|Certifications|Interests|Grade|GPA]: [Excel|Spanish|Python|teamwork|{few}]
[References available on request|Volunteer work]"""),
    # Letters, mail, meetings, manuals.
    ("es", "|Asunto: {n}|COMUNICADO|CARTA DE RECLAMACIÓN|CIRCULAR INFORMATIVA|AVISO|Carta de despido|Requerimiento de pago", """
{company}
{city}, {longdate}
[Asunto|Referencia|Ref.]: [factura pendiente|su solicitud|renovación de la póliza|subida de tarifas|reunión de vecinos|su nómina de {month}]
[Estimado cliente|Estimado señor {surname}|Estimados vecinos|Muy señores míos|Apreciada {given}|A quien corresponda]:
~[Le escribimos|Nos ponemos en contacto con usted|Por la presente le comunicamos] en relación con [la factura {n}|el contrato firmado el {date}|su recibo de {month}|la cuenta {iban}].
Hemos comprobado que el importe de {amount} euros sigue pendiente de pago.
Le rogamos que nos remita la documentación antes del {date}.
Adjuntamos copia del extracto y del contrato para su revisión.
Si ya ha realizado el pago, le pedimos que no tenga en cuenta esta carta.
A partir del próximo mes las condiciones de su contrato cambiarán como se indica.
Quedamos a su disposición para cualquier aclaración.
Agradecemos de antemano su colaboración.
!
[Atentamente|Un cordial saludo|Le saluda atentamente|Reciba un cordial saludo],
{person} {job}"""),
    ("en", "|RE: {n}|NOTICE|MEMORANDUM|Letter of intent|NOTICE OF OVERDUE PAYMENT|Cover letter|Offer letter", """
{company}
{date}
[Subject|Re|Regarding]: [overdue invoice {n}|your application|change of terms|your recent claim|annual meeting]
[Dear {person}|Dear Sir or Madam|Dear customer|To whom it may concern]:
~[We are writing|I am writing|This letter is] [to inform you about|regarding|in connection with] [invoice {n}|your lease agreement|your pay|your account].
Our records show that the amount of {amount} has not been paid yet.
Please find enclosed a copy of the contract and of your last statement.
We would be grateful if you could send us the documents by {date}.
If you have already paid, please disregard this letter.
From next month the terms of your contract will change as described below.
Please do not hesitate to contact us with any questions.
Thank you for your patience and understanding.
!
[Yours sincerely|Kind regards|Sincerely|Best regards|Yours faithfully],
{person} {job}"""),
    ("es", "De: {mail}|Bandeja de entrada|Correo electrónico|RE: factura {n}|Fwd: nómina", """
De: {mail}
Para: {mail}
[Fecha|Enviado]: {date} {time}
Asunto: [factura adjunta|duda sobre mi nómina|contrato para firmar|extracto de {month}|ticket de la comida]
[Hola|Buenos días|Buenas tardes] {given},
~Te adjunto [la factura|el contrato|la nómina|el extracto] de {month} para que lo revises.
¿Puedes confirmarme si el importe de {amount} es correcto?
Necesito la factura a nombre de la empresa, con su CIF.
El cliente dice que ya ha pagado el recibo.
Si te parece bien, lo hablamos mañana por teléfono.
!
[Un saludo|Gracias|Saludos], {given}
{person} | {job} | {company} | {phone}"""),
    ("en", "From: {mail}|Inbox|Email|Fwd: invoice {n}|Message", """
From: {mail}
To: {mail}
[Sent|Date]: {date} {time}
Subject: [invoice attached|question about my payslip|contract for signature|statement for {month}|receipt for lunch]
[Hi|Hello|Good morning] {given},
~Please find attached [the invoice|the contract|your payslip|the statement] for {month}.
Could you confirm that the total of {amount} is right?
The customer says that they have already paid.
We need the invoice to show our purchase order number.
Let me know if you want to talk about it tomorrow.
!
[Thanks|Best|Cheers], {given}
{person} | {job} | {company} | {phone}"""),
    ("es", "ACTA DE LA REUNIÓN|Orden del día|INFORME ANUAL|MANUAL DE USUARIO|ÍNDICE|Instrucciones|Preguntas frecuentes|GUÍA RÁPIDA|Política de privacidad|Bases del concurso|NORMATIVA|Memoria", """
[Capítulo {few}|{few}. Introducción|Índice|Asistentes: {person}, {person}|Orden del día]
*{few}.{few} [Cómo emitir una factura|Alta de empleados y nóminas|Contratos y anexos|Conciliación de extractos|Gestión de tickets|Mantenimiento|Ruegos y preguntas|Configuración] [..... {few}|]
~[Antes de empezar|En este capítulo se explica cómo|El presente informe describe cómo] [configurar el equipo|registrar una factura|preparar las nóminas|archivar los contratos].
Pulse el botón Guardar para que los cambios se apliquen.
Si el documento no tiene número, el programa avisa y no deja continuar.
Se aprueba por unanimidad el acta de la sesión anterior.
El responsable del tratamiento conservará los datos durante el plazo legal.
Cada trabajador puede descargar su recibo de salarios desde el portal.
Las ventas crecieron un {pct} respecto al año anterior.
Consulte la tabla siguiente antes de llamar al servicio técnico.
La junta acuerda encargar un presupuesto para la reparación del tejado.
!
Página {few} de {few}"""),
    ("en", "USER MANUAL|Table of contents|ANNUAL REPORT|MEETING MINUTES|Agenda|Quick start guide|Frequently asked questions|Privacy policy|Chapter {few}|Project plan|White paper|Instructions", """
[Chapter {few}|{few}. Introduction|Contents|Present: {person}, {person}|Agenda]
*{few}.{few} [How to issue an invoice|Payroll and payslips|Contracts|Bank reconciliation|Receipts and expenses|Maintenance|Any other business|Settings] [..... {few}|]
~[Before you begin|This chapter explains how to|The report describes how to] [set up the device|record an invoice|run the payroll|file the contracts].
Press the Save button so that the changes take effect.
If the document has no number, the program warns you and stops.
The minutes of the last meeting were approved.
Employees can download their payslips from the portal.
Sales grew by {pct} compared with the previous year.
See the table below before you call customer service.
We keep personal data only as long as the law requires.
Open the bank statement and compare the closing balance with the ledger.
!
Page {few} of {few}"""),
    ("es", "Cómo leer su nómina|La factura electrónica será obligatoria|Los bancos suben las comisiones|Qué mirar antes de firmar un contrato|Noticias|El ticket de la compra sube|Editorial|Opinión|Receta|Historia", """
~[La nómina es el documento que|Una factura debe llevar|El contrato de alquiler|El extracto del banco|El ticket de compra] [muchos trabajadores no entienden|conviene revisar cada mes|guarda más información de la que parece|sigue siendo un misterio para muchos].
Según los expertos, el líquido a percibir depende del IRPF y de la base de cotización.
La base imponible y el IVA deben figurar por separado, recuerda la asociación.
Sin embargo, no todo el mundo conserva los tickets ni pide factura simplificada.
El arrendador y el arrendatario pueden pactar una prórroga, pero la ley fija un mínimo.
Por ejemplo, quien gana {amount} euros al mes paga un {pct} de retención.
Las empresas tendrán que adaptarse antes de {month} de {year}, dijo {person}.
Cuando llega el extracto, casi nadie comprueba el saldo final ni las comisiones.
El documento nacional de identidad se renueva cada diez años, aunque hay excepciones.
Los vecinos de {city} se quejan de que las obras no terminan nunca.
Pelar las patatas, cortarlas finas y freírlas a fuego lento durante veinte minutos.
Era una tarde de {month} cuando la casa quedó en silencio y nadie volvió a hablar de aquello.
En los últimos {few} años el sector ha crecido más que ningún otro."""),
    ("en", "How to read your payslip|Why invoices are paid late|What your bank statement tells you|Before you sign a contract|News|Opinion|The price of groceries|A short history|Recipe|Blog", """
~[A payslip is|An invoice should|Most contracts|A bank statement] [a document that many people never read|say who must pay and when|worth checking every month|hard to understand].
According to experts, net pay depends on the tax code and on pension contributions.
The subtotal and the tax should be shown separately, the association says.
However, not everyone keeps their receipts or asks for a proper invoice.
The landlord and the tenant may agree on a longer term, but the law sets a minimum.
For example, someone who earns {amount} a month pays {pct} in deductions.
Companies will have to adapt before {month} {year}, said {person}.
When the statement arrives, hardly anyone checks the closing balance or the fees.
A passport is valid for ten years, although there are exceptions.
People in {city} complain that the works never end.
Peel the potatoes, slice them and fry them gently for twenty minutes.
It was an evening in {month} when the house fell silent and nobody spoke of it again.
Over the last {few} years the industry has grown more than any other."""),
    ("es", "ENTRADA|Tarjeta de embarque|RESERVA CONFIRMADA|Horario|Calendario {year}|Ficha de inscripción|Parte de horas|Control horario|FORMULARIO DE SOLICITUD|SOLICITUD|ENCUESTA|Vale|Garantía|Etiqueta de envío|Programa", """
{company}
[Nombre|Pasajero|Solicitante|Alumno|Titular]: {person} [DNI|Localizador|Nº]: {n}
[Fecha|Salida|Entrada|Día]: {date} {time}
*[Lunes|Martes|Miércoles|Jueves|Viernes] {time} {time} {few}
*[Asiento|Puerta|Habitación|Noches|Curso|Grupo|Talla] {few}
[Presente este documento a la entrada|Rellene los datos en mayúsculas|Marque con una X|La garantía cubre {few} años]
[Firma del solicitante|Firma del empleado|Observaciones]: ________
[Total horas|Importe|Precio]: {few}"""),
    ("en", "BOARDING PASS|Booking confirmation|TIMESHEET|REGISTRATION FORM|Application for employment|Ticket|Warranty card|Schedule|Voucher|Shipping label|Gift card|Checklist|Inspection report|Expense report", """
{company}
[Name|Passenger|Guest|Student|Applicant]: {person} [Booking reference|ID|No]: {n}
[Date|Departure|Check-in|Day]: {date} {time}
*[Monday|Tuesday|Wednesday|Thursday|Friday] {time} {time} {few}
*[Seat|Gate|Room|Nights|Course|Grade|Meals|Mileage|Taxi|Hotel] {few}
[Please present this document at the entrance|Complete in block capitals|Tick all that apply|This warranty covers {few} years]
[Signature of applicant|Supervisor signature|Comments]: ________
[Total hours|Price|Total expenses]: {few}"""),
    ("es", "|ANEXO I|Anexo fotográfico|{n}|ESTATUTOS|BOLETÍN OFICIAL|Ley|Sentencia|Plano|Diagrama|Portada|Croquis", """
*{company}
*{item}
{person}
{city} {year}
~Artículo {few}. [Las sociedades se regirán por sus estatutos|La presente ley entrará en vigor el día siguiente al de su publicación|El consejo podrá delegar sus facultades].
Fallo: que debo estimar y estimo la demanda presentada por {person} contra {company}.
Artículo {few}. Los socios responderán en proporción a su participación en el capital social.
Disposición transitoria. Los procedimientos iniciados antes se tramitarán conforme a la normativa anterior."""),
)  # fmt: skip
