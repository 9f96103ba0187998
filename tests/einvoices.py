"""Electronic invoices for tests, in three standards; all say the same."""

from __future__ import annotations

SAID = {
    "invoice_number": "F-2026-0042",
    "date": "2026-03-12",
    "due_date": "2026-04-11",
    "vendor_name": "Suministros Vega, S.L.",
    "vendor_tax_id": "B16596447",
    "customer_name": "Gestoría Puerta Nueva, S.A.",
    "customer_tax_id": "A58818501",
    "currency": "EUR",
    "net_amount": "100.00",
    "tax_amount": "21.00",
    "total_amount": "121.00",
    "iban": "ES9121000418450200051332",
}

_CII = "urn:un:unece:uncefact:data:standard"
FACTUR_X = f"""<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="{_CII}:CrossIndustryInvoice:100"
 xmlns:ram="{_CII}:ReusableAggregateBusinessInformationEntity:100"
 xmlns:udt="{_CII}:UnqualifiedDataType:100">
 <rsm:ExchangedDocumentContext><ram:GuidelineSpecifiedDocumentContextParameter>
  <ram:ID>urn:factur-x.eu:1p0:basicwl</ram:ID>
 </ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>
 <rsm:ExchangedDocument><ram:ID>F-2026-0042</ram:ID><ram:TypeCode>380</ram:TypeCode>
  <ram:IssueDateTime><udt:DateTimeString format="102">20260312</udt:DateTimeString></ram:IssueDateTime>
 </rsm:ExchangedDocument>
 <rsm:SupplyChainTradeTransaction>
  <ram:ApplicableHeaderTradeAgreement>
   <ram:SellerTradeParty><ram:Name>Suministros Vega, S.L.</ram:Name>
    <ram:PostalTradeAddress><ram:CountryID>ES</ram:CountryID></ram:PostalTradeAddress>
    <ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">ESB16596447</ram:ID></ram:SpecifiedTaxRegistration>
   </ram:SellerTradeParty>
   <ram:BuyerTradeParty><ram:Name>Gestoría Puerta Nueva, S.A.</ram:Name>
    <ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">ESA58818501</ram:ID></ram:SpecifiedTaxRegistration>
   </ram:BuyerTradeParty>
  </ram:ApplicableHeaderTradeAgreement>
  <ram:ApplicableHeaderTradeDelivery/>
  <ram:ApplicableHeaderTradeSettlement>
   <ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
   <ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>58</ram:TypeCode>
    <ram:PayeePartyCreditorFinancialAccount><ram:IBANID>ES9121000418450200051332</ram:IBANID>
    </ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans>
   <ram:ApplicableTradeTax><ram:CalculatedAmount>21.00</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>
    <ram:BasisAmount>100.00</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode>
    <ram:RateApplicablePercent>21.00</ram:RateApplicablePercent></ram:ApplicableTradeTax>
   <ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime>
    <udt:DateTimeString format="102">20260411</udt:DateTimeString></ram:DueDateDateTime>
   </ram:SpecifiedTradePaymentTerms>
   <ram:SpecifiedTradeSettlementHeaderMonetarySummation>
    <ram:LineTotalAmount>100.00</ram:LineTotalAmount>
    <ram:TaxBasisTotalAmount>100.00</ram:TaxBasisTotalAmount>
    <ram:TaxTotalAmount currencyID="EUR">21.00</ram:TaxTotalAmount>
    <ram:GrandTotalAmount>121.0</ram:GrandTotalAmount><ram:DuePayableAmount>121.00</ram:DuePayableAmount>
   </ram:SpecifiedTradeSettlementHeaderMonetarySummation>
  </ram:ApplicableHeaderTradeSettlement>
 </rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>
"""

_FACTURAE_INVOICE = """<Invoice>
 <InvoiceHeader><InvoiceNumber>{number}</InvoiceNumber><InvoiceSeriesCode>F-</InvoiceSeriesCode>
  <InvoiceDocumentType>{kind}</InvoiceDocumentType><InvoiceClass>OO</InvoiceClass></InvoiceHeader>
 <InvoiceIssueData><IssueDate>2026-03-12</IssueDate><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
 </InvoiceIssueData>
 <InvoiceTotals><TotalGrossAmount>100.00</TotalGrossAmount>
  <TotalGrossAmountBeforeTaxes>100.00</TotalGrossAmountBeforeTaxes><TotalTaxOutputs>21.00</TotalTaxOutputs>
  <TotalTaxesWithheld>0.00</TotalTaxesWithheld><InvoiceTotal>{total}</InvoiceTotal></InvoiceTotals>
 <Items><InvoiceLine><ItemDescription>Papel A4</ItemDescription><Quantity>10.0</Quantity>
  <GrossAmount>100.00</GrossAmount></InvoiceLine></Items>
 <PaymentDetails><Installment><InstallmentDueDate>2026-04-11</InstallmentDueDate>
  <AccountToBeCredited><IBAN>ES9121000418450200051332</IBAN></AccountToBeCredited></Installment>
 </PaymentDetails></Invoice>"""


def facturae(*numbers: str, total: str = "121.00", kind: str = "FC") -> str:
    """A batch with one invoice for each number, and a signature."""
    bodies = [_FACTURAE_INVOICE.format(number=number, total=total, kind=kind) for number in numbers]
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fe:Facturae xmlns:fe="http://www.facturae.gob.es/formato/Versiones/Facturaev3_2_2.xml"
 xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
<FileHeader><SchemaVersion>3.2.2</SchemaVersion></FileHeader>
<Parties><SellerParty><TaxIdentification><PersonTypeCode>J</PersonTypeCode>
 <TaxIdentificationNumber>B16596447</TaxIdentificationNumber></TaxIdentification>
 <LegalEntity><CorporateName>Suministros Vega, S.L.</CorporateName></LegalEntity></SellerParty>
<BuyerParty><TaxIdentification><TaxIdentificationNumber>A58818501</TaxIdentificationNumber>
 </TaxIdentification><LegalEntity><CorporateName>Gestoría Puerta Nueva, S.A.</CorporateName></LegalEntity>
</BuyerParty></Parties>
<Invoices>{"".join(bodies)}</Invoices>
<ds:Signature><ds:SignatureValue>{"QUJD" * 400}</ds:SignatureValue></ds:Signature>
</fe:Facturae>
"""


FACTURAE = facturae("2026-0042")

_UBL = "urn:oasis:names:specification:ubl:schema:xsd"
UBL = f"""<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="{_UBL}:Invoice-2" xmlns:cac="{_UBL}:CommonAggregateComponents-2"
 xmlns:cbc="{_UBL}:CommonBasicComponents-2">
 <cbc:ID>F-2026-0042</cbc:ID><cbc:IssueDate>2026-03-12</cbc:IssueDate><cbc:DueDate>2026-04-11</cbc:DueDate>
 <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
 <cac:AccountingSupplierParty><cac:Party>
  <cac:PartyTaxScheme><cbc:CompanyID>B16596447</cbc:CompanyID></cac:PartyTaxScheme>
  <cac:PartyLegalEntity><cbc:RegistrationName>Suministros Vega, S.L.</cbc:RegistrationName>
  </cac:PartyLegalEntity></cac:Party></cac:AccountingSupplierParty>
 <cac:AccountingCustomerParty><cac:Party>
  <cac:PartyName><cbc:Name>Gestoría Puerta Nueva, S.A.</cbc:Name></cac:PartyName>
  <cac:PartyTaxScheme><cbc:CompanyID>A58818501</cbc:CompanyID></cac:PartyTaxScheme>
 </cac:Party></cac:AccountingCustomerParty>
 <cac:PaymentMeans><cac:PayeeFinancialAccount><cbc:ID>ES91 2100 0418 4502 0005 1332</cbc:ID>
 </cac:PayeeFinancialAccount></cac:PaymentMeans>
 <cac:TaxTotal><cbc:TaxAmount currencyID="EUR">21.00</cbc:TaxAmount></cac:TaxTotal>
 <cac:LegalMonetaryTotal><cbc:TaxExclusiveAmount currencyID="EUR">100.00</cbc:TaxExclusiveAmount>
  <cbc:TaxInclusiveAmount currencyID="EUR">121.00</cbc:TaxInclusiveAmount>
  <cbc:PayableAmount currencyID="EUR">121.00</cbc:PayableAmount></cac:LegalMonetaryTotal>
 <cac:InvoiceLine><cbc:InvoicedQuantity>10</cbc:InvoicedQuantity>
  <cbc:LineExtensionAmount currencyID="EUR">100.00</cbc:LineExtensionAmount>
  <cac:Item><cbc:Name>Papel A4</cbc:Name></cac:Item></cac:InvoiceLine>
</Invoice>
"""
