"""WorkflowLoader: files found, checked, versioned and read again; every error says where and what to do."""

from __future__ import annotations

import os
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

from docproc.engine.component import BaseComponent, spec_of
from docproc.engine.transport import Topology
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import UnknownWorkflowError, WorkflowError
from docproc.registry import QUEUE_BINDINGS
from tests.unit.engine.workflow.flows import COMPONENTS, MODEL, TOPOLOGY, Unrun, UnrunJoin

SIMPLE = """\
    name: flow
    stages:
      - name: cut
        component: split
      - name: all
        component: gather
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workflows").mkdir()
    return tmp_path / "workflows"


@pytest.fixture
def loader(folder: Path, tmp_path: Path) -> WorkflowLoader:
    return WorkflowLoader(folder, COMPONENTS, TOPOLOGY, model=MODEL, packaged=[tmp_path / "packaged"])


def write(folder: Path, text: str, name: str = "flow.yaml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def refusal(loader: WorkflowLoader, text: str) -> WorkflowError:
    path = write(loader.directory, text)
    with pytest.raises(WorkflowError) as caught:
        loader.plan("flow")
    error = caught.value
    assert error.file == path
    assert error.line is not None
    assert error.remedy
    assert str(error).startswith(f"{path}:{error.line}: ")
    assert str(error).endswith(error.remedy)
    return error


# --- errors with file, line and remedy ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "said", "remedy"),
    [
        pytest.param(
            "name: flow\nstages:\n  - name: a\n   component: work\n",
            4, "not readable as YAML", "indentation", id="bad YAML",
        ),
        pytest.param(
            "name: flow\nstages:\n\t- name: a\n", 3, "not readable as YAML", "indentation", id="a tab"
        ),
        pytest.param(
            "name: flow\n---\nname: flow\n", 2, "not readable as YAML", "indentation", id="two documents"
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: !!python/object:os.system {}\n",
            4, "not readable as YAML", "", id="a python object",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    tiemout_seconds: 3\n",
            5, "stages.0.tiemout_seconds: unknown key", "options:", id="unknown key",
        ),
        pytest.param(
            "name: flow\nslas: {deadline_seconds: 3}\nstages: [{name: a, component: work}]\n",
            2, "slas: unknown key", "spelling", id="unknown key at the top",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    name: b\n",
            5, "'name' is written twice", "line 3", id="duplicated key",
        ),
        pytest.param(
            "name: flow\nstages: [{name: a, component: work}]\nname: flow\n",
            3, "'name' is written twice", "line 1", id="duplicated key at the top",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n  - name: b\n",
            5, "stages.1.component is missing", "Add component:", id="missing key",
        ),
        pytest.param("name: flow\n", 1, "stages is missing", "Add stages:", id="missing stages"),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    timeout_seconds: soon\n",
            5, "stages.0.timeout_seconds", "docs/reference/workflow.md", id="wrong type",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    confidence_threshold: 80\n",
            5, "confidence_threshold", "docs/", id="out of range",
        ),
        pytest.param("name: flow\nstages: all of them\n", 2, "stages", "docs/", id="stages are no list"),
        pytest.param("name: flow\nstages: []\n", 2, "stages", "docs/", id="no stages"),
        pytest.param("", 1, "the file", "docs/", id="empty file"),
        pytest.param("just text\n", 1, "the file", "docs/", id="no mapping"),
        pytest.param("- name: flow\n", 1, "the file", "docs/", id="a list"),
        pytest.param(
            "name: flow\non: x\nstages: [{name: a, component: work}]\n", 1, "", "", id="a key that is no text"
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    when: payload.x ==\n",
            5, "is not an expression", "docs/", id="unreadable condition",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n"
            "    retry:\n      errors:\n        TimeoutError: {}\n",
            7, "give either `delays_seconds", "docs/", id="senseless retry",
        ),
        pytest.param(
            "name: flow\nextraction_schemas:\n  invoice:\n    fields:\n      - {name: a}\n"
            "      - {name: b, type: money}\nstages: [{name: a, component: work}]\n",
            6, "extraction_schemas.invoice.fields.1.type", "docs/", id="unknown field type",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: wrok\n",
            4, "unknown component 'wrok'", "work", id="unknown component",
        ),
        pytest.param(
            "name: flow\nstages:\n  - {name: a, component: work}\n  - name: b\n    component: work\n"
            "    after: [a, nobody]\n",
            6, "'nobody', which does not exist", "a, b", id="unknown stage in after",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    after: b\n"
            "  - name: b\n    component: work\n",
            5, "form a cycle", "after:", id="cycle",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: cut\n    component: split\n  - name: a\n    component: work\n",
            6, "loose 'item' units", "collects 'item'", id="loose units",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n    routing_key: heavy\n",
            5, "does not lead to q.work", "routing_key: work", id="routing key to elsewhere",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: ask\n    backoffice_queue: task.none\n",
            5, "no back-office queue is bound to 'task.none'", "task.extraction", id="unknown queue",
        ),
        pytest.param(
            "name: flow\nstages:\n  - name: a\n    component: work\n  - component: work\n    name: a\n",
            6, "two stages are called 'a'", "Rename", id="two stages of one name",
        ),
        pytest.param(
            "name: flow\nstages: &loop\n  - *loop\n", 2, "nested too deeply", "alias", id="endless alias"
        ),
        pytest.param(
            "name: flow\noptions:\n  a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
            + "".join(f"  {b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefgh")),
            3, "too large", "alias", id="aliases of aliases",
        ),
        pytest.param(
            "description: x\nname: other\nstages: [{name: a, component: work}]\n",
            2, "called 'other' but its file 'flow.yaml'", "other.yaml", id="name and file differ",
        ),
    ],
)  # fmt: skip
def test_errors_say_file_line_and_remedy(
    loader: WorkflowLoader, text: str, line: int, said: str, remedy: str
) -> None:
    error = refusal(loader, text)
    assert error.line == line
    assert said in str(error)
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "content",
    [b"name: \xff\xfe", b"name: a\x00b", b"name: flow\ndescription: 2024-13-45\n", b"version: !!int x\n"],
    ids=["not UTF-8", "a null", "an impossible date", "an impossible number"],
)
def test_unreadable_file_is_a_workflow_error_with_a_remedy(
    loader: WorkflowLoader, folder: Path, content: bytes
) -> None:
    (folder / "flow.yaml").write_bytes(content)
    with pytest.raises(WorkflowError, match="cannot be read") as caught:
        loader.plan("flow")
    assert caught.value.file == folder / "flow.yaml"
    assert caught.value.remedy


def test_error_keeps_its_cause(loader: WorkflowLoader) -> None:
    assert refusal(loader, "name: [").__cause__ is not None
    assert refusal(loader, "name: flow\n").__cause__ is not None


# --- finding files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_dropping_a_file_into_the_folder_is_enough(loader: WorkflowLoader, folder: Path, suffix: str) -> None:
    with pytest.raises(UnknownWorkflowError):
        loader.plan("flow")
    write(folder, SIMPLE, f"flow{suffix}")
    assert list(loader.plan("flow").steps) == ["cut", "all"]
    assert loader.names() == ["flow"]


def test_unknown_workflow_says_which_are_known_and_where_to_add_it(
    loader: WorkflowLoader, folder: Path
) -> None:
    write(folder, SIMPLE)
    with pytest.raises(UnknownWorkflowError) as caught:
        loader.plan("hipotecas")
    assert "'hipotecas'" in str(caught.value)
    assert "Known workflows: flow." in caught.value.remedy
    assert f"hipotecas.yaml to {folder}" in caught.value.remedy


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "../../x",
        "/etc/passwd",
        "..",
        ".",
        "",
        ".hidden",
        "sub/flow",
        "sub\\flow",
        "flow\x00",
        "flow\n",
        "a" * 300,
        "flów",
        "~root",
    ],
)
def test_names_are_not_paths(loader: WorkflowLoader, folder: Path, name: str) -> None:
    text = SIMPLE.replace("name: flow", "name: secret")
    write(folder.parent, text, "secret.yaml")
    (folder / "sub").mkdir()
    write(folder, SIMPLE, "sub/flow.yaml")
    write(folder, SIMPLE, ".hidden.yaml")
    write(folder, SIMPLE)
    with pytest.raises(UnknownWorkflowError) as caught:
        loader.plan(name)
    assert "Add" not in caught.value.remedy
    assert len(str(caught.value)) < 300


def test_names_lists_only_workflow_files(loader: WorkflowLoader, folder: Path) -> None:
    for name in ("b.yaml", "a.yml", "README.md", "c.yaml.bak", "d.yxml"):
        write(folder, SIMPLE, name)
    assert loader.names() == ["a", "b"]


def test_missing_folder_means_no_workflows(tmp_path: Path) -> None:
    loader = WorkflowLoader(tmp_path / "nowhere", COMPONENTS, TOPOLOGY)
    assert loader.names() == []
    with pytest.raises(UnknownWorkflowError, match="none yet"):
        loader.plan("flow")


def test_packaged_workflow_serves_until_the_folder_has_one_of_its_name(
    loader: WorkflowLoader, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "packaged").mkdir()
    write(tmp_path / "packaged", SIMPLE + "    description: packaged\n")
    assert loader.load("flow").description == "packaged"
    assert loader.names() == ["flow"]
    write(folder, SIMPLE + "    description: mine\n")
    assert loader.load("flow").description == "mine"
    assert loader.names() == ["flow"]


# --- changes --------------------------------------------------------------------------------------------


def test_unchanged_file_is_compiled_once(loader: WorkflowLoader, folder: Path) -> None:
    write(folder, SIMPLE)
    assert loader.plan("flow") is loader.plan("flow")


def test_changed_file_is_picked_up_without_a_restart(loader: WorkflowLoader, folder: Path) -> None:
    write(folder, SIMPLE)
    before = loader.plan("flow")
    write(folder, SIMPLE + "    description: changed\n")
    after = loader.plan("flow")
    assert after.workflow.description == "changed"
    assert after.version != before.version


def test_change_of_equal_length_is_seen_by_its_time(loader: WorkflowLoader, folder: Path) -> None:
    path = write(folder, SIMPLE + "    description: one\n")
    loader.plan("flow")
    seen_at = path.stat().st_mtime_ns
    write(folder, SIMPLE + "    description: two\n")
    os.utime(path, ns=(seen_at + 1, seen_at + 1))
    assert loader.load("flow").description == "two"


def test_replaced_file_is_seen_even_with_an_old_time(loader: WorkflowLoader, folder: Path) -> None:
    path = write(folder, SIMPLE + "    description: one\n")
    loader.plan("flow")
    times = path.stat()
    other = write(folder, SIMPLE + "    description: two\n", "other.tmp")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    assert loader.load("flow").description == "two"


def test_broken_change_is_refused_and_its_correction_accepted(loader: WorkflowLoader, folder: Path) -> None:
    write(folder, SIMPLE)
    before = loader.plan("flow")
    write(folder, "name: flow\n")
    for _ in range(2):
        with pytest.raises(WorkflowError, match="stages is missing"):
            loader.plan("flow")
    write(folder, SIMPLE)
    assert loader.plan("flow").version == before.version


def test_removed_file_is_unknown_at_once(loader: WorkflowLoader, folder: Path) -> None:
    path = write(folder, SIMPLE)
    loader.plan("flow")
    path.unlink()
    with pytest.raises(UnknownWorkflowError):
        loader.plan("flow")


@pytest.mark.parametrize(
    "same",
    [
        "# a comment\n" + textwrap.dedent(SIMPLE),
        textwrap.dedent(SIMPLE).replace("\n", "\r\n"),
        textwrap.dedent(SIMPLE).replace("component: split", "component:   split  # the first"),
        "\ufeff" + textwrap.dedent(SIMPLE),
        "name: flow\nstages: [{name: cut, component: split}, {component: gather, name: all}]\n",
        "stages:\n\n- {name: 'cut', component: \"split\"}\n- {name: all, component: gather}\n\n\nname: flow",
        "name: flow\ndescription: ''\nversion: 1\nstages:\n"
        "  - {name: cut, component: split, parallel: false}\n  - {name: all, component: gather}\n",
    ],
    ids=["comment", "line ends", "spaces", "byte order mark", "flow style", "order of keys", "defaults"],
)
def test_version_does_not_change_with_how_it_is_written(
    loader: WorkflowLoader, folder: Path, same: str
) -> None:
    write(folder, SIMPLE)
    before = loader.plan("flow").version
    (folder / "flow.yaml").write_bytes(same.encode())
    assert loader.plan("flow").version == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: cut", "name: chop"),
        ("component: split", "component: stream_split"),
        ("component: split", "component: split\n        timeout_seconds: 9"),
        ("component: split", "component: split\n        options: {dpi: 300}"),
    ],
)
def test_version_changes_with_the_content(loader: WorkflowLoader, folder: Path, old: str, new: str) -> None:
    write(folder, SIMPLE)
    before = loader.plan("flow").version
    write(folder, SIMPLE.replace(old, new))
    assert loader.plan("flow").version != before


def test_anchors_and_merge_keys_may_be_used(loader: WorkflowLoader, folder: Path) -> None:
    write(
        folder,
        """
        name: flow
        stages:
          - &first
            name: a
            component: work
            retry: &patient {attempts: 9, delay_seconds: 5}
          - <<: *first
            name: b
          - {name: c, component: heavy, retry: *patient}
        """,
    )
    workflow = loader.load("flow")
    assert [stage.component for stage in workflow.stages] == ["work", "work", "heavy"]
    assert [stage.retry.attempts for stage in workflow.stages] == [9, 9, 9]


def test_file_outside_the_folder_can_be_checked_by_path(loader: WorkflowLoader, tmp_path: Path) -> None:
    path = write(tmp_path, SIMPLE)
    assert list(loader.compile(path).steps) == ["cut", "all"]
    assert loader.names() == []


# --- the specified questions, over the specified workflow -----------------------------------------------


class Splitter(Unrun):
    component_name = "splitter"
    takes = "request"
    gives = "page"


class Ocr(Unrun):
    component_name = "ocr"
    takes = "page"


class Classifier(Unrun):
    component_name = "classifier"
    takes = "page"
    asks_people = True


class ClassificationAggregator(UnrunJoin):
    component_name = "classification_aggregator"
    collects = "classification"
    takes = "page"
    gives = "document"


class Extractor(Unrun):
    component_name = "extractor"
    takes = "document"
    asks_people = True


class ExtractionAggregator(UnrunJoin):
    component_name = "extraction_aggregator"
    collects = "extraction"
    takes = "document"
    gives = "request"


class Consolidator(Unrun):
    component_name = "consolidator"
    takes = "request"


DOCUMENTS: tuple[type[BaseComponent], ...] = (
    Splitter,
    Ocr,
    Classifier,
    ClassificationAggregator,
    Extractor,
    ExtractionAggregator,
    Consolidator,
)

# Specification §6.2, word for word.
DEFAULT = """\
name: default
description: "Standard document processing workflow"
version: 1

sla:
  deadline_seconds: 60
  warn_threshold_pct: 70
  escalation_threshold_pct: 90

stages:
  - name: split
    component: splitter
    routing_key: request.split
    timeout_seconds: 10

  - name: ocr
    component: ocr
    routing_key: page.ocr
    timeout_seconds: 15
    parallel: true

  - name: classify
    component: classifier
    routing_key: page.classify
    confidence_threshold: 0.80
    backoffice_queue: task.classification

  - name: classification_aggregation
    component: classification_aggregator
    routing_key: page.classified
    aggregation:
      type: fan_in
      collect_by: request_id
      expect_count_from: page_count

  - name: extract
    component: extractor
    routing_key: doc.extract
    confidence_threshold: 0.75
    backoffice_queue: task.extraction

  - name: extraction_aggregation
    component: extraction_aggregator
    routing_key: doc.extracted
    aggregation:
      type: fan_in
      collect_by: request_id
      expect_count_from: document_count

  - name: consolidate
    component: consolidator
    routing_key: request.consolidate

extraction_schemas:
  invoice:
    fields:
      - {name: invoice_number, type: string, required: true}
      - {name: total_amount, type: decimal, required: true}
      - {name: vendor_name, type: string}
      - {name: date, type: date}
  id_card:
    fields:
      - {name: full_name, type: string, required: true}
      - {name: id_number, type: string, required: true}
      - {name: date_of_birth, type: date}
  payslip:
    fields:
      - {name: company_name, type: string, required: true}
      - {name: employee_name, type: string, required: true}
      - {name: gross_amount, type: decimal}
      - {name: net_amount, type: decimal}
      - {name: period, type: string}
"""


@pytest.fixture
def documents(folder: Path) -> WorkflowLoader:
    write(folder, DEFAULT, "default.yaml")
    specs = {c.component_name: spec_of(c) for c in DOCUMENTS}
    return WorkflowLoader(folder, specs, Topology.of(specs.values(), QUEUE_BINDINGS), model=MODEL)


def test_specified_default_workflow_compiles_as_written(documents: WorkflowLoader) -> None:
    plan = documents.plan("default")
    assert [step.queue for step in plan.steps.values()] == [
        "q.splitter",
        "q.ocr",
        "q.classifier",
        "q.classification_aggregator",
        "q.extractor",
        "q.extraction_aggregator",
        "q.consolidator",
    ]
    assert [step.routing_key for step in plan.steps.values()] == [
        "request.split",
        "page.ocr",
        "page.classify",
        "page.classified",
        "doc.extract",
        "doc.extracted",
        "request.consolidate",
    ]
    assert [step.unit for step in plan.steps.values()] == [
        "request", "page", "page", "page", "document", "document", "request",
    ]  # fmt: skip
    assert plan.steps["split"].fans_out_to == "classification_aggregation"
    assert plan.steps["classification_aggregation"].join_name == "classification"
    assert plan.steps["classification_aggregation"].fans_out_to == "extraction_aggregation"
    assert plan.steps["extraction_aggregation"].join_name == "extraction"


def test_specified_default_workflow_keeps_all_its_values(documents: WorkflowLoader) -> None:
    workflow = documents.load("default")
    assert (workflow.name, workflow.version) == ("default", 1)
    assert workflow.description == "Standard document processing workflow"
    assert workflow.sla is not None
    assert workflow.sla.model_dump() == {
        "deadline_seconds": 60, "warn_threshold_pct": 70, "escalation_threshold_pct": 90,
    }  # fmt: skip
    assert [s.timeout_seconds for s in workflow.stages] == [10, 15, None, None, None, None, None]
    assert [s.parallel for s in workflow.stages] == [False, True, False, False, False, False, False]
    assert [s.confidence_threshold for s in workflow.stages] == [None, None, 0.8, None, 0.75, None, None]
    assert [s.backoffice_queue for s in workflow.stages if s.backoffice_queue] == [
        "task.classification", "task.extraction",
    ]  # fmt: skip
    assert [s.aggregation.expect_count_from for s in workflow.stages if s.aggregation] == [
        "page_count", "document_count",
    ]  # fmt: skip


def test_first_stage_is_the_splitter(documents: WorkflowLoader) -> None:
    assert documents.get_first_stage("default").name == "split"


@pytest.mark.parametrize(
    ("stage", "following"),
    [
        ("split", "ocr"),
        ("ocr", "classify"),
        ("classify", "classification_aggregation"),
        ("classification_aggregation", "extract"),
        ("extract", "extraction_aggregation"),
        ("extraction_aggregation", "consolidate"),
    ],
)
def test_next_stage_is_the_one_below(documents: WorkflowLoader, stage: str, following: str) -> None:
    found = documents.get_next_stage("default", stage)
    assert found is not None and found.name == following


def test_nothing_follows_the_last_stage(documents: WorkflowLoader) -> None:
    assert documents.get_next_stage("default", "consolidate") is None


def test_first_and_next_stage_follow_after_not_the_list(loader: WorkflowLoader, folder: Path) -> None:
    write(
        folder,
        """
        name: flow
        stages:
          - {name: last, component: work, after: first}
          - {name: first, component: heavy, after: []}
        """,
    )
    assert loader.get_first_stage("flow").name == "first"
    following = loader.get_next_stage("flow", "first")
    assert following is not None and following.name == "last"


def test_stage_is_found_by_its_component(documents: WorkflowLoader) -> None:
    found = documents.get_stage_by_component("default", "extractor")
    assert found is not None and found.name == "extract"
    assert documents.get_stage_by_component("default", "translator") is None


def test_extraction_schema_is_found_by_document_type(documents: WorkflowLoader) -> None:
    schema = documents.get_extraction_schema("default", "invoice")
    assert schema is not None
    assert [(f.name, f.type, f.required) for f in schema.fields] == [
        ("invoice_number", "string", True),
        ("total_amount", "decimal", True),
        ("vendor_name", "string", False),
        ("date", "date", False),
    ]
    assert documents.get_extraction_schema("default", "contract") is None


def test_flow_with_skipped_stages_compiles(documents: WorkflowLoader, folder: Path) -> None:
    write(
        folder,
        """
        name: fast_extract
        stages:
          - {name: split, component: splitter}
          - {name: group, component: classification_aggregator}
          - {name: extract, component: extractor}
          - {name: aggregate, component: extraction_aggregator}
          - {name: consolidate, component: consolidator}
        """,
        "fast_extract.yaml",
    )
    assert [step.unit for step in documents.plan("fast_extract").steps.values()] == [
        "request", "page", "document", "document", "request",
    ]  # fmt: skip
    assert documents.names() == ["default", "fast_extract"]
