"""Type files: in order, nothing twice, and mistakes are told with their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from docproc.apps.documents.components.extraction_jobs import Job, extract_all
from docproc.apps.documents.schemas import ExtractionSchema
from docproc.apps.documents.texts import names
from docproc.apps.documents.understanding.classify import classify
from docproc.apps.documents.understanding.extract.hits import vocabulary
from docproc.apps.documents.understanding.extract.labels import rules_of, sum_of
from docproc.apps.documents.understanding.extract.layout import layout
from docproc.apps.documents.understanding.extract.type_hooks import HOOKS, hook_of
from docproc.apps.documents.understanding.types import loader
from docproc.apps.documents.understanding.types.document_type import DocumentType
from docproc.apps.documents.understanding.words import FOLDER as WORDS
from docproc.errors import ConfigurationError
from docproc.reading.folding import fold
from docproc.reading.page import pack
from docproc.reading.plain_text import page_of
from docproc.texts import LANGUAGES

FILES = sorted([*loader.SHIPPED.glob("*.yaml"), *WORDS.glob("*.yaml")])
WEIGHTED = sorted(loader.SHIPPED.glob("*.yaml"))


def lists(content: Any, place: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every list of phrases with where it stands; a pattern is none."""
    if isinstance(content, list) and all(isinstance(one, str) for one in content):
        yield place, content
    elif isinstance(content, dict):
        for key, inner in content.items():
            yield from lists(inner, f"{place}/{key}")
    elif isinstance(content, list):
        for number, inner in enumerate(content):
            yield from lists(inner, f"{place}[{number}]")


def groups(content: Any, place: str = "") -> Iterator[tuple[str, dict[float, list[str]]]]:
    """Phrases by weight."""
    if isinstance(content, dict) and content and all(isinstance(key, float) for key in content):
        yield place, content
    elif isinstance(content, dict):
        for key, inner in content.items():
            yield from groups(inner, f"{place}/{key}")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_lists_are_sorted_and_hold_nothing_twice(path: Path) -> None:
    ordered = ("/sum", "/identity")  # their order means something
    found = [
        (place, phrases) for place, phrases in lists(read(path)) if not place.split("[")[0].endswith(ordered)
    ]
    assert found
    for place, phrases in found:
        assert phrases == sorted(set(phrases)), place


@pytest.mark.parametrize("path", WEIGHTED, ids=lambda path: path.name)
def test_a_phrase_has_one_weight_and_weights_fall(path: Path) -> None:
    for place, weights in groups(read(path)):
        phrases = [phrase for group in weights.values() for phrase in group]
        assert len(phrases) == len(set(phrases)), place
        assert list(weights) == sorted(weights, reverse=True), place


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_phrases_are_written_as_pages_are_searched(path: Path) -> None:
    for place, phrases in lists(read(path)):
        if not place.endswith("/sum"):
            assert [phrase for phrase in phrases if fold(phrase) != phrase or phrase != phrase.strip()] == []


@pytest.mark.parametrize("path", WEIGHTED, ids=lambda path: path.name)
def test_keys_of_fields_are_sorted(path: Path) -> None:
    fields = list(read(path).get("fields", {}))
    assert fields == sorted(fields)


def test_shipped_types_come_in_their_order() -> None:
    assert list(loader.shipped()) == [
        *("invoice", "receipt", "id_card", "payslip", "contract", "bank_statement", "other"),
    ]


@pytest.mark.parametrize("name", loader.shipped())
def test_shipped_types_have_a_name_in_each_language(name: str) -> None:
    assert set(loader.shipped()[name].name) == set(LANGUAGES)


def test_hooks_and_types_know_each_other() -> None:
    assert {one.hook for one in loader.shipped().values()} - {""} == set(HOOKS)
    toll = completed("like: contract")
    with loader.using({"toll": toll}):
        assert hook_of("toll") is HOOKS["contract"] and hook_of("tax form") is hook_of("other")


def test_a_receipt_is_like_an_invoice() -> None:
    invoice, receipt = rules_of("invoice"), rules_of("receipt")
    assert receipt["iban"] == invoice["iban"] and receipt["iban"].labels
    assert (receipt["date"].labels, receipt["date"].kind) == (invoice["date"].labels, "date")
    assert (receipt["date"].alone, invoice["date"].alone) == (2.2, 0.8)
    told = {phrase for _, phrases in receipt["total_amount"].labels for phrase in phrases}
    assert "grand total" in told and "total a devolver" not in told
    assert sum_of("receipt") == sum_of("invoice") == ("net_amount", "tax_amount", "total_amount")


def test_a_type_that_only_a_workflow_knows_has_no_rules() -> None:
    assert rules_of("policy") == {} and sum_of("policy") == ()


# --- a type of one's own


POLICY = """
name: {en: Policy, es: Póliza}
evidence: {titles: {4.0: [poliza de seguro]}}
sum: [net_premium, taxes, total_premium]
fields:
  net_premium: {kind: amount, labels: {3.0: [prima neta]}}
  account: {kind: iban}
"""


def completed(text: str) -> DocumentType:
    return loader.complete(DocumentType.model_validate(yaml.safe_load(text)), loader.shipped())


def test_added_types_stand_beside_the_shipped_ones() -> None:
    with loader.using({"policy": completed(POLICY), "toll": completed("like: receipt")}):
        assert list(loader.known()) == [*loader.shipped(), "policy", "toll"]
        assert sum_of("policy") == ("net_premium", "taxes", "total_premium")
        assert rules_of("policy")["account"].labels == rules_of("invoice")["iban"].labels
        assert rules_of("toll") == rules_of("receipt")
    added = {"policy": completed(POLICY)}
    assert names.type_name("es", "policy", added) == "Póliza" and names.type_name("es", "policy") == "policy"
    assert list(loader.known()) == list(loader.shipped())


def test_what_was_made_of_a_type_is_made_again_when_it_changed() -> None:
    for label in ("prima neta", "prima"):
        with loader.using({"policy": completed(POLICY.replace("prima neta", label))}):
            assert rules_of("policy")["net_premium"].labels == ((3.0, (label,)),)
            assert vocabulary("policy", ()).words.known >= {"prima"}
    (hits,) = vocabulary("policy", ()).hits(layout([page_of("Prima neta 1")]))
    assert hits == []


def test_a_workflow_adds_a_type_with_the_keys_of_a_shipped_one() -> None:
    content = {
        "type": yaml.safe_load(POLICY),
        "keywords": ["tomador"],
        "fields": [{"name": name, "type": "decimal"} for name in ("net_premium", "taxes", "total_premium")],
    }
    schema = ExtractionSchema.model_validate(content)
    assert schema.known == completed(POLICY)
    # As a workflow's version is stored.
    assert ExtractionSchema.model_validate_json(schema.model_dump_json()) == schema
    page = page_of("PÓLIZA DE SEGURO\nTomador: Ana\nPrima neta 100,00\nImpuestos 8,00\nPrima total 108,00")
    assert classify(page, {"policy": schema.told_by}).doc_type == "policy"
    weak = classify(page, {"policy": ("tomador",)}).scores["policy"]
    assert classify(page, {"policy": schema.told_by}).scores["policy"] > weak
    specs = [field.spec for field in schema.fields]
    job = Job("policy", specs, [pack(page)], known=schema.known)
    (found,) = extract_all([job])
    assert found["net_premium"] is not None and found["net_premium"].value == "100.00"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"like": "poem"}, "`like` names 'poem'"),
        ({"hook": "poem"}, "there are bank_statement, contract"),
        ({"sum": ["a", "b", "total"]}, "no field is called a, b"),
        ({"fields": {"x": {"labels": {3.0: ["a"]}}}}, "say of x what it is"),
    ],
)
def test_a_type_that_cannot_be_is_refused_in_its_workflow(content: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ExtractionSchema.model_validate({"fields": [{"name": "total"}], "type": content})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("feilds: {}", "feilds: Extra inputs"),
        ("fields: {x: {kind: sum}}", r"fields\.x\.kind: Input should be 'amount'"),
        ("fields: {x: {labels: {3.0: [a]}}}", "say of x what it is"),
        ("fields: {x: {kind: text, labels: {3.0: [a], 2.0: [a]}}}", "'a' stands there twice"),
        ("like: nothing", "`like` names 'nothing'"),
        ("sum: [a, b]", "name three amounts"),
        ("name: [", "cannot be read"),
    ],
)
def test_mistakes_are_told_with_file_and_place(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigurationError, match=rf"mine\.yaml.*{told}"):
        loader.read_types(tmp_path)
