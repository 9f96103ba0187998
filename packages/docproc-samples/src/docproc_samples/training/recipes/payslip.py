# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of payslips. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

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
