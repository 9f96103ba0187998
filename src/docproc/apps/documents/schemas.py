"""What documents add to workflow files: the fields of each type of document, and when to answer early."""

from __future__ import annotations

import re
from datetime import date
from decimal import InvalidOperation
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, field_validator, model_validator
from pydantic_core import from_json

from docproc.apps.documents.understanding import page_evidence, validate
from docproc.apps.documents.understanding.extract import field_rules
from docproc.apps.documents.understanding.extract.checks import comparable
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec
from docproc.apps.documents.understanding.extract.type_hooks import HOOKS
from docproc.apps.documents.understanding.types import loader
from docproc.apps.documents.understanding.types.document_type import DocumentType, Evidence
from docproc.engine.workflow.definition import Name, Strict, Workflow, error_at, refuse_twice

FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
# What is printed beside a value: a list, or lists by language for whoever reads the file; all of them count.
Labels = tuple[str, ...] | dict[str, tuple[str, ...]]


def _all_labels(labels: Labels) -> tuple[str, ...]:
    if isinstance(labels, dict):
        return tuple(dict.fromkeys(label for of_one in labels.values() for label in of_one))
    return labels


class SchemaColumn(Strict):
    """A column of a table field."""

    name: FieldName
    type: Literal["string", "decimal", "date"] = "string"
    labels: Labels = ()


class SchemaField(Strict):
    """A field of a document type: how it is found, and what a right value looks like."""

    name: FieldName
    type: Literal["string", "integer", "decimal", "date", "table"] = "string"
    required: bool = False
    # False: what is not sure is left out instead of asking a person.
    review: bool = True
    # Known fields need none.
    labels: Labels = ()
    validators: tuple[str, ...] = ()
    pattern: str | None = None
    one_of: tuple[str, ...] = ()
    # As values are written, so that nothing is lost to floating point: `1250.00`, `2026-03-12`.
    min: str | None = None
    max: str | None = None
    columns: tuple[SchemaColumn, ...] = ()

    @field_validator("min", "max", mode="before")
    @classmethod
    def _as_written(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float | date) and not isinstance(value, bool) else value

    @field_validator("columns")
    @classmethod
    def _columns_once_each(cls, value: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
        refuse_twice("columns", [column.name for column in value])
        return value

    @model_validator(mode="after")
    def _checks_fit_the_type(self) -> SchemaField:
        if self.required and not self.review:
            raise ValueError("a field that is `required` cannot have `review: false`")
        if (self.type == "table") != bool(self.columns):
            raise ValueError("a field of type `table` has `columns`, and only such a field")
        if (self.pattern or self.one_of) and self.type != "string":
            raise ValueError("`pattern` and `one_of` are for fields of type `string`")
        if (self.min or self.max) and self.type not in ("integer", "decimal", "date"):
            raise ValueError("`min` and `max` are for fields of type `integer`, `decimal` or `date`")
        self._check_validators()
        self._check_values()
        return self

    def _check_validators(self) -> None:
        for name in self.validators:
            if name not in validate.KINDS:
                known = ", ".join(sorted(validate.KINDS))
                raise ValueError(f"no validator is called {name!r}; there are {known}")
            wanted = validate.TYPES.get(name, "string")
            if wanted != ("decimal" if self.type == "integer" else self.type):
                raise ValueError(f"the validator {name!r} is for fields of type `{wanted}`")

    def _check_values(self) -> None:
        try:
            re.compile(self.pattern or "")
        except re.error as error:
            raise ValueError(f"`pattern` is not a regular expression: {error}") from error
        for bound in filter(None, (self.min, self.max)):
            try:
                comparable(self.type, bound)
            except (InvalidOperation, ValueError):
                raise ValueError(f"{bound!r} is not a {self.type}, such as `10.50` or `2026-03-12`") from None

    @property
    def spec(self) -> FieldSpec:
        """As the extraction asks for it."""
        columns = tuple(ColumnSpec(one.name, one.type, _all_labels(one.labels)) for one in self.columns)
        return FieldSpec(
            self.name, self.type, self.required, _all_labels(self.labels),
            self.validators, self.pattern, self.one_of, self.min, self.max, columns,
        )  # fmt: skip


class ExtractionSchema(Strict):
    """The fields of a document type, and what must be true between them."""

    fields: tuple[SchemaField, ...]
    # Phrases that tell the type; the built-in types need none.
    keywords: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    # What is known of the type beyond that, in the keys of the shipped types' files.
    type: DocumentType | None = None

    @field_validator("fields")
    @classmethod
    def _once_each(cls, value: tuple[SchemaField, ...]) -> tuple[SchemaField, ...]:
        refuse_twice("fields", [field.name for field in value])
        return value

    @model_validator(mode="after")
    def _readable_rules(self) -> ExtractionSchema:
        types = {field.name: str(field.type) for field in self.fields}
        columns = {
            field.name: {column.name: str(column.type) for column in field.columns}
            for field in self.fields
            if field.columns
        }
        for index, rule in enumerate(self.rules):
            try:
                field_rules.check(rule, types, columns)
            except ValueError as error:
                raise error_at(("rules", index), rule, str(error)) from error
        return self

    @model_validator(mode="after")
    def _whole_type(self) -> ExtractionSchema:
        if self.type is not None:
            known = self.known
            if self.type.hook and self.type.hook not in HOOKS:
                raise error_at(("type", "hook"), self.type.hook, f"there are {', '.join(sorted(HOOKS))}")
            named = {*(field.name for field in self.fields), *(known.fields if known else ())}
            if lacking := [name for name in self.type.sum if name not in named]:
                raise error_at(("type", "sum"), lacking, f"no field is called {', '.join(lacking)}")
        return self

    @property
    def known(self) -> DocumentType | None:
        """The type as the understanding takes it; None where the workflow adds nothing to what is known."""
        return loader.complete(self.type, loader.shipped()) if self.type else None

    @property
    def told_by(self) -> tuple[str, ...] | Evidence:
        """What tells pages of this type; empty for a type that needs nothing more."""
        if self.type is None or self.type.evidence == Evidence():
            return self.keywords
        return self.type.evidence.with_words(self.keywords, page_evidence.KEYWORD)


class EarlyAnswer(Strict):
    """Answer before everything is there: when each of these types has a document without doubts."""

    types: tuple[Name, ...] = Field(min_length=1)

    @field_validator("types")
    @classmethod
    def _once_each(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        refuse_twice("types", value)
        return value


# The sections, by their keys in the file.
EXTRACTION_SCHEMAS, EARLY_ANSWER = "extraction_schemas", "early_answer"
ExtractionSchemas = dict[str, ExtractionSchema]


def schemas_of(workflow: Workflow) -> ExtractionSchemas:
    """The fields of each type of document; empty where the flow extracts nothing."""
    return workflow.section(EXTRACTION_SCHEMAS) or {}


def types_of(workflow: Workflow) -> dict[str, DocumentType]:
    """What the flow adds to the types that are known."""
    return {name: schema.known for name, schema in schemas_of(workflow).items() if schema.known}


def early_answer_of(workflow: Workflow) -> EarlyAnswer | None:
    section: EarlyAnswer | None = workflow.section(EARLY_ANSWER)
    return section


def parse_schemas(definition: str) -> ExtractionSchemas:
    """The same, from a stored version of a workflow."""
    said = from_json(definition).get(EXTRACTION_SCHEMAS) or {}
    return TypeAdapter(ExtractionSchemas).validate_python(said)


def check_early_types(workflow: Workflow) -> None:
    """Each type that an early answer waits for must be one the flow extracts."""
    early, schemas = early_answer_of(workflow), schemas_of(workflow)
    for index, name in enumerate(early.types if early else ()):
        if name not in schemas:
            known = ", ".join(schemas) or "none"
            problem = f"no extraction schema is called {name!r}; there are {known}"
            raise error_at((EARLY_ANSWER, "types", index), name, problem)
