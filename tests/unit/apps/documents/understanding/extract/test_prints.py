"""Documents as real ones are printed, none of which the scorer has learnt from."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.apps.documents.quality import matching
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc_samples.training.prints import Print, prints

UNSEEN = list(prints(Path(__file__).parent / "prints"))
# Which of the shop's name and its company's is wanted, nobody can say from the print.
AMBIGUOUS = {("bar", "vendor_name")}


@pytest.mark.parametrize("document", UNSEEN, ids=lambda document: document.name)
def test_fields_of_a_layout_nobody_drew(document: Print) -> None:
    specs = [FieldSpec(name, matching.type_of(name, [value])) for name, value in document.fields.items()]
    found = extract(document.doc_type, specs, [document.page])
    wrong = {}
    for spec in specs:
        value, truth = found[spec.name], document.fields[spec.name]
        if (document.name, spec.name) not in AMBIGUOUS and (
            value is None or not matching.same(matching.kind_of(spec.name, spec.type), truth, value.value)
        ):
            wrong[spec.name] = (truth, value and value.value)
    assert not wrong
