"""The prose of contracts: what each kind agrees on, in both languages."""

from __future__ import annotations

TITLES = {
    "es": {
        "rental": "CONTRATO DE ARRENDAMIENTO DE VIVIENDA",
        "services": "CONTRATO DE PRESTACIÓN DE SERVICIOS",
        "employment": "CONTRATO DE TRABAJO INDEFINIDO",
    },
    "en": {
        "rental": "RESIDENTIAL TENANCY AGREEMENT",
        "services": "SERVICES AGREEMENT",
        "employment": "CONTRACT OF EMPLOYMENT",
    },
}
ROLES = {
    "es": {
        "rental": ("LA PARTE ARRENDADORA", "LA PARTE ARRENDATARIA"),
        "services": ("EL CLIENTE", "EL PRESTADOR"),
        "employment": ("LA EMPRESA", "LA PERSONA TRABAJADORA"),
    },
    "en": {
        "rental": ("the Landlord", "the Tenant"),
        "services": ("the Client", "the Supplier"),
        "employment": ("the Employer", "the Employee"),
    },
}
RECITALS = {
    "es": {
        "rental": (
            "Que la primera es propietaria de la vivienda situada en {place}, libre de cargas y "
            "ocupantes, y que la segunda desea tomarla en arriendo para que le sirva de residencia "
            "habitual."
        ),
        "services": (
            "Que la primera necesita apoyo externo para su actividad y que la segunda cuenta con los "
            "medios y la experiencia precisos para prestarlo por su cuenta y riesgo."
        ),
        "employment": (
            "Que la empresa tiene una vacante de {job} en su centro de {place} y que ambas partes quieren "
            "regular por escrito la relación laboral que ahora comienza."
        ),
    },
    "en": {
        "rental": (
            "The first party owns the dwelling at {place}, which is vacant, and the second party wishes "
            "to live there as a main home."
        ),
        "services": (
            "The first party needs outside help for its business, and the second party has the skill and "
            "the means to give it on its own account."
        ),
        "employment": (
            "The first party wishes to fill the post of {job} at {place}, and both parties want the terms "
            "of the employment to be set down in writing."
        ),
    },
}  # fmt: skip

SPANISH = {
    "rental": (
        (
            "Objeto",
            "Se cede en arrendamiento la vivienda descrita, con sus muebles, instalaciones y una "
            "llave de cada cerradura. La parte arrendataria declara haberla visitado y recibirla en "
            "buen estado de uso. No podrá dedicarla a fin distinto del de vivienda, ni cederla o "
            "subarrendarla sin permiso escrito de la propiedad.",
        ),
        (
            "Duración",
            "El plazo pactado es de un año a contar desde la fecha de este documento. Llegado su "
            "término, se prorrogará por periodos iguales hasta cinco años, salvo que quien arrienda "
            "comunique con treinta días de antelación su voluntad de no seguir.",
        ),
        (
            "Renta",
            "La renta mensual asciende a {amount}, pagadera dentro de los siete primeros días de cada "
            "mes en la cuenta {iban}. El recibo bancario servirá de justificante. El retraso en dos "
            "mensualidades permitirá pedir la resolución del contrato y el desalojo.",
        ),
        (
            "Actualización",
            "La renta se revisará cada año según el índice oficial que esté vigente. La revisión se "
            "comunicará por escrito, con indicación del porcentaje aplicado, y se exigirá desde el "
            "mes siguiente.",
        ),
        (
            "Fianza",
            "En este acto se entrega una mensualidad como fianza, que quedará depositada en el "
            "organismo de la comunidad autónoma y se devolverá al final, descontados los desperfectos "
            "que no sean del uso normal.",
        ),
        (
            "Gastos y suministros",
            "Los consumos de agua, luz, gas y comunicaciones corren a cargo de quien habita la "
            "vivienda. La propiedad paga la comunidad y el impuesto sobre bienes inmuebles.",
        ),
        (
            "Conservación y obras",
            "La propiedad hará las reparaciones necesarias para que la vivienda siga siendo "
            "habitable. Las pequeñas, que nacen del desgaste diario, las asume la parte arrendataria. "
            "Ninguna obra que cambie la distribución podrá hacerse sin acuerdo escrito.",
        ),
    ),
    "services": (
        (
            "Objeto",
            "El prestador se obliga a realizar los trabajos de asesoramiento, puesta en marcha y "
            "seguimiento que se describen en el anexo, con la diligencia de un buen profesional y con "
            "personal propio. Cualquier ampliación se pactará por escrito antes de empezarla.",
        ),
        (
            "Precio",
            "El cliente abonará {amount} al mes, más los impuestos que correspondan, mediante "
            "transferencia a la cuenta {iban}. Las facturas se emitirán el último día hábil de cada "
            "mes y vencerán a los treinta días.",
        ),
        (
            "Duración",
            "El contrato tendrá una vigencia de doce meses desde su firma. Se renovará tácitamente "
            "por periodos de seis meses si ninguna de las partes avisa de lo contrario con un mes de "
            "antelación.",
        ),
        (
            "Medios y personal",
            "El prestador organiza su trabajo con autonomía y responde de las obligaciones laborales "
            "y de seguridad social de su plantilla. Ninguna relación de empleo nace entre el cliente "
            "y esas personas.",
        ),
        (
            "Niveles de servicio",
            "Las incidencias graves se atenderán en cuatro horas y las demás en dos días laborables. "
            "El incumplimiento repetido dará derecho a una reducción del diez por ciento de la cuota "
            "del mes afectado.",
        ),
        (
            "Propiedad de los resultados",
            "Los informes, programas y materiales creados para el cliente serán suyos una vez "
            "pagados. El prestador conserva los métodos y herramientas que ya tenía antes.",
        ),
        (
            "Responsabilidad",
            "La responsabilidad total por daños directos queda limitada al importe de un año de "
            "cuotas, salvo dolo o culpa grave. Nadie responde por causas de fuerza mayor.",
        ),
    ),
    "employment": (
        (
            "Puesto",
            "La persona trabajadora prestará servicios como {job}, con la categoría que fija el "
            "convenio del sector, en el centro de trabajo indicado y bajo la dirección de la empresa.",
        ),
        (
            "Jornada",
            "La jornada será de cuarenta horas semanales, de lunes a viernes, con los descansos que "
            "marca la ley. El registro horario se llevará por medios electrónicos.",
        ),
        (
            "Duración y prueba",
            "El contrato es indefinido y comienza en la fecha de la firma. Se pacta un periodo de "
            "prueba de dos meses, durante el cual cualquiera de las partes podrá desistir sin "
            "preaviso.",
        ),
        (
            "Salario",
            "La retribución bruta mensual será de {amount}, distribuida en doce pagas con las "
            "extraordinarias prorrateadas, y se ingresará en la cuenta que la persona trabajadora "
            "designe antes del día cinco.",
        ),
        (
            "Vacaciones",
            "Corresponden treinta días naturales al año, que se disfrutarán de común acuerdo y con "
            "calendario conocido dos meses antes. No pueden sustituirse por dinero.",
        ),
        (
            "Trabajo a distancia",
            "Podrán realizarse hasta dos jornadas por semana desde el domicilio. La empresa "
            "facilitará el equipo informático y compensará los gastos según el acuerdo vigente.",
        ),
        (
            "Extinción",
            "El contrato terminará por las causas legales. En caso de baja voluntaria se avisará con "
            "quince días; el incumplimiento permitirá descontar el salario de los días que falten.",
        ),
    ),
}  # fmt: skip
SPANISH_COMMON = (
    (
        "Confidencialidad",
        "Ambas partes guardarán secreto sobre la información que conozcan a raíz de este contrato, "
        "también cuando haya terminado, y la usarán solo para cumplirlo.",
    ),
    (
        "Protección de datos",
        "Los datos personales se tratarán con la única finalidad de gestionar esta relación. Cada "
        "parte podrá ejercer sus derechos de acceso, rectificación y supresión por escrito dirigido a "
        "la otra.",
    ),
    (
        "Notificaciones",
        "Las comunicaciones se harán en los domicilios que figuran al principio, por un medio que "
        "deje constancia de su recepción. El cambio de domicilio se avisará en el plazo de diez días.",
    ),
    (
        "Ley y fuero",
        "Este contrato se rige por la ley española. Para lo que no pueda resolverse de buena fe, las "
        "partes se someten a los juzgados de {city}.",
    ),
)  # fmt: skip

ENGLISH = {
    "rental": (
        (
            "The property",
            "The Landlord lets the dwelling described above, with its fittings and one key for each "
            "lock. The Tenant has seen it and takes it in good order. It may be used as a private "
            "home only, and may not be sublet without written consent.",
        ),
        (
            "Term",
            "The tenancy runs for twelve months from the date of this agreement. After that it "
            "continues from month to month until either party gives one month's notice in writing.",
        ),
        (
            "Rent",
            "The rent is {amount} a month, payable in advance on the first working day to account "
            "{iban}. Rent more than fourteen days late carries interest at three per cent a year.",
        ),
        (
            "Deposit",
            "The Tenant pays one month's rent as a deposit. It is held by an approved scheme and "
            "returned within ten days of the end of the tenancy, less the cost of damage beyond fair "
            "wear.",
        ),
        (
            "Bills",
            "The Tenant pays for water, energy and communications used at the property. The Landlord "
            "pays for the insurance of the building and for service charges.",
        ),
        (
            "Repairs",
            "The Landlord keeps the structure, the heating and the supply of water and power in "
            "working order. The Tenant looks after the interior, reports defects promptly and lets "
            "workmen in after a day's notice.",
        ),
        (
            "Quiet enjoyment",
            "So long as the rent is paid and the terms are kept, the Tenant may live in the property "
            "without disturbance. The Landlord visits only by appointment, except in an emergency.",
        ),
    ),
    "services": (
        (
            "Services",
            "The Supplier carries out the advice, set-up and support described in the schedule with "
            "reasonable skill and care, using its own staff. Additional work is agreed in writing "
            "before it begins.",
        ),
        (
            "Fees",
            "The Client pays {amount} a month plus tax by transfer to account {iban}. Invoices are "
            "sent on the last working day of the month and fall due after thirty days.",
        ),
        (
            "Term",
            "This agreement lasts twelve months from the date of signature and is then renewed for "
            "six months at a time unless either party gives a month's notice.",
        ),
        (
            "Independence",
            "The Supplier organises its own work. Nothing in this agreement makes its staff employees "
            "or agents of the Client.",
        ),
        (
            "Service levels",
            "Serious faults are taken up within four hours, others within two working days. If this "
            "is missed repeatedly, the fee of the month concerned is reduced by ten per cent.",
        ),
        (
            "Ownership of results",
            "Reports, programs and materials made for the Client belong to the Client once paid for. "
            "The Supplier keeps the methods and tools that it had before.",
        ),
        (
            "Liability",
            "Liability for direct loss is limited to one year's fees, except for fraud and gross "
            "negligence. Neither party answers for events beyond its control.",
        ),
    ),
    "employment": (
        (
            "Position",
            "The Employee works as {job} at the place named above and reports to the head of the "
            "department. Duties may change within reason and after consultation.",
        ),
        (
            "Hours",
            "Normal hours are forty a week, Monday to Friday, with an unpaid break of an hour each "
            "day. Overtime needs approval and is paid or given back as time.",
        ),
        (
            "Start and probation",
            "The employment begins on the date of this contract and has no fixed end. The first three "
            "months are a trial, in which a week's notice is enough on either side.",
        ),
        (
            "Salary",
            "The gross salary is {amount} a month, paid on the last working day into an account of "
            "the Employee's choice and reviewed once a year.",
        ),
        (
            "Holiday",
            "The Employee has twenty-five days of paid holiday a year besides public holidays. Dates "
            "are agreed in advance; up to five days may be carried over.",
        ),
        (
            "Remote work",
            "Up to two days a week may be worked from home. The Employer provides the equipment, and "
            "the Employee keeps it and the data on it safe.",
        ),
        (
            "Notice",
            "After the trial, either party may end the employment with two months' notice in writing. "
            "Property of the Employer is returned on the last day.",
        ),
    ),
}  # fmt: skip
ENGLISH_COMMON = (
    (
        "Confidentiality",
        "Each party keeps what it learns of the other under this agreement to itself, also after it "
        "ends, and uses it for no other purpose.",
    ),
    (
        "Personal data",
        "Personal data are used only to carry out this agreement. Each party may ask the other in "
        "writing to show, correct or erase what it holds.",
    ),
    (
        "Notices",
        "Notices are sent to the addresses given at the beginning, in a way that proves delivery. A "
        "change of address is announced within ten days.",
    ),
    (
        "Law",
        "This agreement is governed by the law of the place where it is signed. The courts of {city} "
        "decide disputes that cannot be settled in good faith.",
    ),
)  # fmt: skip

CLAUSES = {
    kind: {"es": SPANISH[kind] + SPANISH_COMMON, "en": ENGLISH[kind] + ENGLISH_COMMON} for kind in SPANISH
}
ORDINALS = (
    "PRIMERA", "SEGUNDA", "TERCERA", "CUARTA", "QUINTA", "SEXTA", "SÉPTIMA", "OCTAVA", "NOVENA", "DÉCIMA",
    "UNDÉCIMA", "DUODÉCIMA",
)  # fmt: skip
