# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of statements of accounts and cards. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

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
    ("en", "Account summary|Checking summary|Your account at a glance|Primary checking|Statement of accounts|Savings summary|", """
[{company}|First Bank of {city}|{city} Credit Union] [Customer service|P.O. Box {few}] {phone}
[{person}|Account of {person}]
{street} {city}
[Primary account number|Account number|Member number|Account ending in]: {n}
[Statement period|Statement dates|From {date} through {date}|Period covered] {date} - {date}
[Beginning balance on {date}|Previous balance|Balance last statement] {amount}
[Deposits and other credits|Deposits and additions|Total deposits and other additions] {amount}
[Withdrawals and other debits|Checks paid|ATM and debit card subtractions|Electronic withdrawals|Other subtractions] -{amount}
[Ending balance on {date}|Current balance|Ending daily balance|Average ledger balance] {amount}
[Transaction history|Daily ledger balances|Deposits and other credits|Checks paid|Withdrawals and other debits]
*{shortdate} [DEPOSIT|MOBILE DEPOSIT|DIRECT DEP|PAYROLL PPD|WIRE IN] {item} {amount}
*{shortdate} [CHECKCARD|PURCHASE|ACH|CHECK {few}|BILL PAY|ZELLE TO|WITHDRAWAL] {item} -{amount}
[Interest paid this year|Annual percentage yield earned|Monthly service fee|Overdraft fees|Member FDIC] {amount}"""),
)  # fmt: skip
