# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of invoices and of their second pages. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

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

# Invoices of the neighbours, each in its language.
INVOICE_EUROPE: tuple[Recipe, ...] = (
    ("fr", "FACTURE|Facture n° {n}|FACTURE D'AVOIR|Votre facture|", """
{company}
[SIRET|SIREN] {n} [N° TVA|TVA intracommunautaire] FR{n}
{street} {city}
[Facturé à|Client|Adresse de facturation|Destinataire]: {person}
[Numéro de facture|Facture n°|N° de facture]: {n} [Date de facture|Date]: {date}
[Échéance|Date d'échéance|À payer avant le]: {date}
[Désignation|Description] [Quantité|Qté] [Prix unitaire HT|P.U.] [Montant HT|Total]
*{item} {few} {amount} {amount}
[Total HT|Montant HT|Sous-total] {amount}
[TVA|Montant TVA|TVA 20 %] {amount}
[Total TTC|Net à payer|Montant TTC] {amount}
[Conditions de règlement|Virement bancaire|En cas de retard de paiement une indemnité de 40 euros est due]: {iban}"""),
    ("de", "RECHNUNG|Rechnung Nr. {n}|Gutschrift|Ihre Rechnung|", """
{company}
[USt-IdNr.|USt-ID|Steuernummer]: {n}
{street} {city}
[Rechnung an|Kunde|Rechnungsempfänger]: {person} [Kundennummer|Kd.-Nr.]: {few}
[Rechnungsnummer|Rechnung Nr.]: {n} [Rechnungsdatum|Datum]: {date}
[Leistungszeitraum|Lieferdatum]: {date} [Fällig am|Zahlbar bis]: {date}
Pos. [Bezeichnung|Beschreibung] Menge Einzelpreis [Betrag|Gesamt]
*{few} {item} {few} {amount} {amount}
[Nettobetrag|Zwischensumme|Summe netto] {amount}
[MwSt. 19 %|zzgl. 19 % USt|Umsatzsteuer|Mehrwertsteuer 7 %] {amount}
[Gesamtbetrag|Rechnungsbetrag|Endbetrag|Gesamtsumme] {amount}
[Bankverbindung|Bitte überweisen Sie den Betrag auf folgendes Konto|Vielen Dank für Ihren Auftrag]: {iban}"""),
    ("it", "FATTURA|Fattura n. {n}|FATTURA DI CORTESIA|Parcella|Nota di credito|", """
{company}
[P.IVA|Partita IVA]: {n} [Codice fiscale|C.F.] {n}
{street} {city}
[Spett.le|Cliente|Destinatario|Intestatario]: {person}
[Fattura n.|Numero fattura]: {n} [Data|Data fattura|del]: {date}
[Scadenza|Data scadenza]: {date} [Codice destinatario|Pagamento: bonifico bancario]
Descrizione [Quantità|Q.tà] Prezzo [Importo|Totale]
*{item} {few} {amount} {amount}
[Imponibile|Totale imponibile] {amount}
[IVA 22 %|Totale IVA|Imposta] {amount}
[Totale fattura|Totale documento|Totale da pagare|Netto a pagare] {amount}
[Bonifico bancario|Coordinate bancarie]: {iban}"""),
    ("pt", "FATURA|Fatura n.º {n}|FATURA-RECIBO|Fatura simplificada n.º {n}|Nota de crédito|", """
{company}
[NIF|NIPC|Contribuinte]: {n}
{street} {city}
[Cliente|Exmo(s) Sr(s)|Adquirente]: {person} [NIF|Contribuinte]: {n}
[Fatura n.º|Número da fatura]: {n} [Data|Data de emissão|Data da fatura]: {date}
[Vencimento|Data de vencimento]: {date}
Descrição [Quantidade|Qtd.] Preço [Valor|Total]
*{item} {few} {amount} {amount}
[Base tributável|Total ilíquido|Incidência] {amount}
[IVA 23 %|Total IVA|Valor do IVA] {amount}
[Total a pagar|Total da fatura|Valor total] {amount}
[Processado por programa certificado|ATCUD: {n}|IBAN]: {iban}"""),
    ("nl", "FACTUUR|Factuur {n}|Creditnota|Uw factuur|", """
{company}
[KvK|BTW-nummer|BTW nr.]: {n}
{street} {city}
[Factuuradres|Klant|Factuur aan|T.a.v.]: {person}
[Factuurnummer|Factuur nr.]: {n} [Factuurdatum|Datum]: {date}
[Vervaldatum|Te betalen voor]: {date}
Omschrijving Aantal Prijs [Bedrag|Totaal]
*{item} {few} {amount} {amount}
[Subtotaal|Totaal excl. btw|Bedrag excl. btw] {amount}
[BTW 21 %|Totaal btw] {amount}
[Totaal te betalen|Totaal incl. btw|Totaalbedrag|Te betalen] {amount}
[Gelieve het bedrag over te maken op|Betaling binnen 14 dagen]: {iban}"""),
    ("ca", "FACTURA|Factura núm. {n}|Factura simplificada|", """
{company}
[NIF|CIF]: {cif}
{street} {city}
[Client|Dades del client]: {person} NIF: {nif}
[Núm. factura|Factura núm.]: {n} [Data|Data factura|Data d'emissió]: {date}
[Venciment|Data de venciment]: {date}
Descripció Quantitat Preu Import
*{item} {few} {amount} {amount}
[Base imposable|Total base imposable] {amount}
[IVA 21 %|Quota IVA] {amount}
[Total factura|Total a pagar|Import total] {amount}
[Forma de pagament|Transferència al compte]: {iban}"""),
    ("gl", "FACTURA|Factura nº {n}|", """
{company}
[NIF|CIF]: {cif}
{street} {city}
[Cliente|Datos do cliente]: {person} NIF: {nif}
[Nº da factura|Factura nº]: {n} [Data|Data da factura|Data de emisión]: {date}
[Vencemento|Data de vencemento]: {date}
Concepto Cantidade Prezo Importe
*{item} {few} {amount} {amount}
[Base impoñible] {amount}
[IVE 21 %|Cota IVE] {amount}
[Total da factura|Total a pagar|Importe total] {amount}
[Forma de pagamento|Transferencia á conta]: {iban}"""),
    ("eu", "FAKTURA|Faktura zenbakia {n}|", """
{company}
[IFZ|IFK]: {cif}
{street} {city}
[Bezeroa]: {person} [IFZ|NAN]: {nif}
[Faktura zenbakia|Fakturaren zenbakia]: {n} [Data|Fakturaren data]: {date}
[Epemuga|Ordaintzeko epea]: {date}
[Kontzeptua|Azalpena] Kopurua Prezioa Zenbatekoa
*{item} {few} {amount} {amount}
[Zerga oinarria|Zerga-oinarria] {amount}
[BEZ % 21|BEZ kuota] {amount}
[Guztira|Ordaintzeko guztira|Fakturaren guztira] {amount}
[Ordaintzeko modua|Transferentzia kontu honetara]: {iban}"""),
)  # fmt: skip
