# ruff: noqa: E501  (lines of recipes are lines of pages)
"""What is printed on pages of each type, as recipes that `made_up` cooks into ever different pages. Data only.

A recipe is a language, titles (one is chosen, or none) and lines, of which some are left out. `[a|b]` is a choice,
`{amount}` an invention; a line with `*` in front comes several times, `~` starts running text made of the sentences
after it. None of it is copied from anywhere: it is what such papers usually say.
"""

from __future__ import annotations

Recipe = tuple[str, str, str]  # language, titles separated by "|", lines

INVOICE: tuple[Recipe, ...] = (
    ("es", "FACTURA|Factura|FACTURA DE VENTA|Factura de servicios|FACTURA ORDINARIA|Factura nº {n}", """
{company}
[NIF|CIF|N.I.F.|C.I.F.|NIF/CIF]: {cif}
{street} {city}
Tel. {phone} {mail}
[Nº factura|Factura nº|Número de factura|Núm. factura|Nº de factura|Factura|Fra. nº|Serie/Número]: {n}
[Fecha|Fecha factura|Fecha de expedición|Fecha de emisión|Fecha emisión]: {date}
[Cliente|Datos del cliente|Facturar a|Destinatario|Razón social]: {company}
[NIF|CIF|DNI]: {nif}
[Vencimiento|Fecha de vencimiento|Vto.]: {date}
[FACTURA FECHA CÓD. CLIENTE PÁGINA|FACTURA Nº FECHA CLIENTE|Nº Factura Fecha Cód. cliente NIF]
{n} {date} {few} [1 de {few}|{nif}|]
[Albarán|Albarán nº|Su pedido|Pedido nº|N/Ref.|Obra|Expediente|Comercial|Agente]: {n}
[Habitación|Huésped|Reserva|Matrícula|Vehículo|Kilómetros|Paciente|Tratamiento|Alumno|Curso|Trayecto|Referencia catastral]: [{n}|{person}]
[Cant.|Cantidad|Uds.|Unidades] [Descripción|Concepto|Artículo|Detalle] [Precio|P. unitario|Precio ud.|Tarifa] [Dto.|% Dto|IVA] [Importe|Total|Subtotal]
*{few} {item} {amount} {amount}
*{item} {amount}
[Subtotal|Suma|Importe bruto|Total bruto]: {amount}
[Base imponible|Base|Base imp.|B. Imponible|Total neto]: {amount}
[IVA|I.V.A.|Cuota IVA|IGIC|IVA repercutido] {pct} {amount}
[Retención IRPF|IRPF|Ret. IRPF] [-|]15 % {amount}
[Total factura|TOTAL|Total a pagar|TOTAL FACTURA|Importe total|Total EUR]: {amount} €
[Forma de pago|Modo de pago|Condiciones de pago]: [transferencia|domiciliación|contado|giro 30 días|recibo domiciliado]
[IBAN|Cuenta|Nº de cuenta|CCC]: {iban}
[Inscrita en el Registro Mercantil de {city}, tomo {few}, folio {few}, hoja {n}|Reg. Merc. {city} T. {few} F. {few}]
[Operación con inversión del sujeto pasivo|Factura exenta de IVA según art. 20 LIVA|Factura verificable en la sede electrónica de la AEAT|VERI*FACTU]
[Recargo de equivalencia 5,2 %|Portes|Descuento]: {amount}"""),
    ("es", "FACTURA DE ELECTRICIDAD|Factura de gas|TU FACTURA|Resumen de la factura|Factura de agua|Factura de telefonía|DATOS DE LA FACTURA", """
{company}
[Nº factura|Referencia factura|Nº de factura]: {n}
[Periodo de facturación|Periodo facturado|Periodo de consumo]: {date} - {date}
[Fecha de cargo|Fecha límite de pago|Fecha de emisión]: {date}
[Titular|Titular del contrato|Titular del suministro]: {person}
[Dirección de suministro|Dirección fiscal]: {street} {city}
[CUPS|Nº contrato|Referencia de contrato|Contrato]: {n}
[Potencia facturada|Término de potencia|Potencia contratada] {amount} kW {amount}
[Energía consumida|Término variable|Consumo|Término de energía] {few} kWh x {amount} €/kWh {amount}
[Impuesto sobre la electricidad|Impuesto eléctrico|Alquiler de equipos|Alquiler de contador|Cuota de servicio|Canon de saneamiento] {amount}
[Consumo de datos|Llamadas a móviles|Tarifa fibra 600 Mb|Cuota mensual línea {phone}] {amount}
[Lectura anterior|Lectura actual] {few} {few} m3
[Base imponible|Importe total sin IVA]: {amount}
IVA {pct} {amount}
[TOTAL A PAGAR|TOTAL IMPORTE FACTURA|Importe a pagar|Total factura]: {amount} €
[Forma de pago: domiciliación bancaria|Domiciliado en la cuenta {iban}]
[Atención al cliente|Averías y urgencias]: 900 {phone}"""),
    ("en", "INVOICE|Invoice|TAX INVOICE|Sales Invoice|Commercial Invoice|INVOICE #{n}|VAT Invoice", """
{company}
{street} {city}
[VAT No|VAT Reg. No.|Tax ID|EIN|GST No|ABN]: {cif}
[Invoice No|Invoice Number|Invoice #|Invoice no.|No.|Inv. No]: {n}
[Invoice Date|Date|Date of issue|Issued]: {date}
[Due Date|Payment due|Due]: {date}
[Bill To|Billed to|Sold To|Customer|Client|Invoice to|Ship To|Attn]: {company}
[PO Number|P.O. No|Purchase order|Customer ID|Account No|Salesperson|Job|Terms|Delivery note|Your order|Customer ref|Our ref]: {n}
[INVOICE DATE CUSTOMER REF PAGE|INVOICE NO DATE ACCOUNT|Number Date Customer]
{n} {date} {few} [1 of {few}|]
[Room|Guest|Booking|Registration|Vehicle|Patient|Course|Project|Property]: [{n}|{person}]
[Qty|Quantity|Hours|Units] [Description|Item|Service|Details] [Unit Price|Rate|Price] [Amount|Line Total|Total]
*{few} {item} {amount} {amount}
*{item} {amount}
[Subtotal|Sub-total|Net amount|Total excl. VAT|Net total]: {amount}
[VAT|Sales Tax|Tax|GST|HST] ({pct}): {amount}
[Shipping|Shipping & handling|Discount|Freight|Deposit received] {amount}
[Total|Total due|Balance Due|Amount Due|Invoice Total|TOTAL USD|Grand total|Total payable]: {amount}
[Payment terms|Terms]: [net 30|30 days|due on receipt|14 days]
[Make all checks payable to|Please remit payment to|Bank details: sort code, account number|Pay by bank transfer to] {company}
[Thank you for your business!|If you have any questions about this invoice, please contact us|Late payments bear interest]"""),
    ("en", "Utility bill|Your bill|ELECTRIC BILL|Water and sewer bill|Billing statement|Your energy statement|Monthly bill", """
{company}
[Account number|Account No.|Customer number]: {n}
[Bill date|Statement date|Billing date]: {date}
[Service address|Supply address]: {street} {city}
[Service period|Billing period]: {date} to {date}
[Previous balance|Balance forward|Payments received] {amount}
[Current charges|New charges|Charges this period] {amount}
[Meter number|Meter reading|Usage] {few} [kWh|gallons|therms|CCF]
[Delivery charge|Supply charge|Customer charge|Distribution charge|Standing charge] {amount}
[Tax|State tax|VAT at 5%|Franchise fee] {amount}
[Total amount due|Amount due|Total due|Please pay by {date}] {amount}
[Detach and return this portion with your payment|Make check payable to|AutoPay]"""),
    ("fr", "FACTURE|Facture|Facture n° {n}|Votre facture|Détail de la facture", """
{company}
[N° de facture|Facture n°|Numéro de facture]: {n}
[Date|Date de facturation|Date d'émission]: {date}
[Client|Facturé à|Référence client|Titulaire du contrat]: {company}
[Quantité|Qté] [Désignation|Description] [Prix unitaire|PU HT] [Montant HT|Total HT]
*{few} {item} {amount} {amount}
[Total HT|Montant hors TVA|Sous-total]: {amount}
[TVA {pct}|Montant TVA|TVA à 20 %]: {amount}
[Total TTC|Net à payer|Montant TTC|Total à payer]: {amount} €
[Abonnement|Consommation|Taxes et contributions|Prélèvement le {date}] {amount}
[SIRET|N° TVA intracommunautaire|RCS|IBAN]: {n}
[Conditions de règlement|Échéance|À régler avant le]: {date}"""),
    ("ca", "FACTURA|Factura núm. {n}|FAKTURA|FATURA|Factura", """
{company}
NIF: {cif}
[Núm. factura|Número de factura|Factura zk.|Fatura n.º]: {n}
[Data|Data factura|Data d'emissió|Data de emisión|Fecha]: {date}
[Client|Bezeroa|Cliente|Dades del client]: {company}
[Quantitat|Cantidade|Kopurua] [Descripció|Descrición|Deskribapena|Concepte] [Preu|Prezo|Prezioa] [Import|Zenbatekoa]
*{few} {item} {amount} {amount}
[Base imposable|Base impoñible|Zerga oinarria|Base imponible]: {amount}
[IVA|BEZ|IVE] {pct} {amount}
[Total factura|Import total|Total a pagar|GUZTIRA]: {amount} €
[Forma de pagament|Venciment|Ordainketa modua]: {iban}"""),
    ("es", "FACTURA ELECTRÓNICA|FACTURA DE VENTA|CFDI|FACTURA A|Factura Electrónica de Venta", """
{company}
[RUC|RFC|NIT|CUIT|RUT]: {n}
[Folio fiscal|Timbre|Clave de acceso|CUFE|CAE]: {n}
[Señor(es)|Receptor|Cliente|Adquiriente]: {company}
[Fecha de emisión|Fecha y hora de certificación|Vencimiento]: {date}
[Cantidad|Cant.] [Descripción|Detalle] [Valor unitario|P. Unit.] [Importe|Valor total]
*{few} {item} {amount} {amount}
[Subtotal|Op. gravada|Neto gravado|Valor venta] $ {amount}
[IVA 16 %|IGV 18 %|IVA 19 %|I.V.A. 21 %|IVA 12 %] {amount}
[Total|Importe total|Total a pagar] $ {amount}
[Método de pago|Uso CFDI|Régimen fiscal|Condición de venta]: {few}"""),
    # Sheets that say what tickets say, or never say "factura": hotels, wholesalers, professionals.
    ("es", "FACTURA|Factura / Invoice {n}|Factura nº {n}|FACTURA CLIENTE|Fra. nº {n}|", """
[{company}|Hotel {city}|CASH & CARRY {city}|Restaurante {city}|Hostal {surname}|Almacenes {surname}|Estación de servicio {city}]
[Factura / Invoice|Fra. nº|Factura nº|Nº Factura|Factura|Invoice no.]: {n} [Fecha / Date|Fecha|Fecha factura]: {date} [Hora|]: {time}
[{company}|Sr. {person}|CLIENTE {few} {company}|Cliente: {company}|Datos del cliente: {person}|Facturar a: {company}]
[CIF|NIF|C.I.F.|NIF cliente]: {cif} {street} {city}
[Habitación / Room|Hab.|Mesa|Caja|Operador|Matrícula|Surtidor|Socio|Tienda|Vendedor]: {few} [Recepcionista: {given}|Cajero: {given}|Le atendió: {given}|]
[Entrada / Check-in {date}|Noches {few}|Comensales {few}|Total artículos: {few}|]
[Fecha Servicio Cargo Pago|REF. PRODUCTO CANTIDAD P.V.P. IVA TOTAL|Fecha Concepto Cantidad Precio Total|Descripción Importe]
*{shortdate} {few} {item} {amount}
*{few} {item} {few} {amount} {amount}
[Alojamiento y desayuno|Media pensión|Menú del día|Lavandería|Garaje|Cena|Gasóleo A|Alquiler de vehículo] {amount}
[Base imponible|Base] [IVA|Tipo] [Cuota|Importe IVA] [Total|Recargo Total]
{amount} {pct} {amount} {amount}
[Total|TOTAL A PAGAR|TOTAL FACTURA|Total factura]: {amount} €
[Pagado con tarjeta|Visa ****{few}|Forma de pago: efectivo|Cobrado: tarjeta|Cobrado: contado|Entregado / Cambio] {amount}
[Importe pendiente 0,00|Guarde esta factura|Firma del cliente ________|]
[Precios con IVA incluido|Gracias por su visita|Gracias por su confianza|Gracias por su compra|Esperamos verle pronto|]
{company} [CIF|NIF|N.I.F.] {cif} {street} {city} Tel. {phone} {mail}
[Registro Mercantil de {city}, Tomo {few}, Folio {few}, Hoja {n}|]"""),
    ("es", "FACTURA|Factura nº {n}|Fra. {n}|", """
[{company}|CASH {city}|Almacenes {surname}|Gasolinera {city}|Ferretería {surname}] [CIF|C.I.F.|NIF] {cif}
[Fra. nº|Factura nº|Nº factura|Factura]: {n} [Fecha]: {date} [Hora]: {time} [Caja|Terminal|Surtidor]: {few}
[Cliente|CLIENTE|Cliente nº {few}|Facturar a|Datos del cliente]: {company} [NIF|CIF|N.I.F.] {nif}
{street} {city}
[ARTÍCULO UDS PRECIO IVA IMPORTE|Producto Litros Precio Importe|Código Descripción Cantidad Precio Total]
*{item} {few} {amount} {few} {amount}
[Base imponible|BASE|Base] {amount} [IVA|Cuota IVA] {pct} {amount} [Recargo {amount}|]
[TOTAL|TOTAL A PAGAR|Total factura] {amount} €
[Pagado con tarjeta|Forma de pago: tarjeta VISA|Efectivo|Contado|Tarjeta] {amount}
[Le atendió|Atendido por|Cajera|Vendedor]: {given}
[Gracias por su visita|Gracias por su compra|]"""),
    ("es", "Minuta de honorarios|MINUTA|Nota de honorarios|NOTA DE HONORARIOS Nº {n}|Recibo de honorarios|Minuta nº {n}|Factura de honorarios|MINUTA DE HONORARIS|Factura", """
{person}
[ABOGADA|Abogado|Arquitecto|PROCURADORA DE LOS TRIBUNALES|Notaría de {city}|Psicóloga|Economista|Traductora jurada|Perito tasador|Registro de la Propiedad de {city}] [Colegiado nº|Col. nº|Colegiada nº] {n}
[Minuta de honorarios|Minuta|Nota de honorarios|Recibo de honorarios|Honorarios] [n.º|nº|núm.] {few}/{few}
{city}, {longdate}
[{company}|{person}|Cliente: {company}|D. {person}]
[C.I.F.|N.I.F.|NIF|DNI] {cif} {street} {city}
[Por los trabajos realizados en el asunto de referencia|Asunto: autos {n}|En concepto de honorarios por:|Procedimiento {few}/{year}|Expediente {n}]
*[Redacción de demanda|Asistencia a juicio|Estudio del asunto|Proyecto básico y de ejecución|Dirección de obra|Consulta|Informe pericial|Traducción jurada|Copia autorizada|Arancel nº {few}|Redacción de contrato|Declaración de la renta] {amount} €
[Base imponible|Total honorarios|Suma honorarios|Importe honorarios|Honorarios] {amount} €
[21 % I.V.A.|IVA 21 %|I.V.A. {pct}|IGIC 7 %] {amount} €
[Retención I.R.P.F. 15 %|I.R.P.F. 15%|Retención 7 %|IRPF (15 %)] -{amount} €
[Suplidos|Suplidos: tasas|Gastos suplidos|Provisión de fondos recibida|Suplidos: registro mercantil] {amount} €
[TOTAL A PERCIBIR|TOTAL|Total minuta|Total a pagar|Líquido a percibir|LÍQUIDO] {amount} €
[Importa esta minuta {amount} euros|S.E.U.O.|Son {amount} euros]
[Ingreso en la cuenta|Cuenta para el abono|IBAN] {iban}
[Fdo.: {person}|Recibí|El letrado]
{street} {city} Tel. {phone} N.I.F. {nif}"""),
    ("en", "Statement of services|INVOICE|Invoice / Receipt|Receipt {n}|Fee note|Statement of fees|Bill for services|Paid invoice", """
{company}
[Invoice date|Issued on|Date]: {date}
[Receipt no|Receipt number|Invoice #|Statement no|Reference]: {n}
[Sold to|Bill to|Billed to|Client|To]: {company}
{street} {city}
[Customer ID|Account|Client no]: {n}
[Service Hours Rate Amount|Description Qty Unit price Amount|Session Fee Reduction Line total]
*{date} {item} {amount} {amount}
*{item} {few} {amount} {amount}
[Subtotal|Net]: {amount}
[Sales tax|VAT|Tax] {pct} {amount}
[Total|Total due|Amount due|Amount paid]: {amount}
[Payment received, thank you|Paid by card|Thank you for your business|Please pay {company}]"""),
)  # fmt: skip

# The second page of an invoice, which says less of what it is.
INVOICE_CONTINUED: tuple[Recipe, ...] = (
    ("es", "|Página 2 de 2|Pág. 2/3|Hoja 2", """
{company}
[Factura|Nº factura]: {n}
[Suma anterior|Suma y sigue|Viene de la página anterior]: {amount}
[Cantidad|Uds.] [Descripción|Concepto] [Precio|Precio unitario] [Importe|Total]
*{few} {item} {amount} {amount}
*{few} {item} {amount} {amount}
[Base imponible|Base] [% IVA|Tipo] [Cuota IVA|Cuota] Total
{amount} {pct} {amount} {amount}
[Total factura|TOTAL A PAGAR|Suma y sigue]: {amount}
[Forma de pago|Vencimientos]: {date} {amount}
[Protección de datos: sus datos se tratan para la gestión de la facturación|Inscrita en el Registro Mercantil de {city}]"""),
    ("en", "|Page 2 of 2|Page 2|Invoice {n} (continued)", """
[Invoice|Invoice No]: {n}
[Balance forward|Carried forward|Continued from previous page] {amount}
[Qty|Item] Description [Unit price|Rate] Amount
*{few} {item} {amount} {amount}
*{few} {item} {amount} {amount}
[Subtotal|Net total] {amount}
[Tax|VAT] {pct} {amount}
[Invoice total|Balance due|Total due] {amount}
[Payment terms|Remit to|Bank details]: {company}"""),
)  # fmt: skip

RECEIPT: tuple[Recipe, ...] = (
    ("es", "FACTURA SIMPLIFICADA|Ticket|TICKET DE COMPRA|Tique|Fra. simplificada|RECIBO|Factura simplificada nº {n}|Documento de venta|CUENTA", """
{company}
[CIF|NIF|N.I.F.]: {cif}
{street} {city}
[Tel|Tfno|Tlf]. {phone}
{date} {time} [Caja|TPV|Terminal|Tienda|Op|Mesa|Sala|Turno]: {few}
[Le atendió|Atendido por|Cajero|Cajera|Camarero|Vendedor|Empleado|Dependiente]: {given}
[Uds|Cant|Unid] [Descripción|Artículo|Producto|Concepto] [PVP|P.U.|Precio] [Importe|Imp|Total]
*{few} {item} {amount}
*{item} {amount}
*{item} {few},{few} kg {amount}
[Subtotal|Total sin dto|Base]: {amount}
[TOTAL|TOTAL A PAGAR|Total €|TOTAL COMPRA|Total (impuestos incl.)|IMPORTE TOTAL] {amount}
[Efectivo|Entregado|Tarjeta|Tarjeta bancaria|VISA|Contado|Bizum|Metálico|Importe entregado] {amount}
[Cambio|Devolución|A devolver|Su cambio] {amount}
[IVA incluido|I.V.A. incl.|IVA INCLUIDO EN EL PRECIO|Impuestos incluidos]
[Base|Base imp.] [Cuota|IVA] {pct} {amount} {amount}
[Gracias por su visita|Gracias por su compra|¡Gracias!|Vuelva pronto|Conserve este ticket|Le esperamos de nuevo|Cambios y devoluciones con ticket en 15 días|No se admiten devoluciones sin ticket]
[Nº artículos|Total artículos|Comensales]: {few}
[Puntos acumulados|Ahorro|Dto. cliente]: {few}
[Litros|Surtidor|Precio/litro|Gasoleo A|Sin plomo 95] {amount}"""),
    ("es", "JUSTIFICANTE DE COMPRA|VENTA|Copia para el cliente|COMPROBANTE DE VENTA|Recibo de taxi|Ticket de aparcamiento|Peaje", """
{company}
{city} {date} {time}
[Comercio|TPV|Terminal|Licencia|Matrícula|Entrada]: {n}
[Tarjeta|Visa|Mastercard] ****{few} [AID|ARC|Autorización|Aut.] {n}
[Operación contactless|Firma no necesaria|Operación realizada con PIN|Venta]
[Salida|Duración|Trayecto|Suplemento|Tarifa 1] {time}
[IMPORTE|TOTAL|Importe total] {amount} [EUR|€]
[IVA incluido|IVA 21 % incluido|IVA 10 % incl.]
[Gracias por su visita|Conserve este recibo|Gracias, buen viaje]"""),
    ("en", "RECEIPT|Sales receipt|CASH RECEIPT|TAX INVOICE|Receipt #{n}|CASH BILL|Guest check|", """
{company}
[Store|Shop|Reg|Register|Till|Terminal|Table|Counter] {few} {street}
{city} [Tel|Phone|Ph]: {phone}
{date} {time} [Cashier|Served by|Your server was|Operator|Staff|Associate]: {given}
*{item} {amount}
*{few} x {item} {amount}
*{few} {item} @ {amount} {amount}
[Subtotal|Sub total|Total before tax] {amount}
[Tax|Sales tax|VAT|GST 6%|Incl. VAT|Service charge] {amount}
[TOTAL|Total|Balance due|Total (incl. VAT)|Total Sales|Amount] {amount}
[Cash|Visa|Mastercard|Debit|Card|Cash tendered|Contactless|Amex] {amount}
[Change|Change due|Rounding] {amount}
[Tip|Gratuity] ________
[Auth code|AID|Approval|Card no|Entry method: chip] {n}
[Thank you|Thank you for shopping with us|Please come again|Have a nice day|Thanks for your visit|Keep your receipt|Goods sold are not returnable|Returns within 30 days with receipt]
[Items sold|Number of items|You saved|Loyalty points]: {few}"""),
    ("ca", "FACTURA SIMPLIFICADA|TIQUET|TICKET|TIKETA|FATURA SIMPLIFICADA|BOLETA ELECTRÓNICA", """
{company}
NIF {cif}
{date} {time} [Caixa|Kutxa|Caja]: {few}
[L'ha atès|Atendeu|Li va atendre]: {given}
*{few} {item} {amount}
*{item} {amount}
TOTAL [EUR|€|S/|$] {amount}
[Efectiu|Targeta|Efectivo|Eskudirutan|Multibanco] {amount}
[Canvi|Cambio|Itzulia|Troco|Vuelto] {amount}
[IVA inclòs|IVE incluído|BEZ barne|IVA incluido]
[Gràcies per la seva visita|Grazas|Eskerrik asko|Obrigado pela sua visita|Gracias por su preferencia]"""),
    ("fr", "TICKET|Ticket de caisse|REÇU|FACTURETTE", """
{company}
{date} {time} Caisse {few}
*{item} {amount}
*{few} {item} {amount}
[TOTAL|Total TTC|A PAYER] {amount}
[Espèces|CB|Carte bancaire] {amount}
[Rendu|Rendu monnaie] {amount}
[dont TVA|TVA {pct}] {amount}
[Merci de votre visite|Merci et à bientôt]"""),
)  # fmt: skip

PAYSLIP: tuple[Recipe, ...] = (
    ("es", "NÓMINA|RECIBO DE SALARIOS|RECIBO INDIVIDUAL JUSTIFICATIVO DEL PAGO DE SALARIOS|Hoja de salario|Recibo de nómina|NOMINA|Nómina del mes de {month}|RECIBO DE HABERES|", """
[Empresa|Nombre de la empresa|Razón social]: {company}
[CIF|NIF]: {cif} [Código cuenta cotización|C.C.C.|CCC|Nº inscripción S.S.|Cód. cta. cotización]: {n}
[Domicilio|Centro de trabajo]: {street} {city}
[Trabajador|Trabajador/a|Nombre|Empleado|Apellidos y nombre|Perceptor]: {person}
[NIF|DNI|N.I.F.]: {nif} [Nº afiliación S.S.|Núm. Seguridad Social|NASS|Nº afil. Seg. Social|NAF]: {n}
[Categoría|Grupo profesional|Categoría o grupo profesional|Puesto]: {job} [Grupo de cotización|Grup. cotiz.|G.C.|Grupo Tarifa]: {few}
[Antigüedad|Fecha antigüedad|Fecha de alta]: {date}
[Periodo de liquidación|Período|Periodo|Mes|Liquidación]: [del 1 al 30 de {month} de {year}|{month} {year}|01/{few}/{year} - 30/{few}/{year}] [Total días|Nº días|Días]: 30
[I. DEVENGOS|DEVENGOS|Conceptos Devengos Deducciones|CONCEPTO CUANTÍA PRECIO DEVENGOS DEDUCCIONES|Devengado Retenido|HABERES]
[1. Percepciones salariales|Percepciones salariales|Percepciones no salariales]
[Salario base|Sueldo base|Salario Base] {amount}
[Plus convenio|Complemento salarial|Plus transporte|Plus de actividad|Mejora voluntaria|Complemento personal|Antigüedad|Trienios|Complemento de destino|Complemento específico|Incentivos|A cuenta convenio] {amount}
[Prorrata pagas extras|P.P. extras|Pagas extraordinarias|Parte proporcional pagas extra|Paga extra|Horas extraordinarias|Dietas|Gratificaciones|Prestaciones IT] {amount}
[A. TOTAL DEVENGADO|TOTAL DEVENGADO|T. devengado|Total devengos|Total bruto|TOTAL HABERES|Total Íntegro] {amount}
[II. DEDUCCIONES|DEDUCCIONES|Descuentos|RETENCIONES]
[Contingencias comunes|Cotización cont. comunes|Cont. Comunes] 4,70 % {amount}
[Desempleo|Formación profesional|Desempleo + F.P.|MEI|Mecanismo equidad intergeneracional|Cot. formación] {pct} {amount}
[I.R.P.F.|IRPF|Retención IRPF|Impuesto sobre la renta de las personas físicas|Tributación I.R.P.F.] {pct} {amount}
[Anticipos|Valor de los productos recibidos en especie|Otras deducciones|Embargo|Cuota sindical] {amount}
[B. TOTAL A DEDUCIR|TOTAL A DEDUCIR|T. a deducir|Total deducciones|Total descuentos|TOTAL RETENIDO] {amount}
[LÍQUIDO TOTAL A PERCIBIR (A-B)|LÍQUIDO A PERCIBIR|Líquido a percibir|Neto a percibir|TOTAL LÍQUIDO|Importe líquido|Total neto] {amount}
[Base de cotización|BASES DE COTIZACIÓN A LA SEGURIDAD SOCIAL|Determinación de las bases de cotización|Base CC|Base sujeta a retención IRPF|Base IRPF|Remuneración mensual|Base AT y EP] {amount}
[Aportación empresa|Aportación empresarial|FOGASA|AT y EP] {amount}
[Firma y sello de la empresa|Recibí|Recibí: el trabajador|SWIFT/BIC IBAN {iban}|Transferencia a {iban}]"""),
    ("en", "PAYSLIP|Pay slip|Earnings statement|Pay stub|PAY ADVICE|Statement of earnings|Payroll|Wage slip|Earnings Statement|", """
{company}
{street} {city}
[Employee|Employee name|Name]: {person} [Employee ID|Employee no|Emp No|Payroll no|Works number]: {n}
[Pay period|Period ending|Pay period ending|Period beginning|Tax period]: {date}
[Pay date|Payment date|Check date|Advice date]: {date} [Check no|Advice number|Pay method: BACS]: {n}
[Tax code|NI number|NI category|SSN|Filing status|Marital status|Exemptions|Allowances]: [1257L|XXX-XX-{few}|Single|Married]
[Earnings Rate Hours This period Year to date|Description Hours Rate Amount|Payments Units Rate Amount|Earnings Current YTD]
[Basic pay|Regular|Salary|Regular pay|Basic salary|Hourly] {few} {amount} {amount}
[Overtime|Bonus|Holiday pay|Commission|Vacation|Sick pay|Shift allowance] {amount} {amount}
[Gross pay|Total gross pay|Gross earnings|Total payments|GROSS PAY] {amount} {amount}
[Deductions|Statutory deductions|Taxes|Deductions this period year to date]
[PAYE tax|Income tax|Federal income tax|Fed withholding|Federal Income Tax|FIT] {amount} {amount}
[National Insurance|Social Security Tax|FICA|Medicare Tax|State income tax|NI|SUI/SDI Tax] {amount} {amount}
[Pension|401(k)|Student loan|Health insurance|Union dues|Dental|Life insurance] {amount} {amount}
[Total deductions|Total taxes and deductions|Deductions total] {amount} {amount}
[Net pay|NET PAY|Take home pay|Net pay this period|Net check|Direct deposit] {amount}
[Year to date|YTD gross|Taxable gross pay|Taxable pay YTD|Your federal taxable wages this period are] {amount}
[Deposited to the account of|Account number xxxxxx{few}|Employer NI|Holidays remaining|This is not a check] {few}"""),
    ("ca", "NÒMINA|REBUT DE SALARIS|Full de salari|NOMINA|Recibo de nómina CFDI|LIQUIDACIÓN DE SUELDO|Soldata-orria|Bulletin de paie", """
[Empresa|Patrón|Enpresa|Empregador]: {company} {cif}
[Treballador|Traballador|Trabajador|Langilea|Salarié|Empleado]: {person} [NIF|CURP|RUT|NSS]: {n}
[Període de liquidació|Periodo de pago|Aldia|Período]: {month} {year}
[Salari base|Salario base|Sueldo|Oinarrizko soldata|Salaire de base] {amount}
[Plus conveni|Complement|Aguinaldo|Gratificación legal|Prorrata pagues extres] {amount}
[Total meritat|TOTAL DEVENGAT|Total percepciones|Total haberes|Sortzapenak guztira|Salaire brut] {amount}
[Deduccions|Descuentos legales|Contingències comunes|Cotisations|ISR|AFP|IMSS] {amount}
[IRPF|PFEZ|Impuesto único|Retenció IRPF] {pct} {amount}
[Total a deduir|Total deducciones|Total descuentos|Kenkariak guztira] {amount}
[LÍQUID A PERCEBRE|Líquid total a percebre|Neto a pagar|Alcance líquido|Líquido a recibir|Net à payer|Jaso beharreko likidoa] {amount}"""),
)  # fmt: skip

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

BANK_STATEMENT: tuple[Recipe, ...] = (
    ("es", "EXTRACTO DE CUENTA|EXTRACTO BANCARIO|Extracto mensual|Movimientos de la cuenta|EXTRACTO DE MOVIMIENTOS|Consulta de movimientos|Extracto integrado|Últimos movimientos|", """
[{company}|Banco {city}|Caja Rural de {city}]
[Titular|Titular de la cuenta|Titulares|Cliente]: {person}
[IBAN|Cuenta|Número de cuenta|CCC]: {iban}
[BIC|SWIFT|Oficina|Entidad|Divisa]: [EUR|{few}]
[Periodo|Fecha desde|Desde]: {date} [hasta|-|al] {date}
[Saldo anterior|Saldo inicial|Saldo a {date}] {amount}
[Fecha|F. operación|Fecha oper.|Fecha operación] [Fecha valor|F. valor|Valor] [Concepto|Descripción|Movimiento] [Importe|Cargo Abono|Debe Haber] Saldo
*{shortdate} {shortdate} [RECIBO|COMPRA TARJ.|TRANSFERENCIA|BIZUM|NÓMINA|CAJERO|ADEUDO|COMISIÓN|TRANSF. A FAVOR DE|PAGO CON TARJETA EN] {item} -{amount} {amount}
*{shortdate} {shortdate} [ABONO|TRANSFERENCIA DE|INGRESO|NOMINA|DEVOLUCIÓN] {item} {amount} {amount}
[Saldo final|Saldo actual|Nuevo saldo|Saldo disponible|SALDO A SU FAVOR] {amount}
[Total cargos|Total abonos|Suma de adeudos|Intereses|Retenciones] {amount}"""),
    ("en", "BANK STATEMENT|Account statement|Statement of account|Your statement|CURRENT ACCOUNT STATEMENT|Checking account statement|Statement|", """
[{company}|Bank of {city}]
[Account holder|Account name|Prepared for]: {person}
[Account number|Account no|IBAN|Sort code]: {n}
[Statement period|Period|Statement date|For the period]: {date} to {date}
[Opening balance|Beginning balance|Balance brought forward|Previous balance] {amount}
Date [Description|Details|Transaction|Payment type and details] [Paid out Paid in|Withdrawals Deposits|Debit Credit|Money out Money in|Amount] Balance
*{shortdate} [DIRECT DEBIT|CARD PAYMENT|POS PURCHASE|ATM WITHDRAWAL|CHECK {few}|STANDING ORDER|ONLINE TRANSFER|ACH DEBIT] {item} {amount} {amount}
*{shortdate} [SALARY|DEPOSIT|TRANSFER FROM|PAYROLL|INTEREST|FASTER PAYMENT] {item} {amount} {amount}
[Closing balance|Ending balance|Balance carried forward|New balance] {amount}
[Total withdrawals|Total deposits|Service fee|Interest earned|Overdraft limit|Annual percentage yield] {amount}"""),
    ("ca", "EXTRACTE DE COMPTE|Moviments del compte|ESTADO DE CUENTA|RELEVÉ DE COMPTE|EXTRATO DE CONTA", """
[Titular|Cliente|Titulaire]: {person} [IBAN|CLABE|Compte|Cuenta]: {iban}
[Saldo anterior|Saldo inicial|Solde précédent|Saldo al corte] {amount}
[Data|Fecha|Date] [Concepte|Concepto|Libellé] [Import|Cargos Abonos|Débit Crédit] [Saldo|Solde]
*{shortdate} [Rebut|Transferència|SPEI|Virement|Prélèvement|Compra|Pago] {item} {amount} {amount}
[Saldo final|Nouveau solde|Saldo disponible|Saldo actual] {amount}"""),
    ("es", "EXTRACTO DE TARJETA|Extracto de su tarjeta|Liquidación de tarjeta|Movimientos de tarjeta|Resumen de tarjeta de crédito", """
[{company}|Banco {city}]
[Titular|Titular de la tarjeta|Cliente]: {person} [Tarjeta|Nº tarjeta|Contrato]: **** **** **** {few}
[Periodo|Periodo de liquidación|Fecha de liquidación|Desde]: {date} {date}
[Límite de crédito|Crédito disponible|Cuenta de cargo {iban}|Saldo anterior] {amount}
[Fecha|Fecha operación] [Comercio|Establecimiento|Concepto] [Localidad|Importe en divisa|] Importe
*{shortdate} {item} {city} {amount}
*{shortdate} {company} {amount}
[Total operaciones|Total compras|Importe a cargar|Total a pagar|Saldo dispuesto|Nuevo saldo] {amount}
[Intereses|Comisiones|TAE {pct}|Cuota tarjeta|Modalidad de pago: fin de mes] {amount}"""),
)  # fmt: skip
