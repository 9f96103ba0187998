"""QTI 2.1: a package (zip) of a test and an item for each question, as assessment systems import it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from docproc.apps.materials.content.quiz import Question, Quiz
from docproc.apps.materials.content.summary import Summary

ITEM_TYPE = "imsqti_item_xmlv2p1"
TEST_TYPE = "imsqti_test_xmlv2p1"
_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_QTI_SCHEMA = f"{_QTI} http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
_PACKAGING = "http://www.imsglobal.org/xsd/imscp_v1p1"
_PACKAGING_SCHEMA = f"{_PACKAGING} http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
# Of every file in the package: the same content gives the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)

_TEST = "test.xml"


def write(summary: Summary, quiz: Quiz) -> bytes:
    files = {"imsmanifest.xml": _manifest(quiz), _TEST: _test(quiz)}
    files |= {_path(question): _item(question, quiz.language) for question in quiz.questions}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, root in files.items():
            ElementTree.indent(root)
            content = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
            archive.writestr(zipfile.ZipInfo(name, _NO_TIME), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _path(question: Question) -> str:
    return f"items/{question.id}.xml"


def _identifier(question: Question) -> str:
    return f"item-{question.id}"


def _root(name: str, namespace: str, schema: str, **attributes: str) -> Element:
    names = {"xmlns": namespace, "xmlns:xsi": _XSI, "xsi:schemaLocation": schema}
    return Element(name, {**names, **attributes})


# --- an item: declarations, body, processing, feedback, in the order that the schema wants ----------------


def _item(question: Question, language: str) -> Element:
    root = _root(
        "assessmentItem",
        _QTI,
        _QTI_SCHEMA,
        identifier=_identifier(question),
        title=question.text[:120],
        adaptive="false",
        timeDependent="false",
    )
    root.set("xml:lang", language)
    _declared(
        root, "responseDeclaration", "RESPONSE", "identifier", "correctResponse", question.correct_answer
    )
    _declared(root, "outcomeDeclaration", "SCORE", "float", "defaultValue", "0")
    _declared(root, "outcomeDeclaration", "MAXSCORE", "float", "defaultValue", str(question.points))
    _declared(root, "outcomeDeclaration", "FEEDBACK", "identifier", "defaultValue", "none")
    body = SubElement(root, "itemBody")
    choice = SubElement(
        body, "choiceInteraction", responseIdentifier="RESPONSE", shuffle="true", maxChoices="1"
    )
    SubElement(choice, "prompt").text = question.text
    for option in question.options:
        SubElement(choice, "simpleChoice", identifier=option.id).text = option.text
    root.append(_processing(question))
    for name, text in (("correct", question.feedback.correct), ("incorrect", question.feedback.incorrect)):
        feedback = SubElement(
            root, "modalFeedback", outcomeIdentifier="FEEDBACK", identifier=name, showHide="show"
        )
        SubElement(feedback, "p").text = text
    return root


def _declared(root: Element, kind: str, identifier: str, base_type: str, inner: str, value: str) -> None:
    declared = SubElement(root, kind, identifier=identifier, cardinality="single", baseType=base_type)
    SubElement(SubElement(declared, inner), "value").text = value


def _processing(question: Question) -> Element:
    processing = Element("responseProcessing")
    condition = SubElement(processing, "responseCondition")
    right = SubElement(condition, "responseIf")
    match = SubElement(right, "match")
    SubElement(match, "variable", identifier="RESPONSE")
    SubElement(match, "correct", identifier="RESPONSE")
    _set(right, "SCORE", "float", str(question.points))
    _set(right, "FEEDBACK", "identifier", "correct")
    wrong = SubElement(condition, "responseElse")
    _set(wrong, "SCORE", "float", "0")
    _set(wrong, "FEEDBACK", "identifier", "incorrect")
    return processing


def _set(parent: Element, identifier: str, base_type: str, value: str) -> None:
    outcome = SubElement(parent, "setOutcomeValue", identifier=identifier)
    SubElement(outcome, "baseValue", baseType=base_type).text = value


# --- the test, and what is in the package -----------------------------------------------------------------


def _test(quiz: Quiz) -> Element:
    root = _root("assessmentTest", _QTI, _QTI_SCHEMA, identifier="test", title=quiz.title)
    _declared(root, "outcomeDeclaration", "SCORE", "float", "defaultValue", "0")
    SubElement(root, "timeLimits", maxTime=str(quiz.time_limit_minutes * 60))
    part = SubElement(
        root, "testPart", identifier="part", navigationMode="nonlinear", submissionMode="simultaneous"
    )
    section = SubElement(part, "assessmentSection", identifier="questions", title=quiz.title, visible="true")
    for question in quiz.questions:
        SubElement(section, "assessmentItemRef", identifier=_identifier(question), href=_path(question))
    outcome = SubElement(root, "outcomeProcessing")
    score = SubElement(outcome, "setOutcomeValue", identifier="SCORE")
    SubElement(SubElement(score, "sum"), "testVariables", variableIdentifier="SCORE")
    return root


def _manifest(quiz: Quiz) -> Element:
    root = _root("manifest", _PACKAGING, _PACKAGING_SCHEMA, identifier="package")
    metadata = SubElement(root, "metadata")
    SubElement(metadata, "schema").text = "QTIv2.1 Package"
    SubElement(metadata, "schemaversion").text = "1.0.0"
    SubElement(root, "organizations")
    resources = SubElement(root, "resources")
    test = SubElement(resources, "resource", identifier="resource-test", type=TEST_TYPE, href=_TEST)
    SubElement(test, "file", href=_TEST)
    for resource, question in _resources(quiz):
        SubElement(test, "dependency", identifierref=resource.attrib["identifier"])
        resources.append(resource)
        SubElement(resource, "file", href=_path(question))
    return root


def _resources(quiz: Quiz) -> Iterator[tuple[Element, Question]]:
    for question in quiz.questions:
        identifier = f"resource-{question.id}"
        yield Element("resource", identifier=identifier, type=ITEM_TYPE, href=_path(question)), question
