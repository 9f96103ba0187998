"""Narrows the recognizer to the alphabets of Europe, which is a tenth of its symbols.

The last layer compares every step of a line with 18 710 symbols, nearly all of them Chinese: an eighth of the
time of reading. What was left out is still known: a line that the narrow layer doubts is compared with all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
import numpy.typing

Floats = numpy.typing.NDArray[numpy.float32]

_FIRST_IDEOGRAPH = 0x2E80
_FULL_WIDTH = range(0xFF00, 0xFFF0)  # the models often write punctuation so


class Layer(NamedTuple):
    """The last layer of the recognizer: likelihood = softmax(features · weights + bias)."""

    weights: Floats
    bias: Floats

    def likelihood(self, features: Floats) -> Floats:
        scores = features @ self.weights + self.bias
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        return numpy.asarray(scores / scores.sum(axis=-1, keepdims=True))


def european(symbols: Sequence[str]) -> list[int]:
    """The numbers of the symbols that are kept; the first is the blank."""
    return [0] + [number for number, symbol in enumerate(symbols) if number and _is_european(symbol)]


def _is_european(symbol: str) -> bool:
    return all(ord(sign) < _FIRST_IDEOGRAPH or ord(sign) in _FULL_WIDTH for sign in symbol)


def is_other_script(text: str) -> bool:
    """Whether a line is in ideographs: most of its letters are. One among Latin letters is misread."""
    letters = [sign for sign in text if sign.isalpha()]
    return 2 * sum(not _is_european(sign) for sign in letters) > len(letters)


def narrowed(model: Any, kept: Sequence[int]) -> tuple[Any, Layer] | None:
    """An OpenVINO model with likelihoods of the kept symbols and features as outputs, and the whole layer.

    None when the model does not end as expected: another release of RapidOCR may bring other models.
    """
    import openvino  # type: ignore[import-untyped]  # it has no types

    multiply = _before(_before(model.get_results()[0], "Softmax"), "Add", "MatMul")
    if multiply is None:
        return None
    add = next(iter(multiply.output(0).get_target_inputs())).get_node()
    parameters = [node.input_value(1).get_node() for node in (multiply, add)]
    if any(parameter.get_type_name() != "Constant" for parameter in parameters):
        return None
    layer = Layer(*(numpy.array(parameter.data, dtype=numpy.float32) for parameter in parameters))
    if layer.weights.ndim != 2 or layer.weights.shape[1] != len(layer.bias) or max(kept) >= len(layer.bias):
        return None
    build, features = openvino.opset13, multiply.input_value(0)
    weights = build.constant(numpy.ascontiguousarray(layer.weights[:, kept]))
    bias = build.constant(numpy.ascontiguousarray(layer.bias[kept]))
    likelihood = build.softmax(build.add(build.matmul(features, weights, False, False), bias), -1)
    outputs = [likelihood.output(0), features]
    return openvino.Model(outputs, model.get_parameters(), "recognizer"), layer


def _before(node: Any, *kinds: str) -> Any:
    """Up from a node through nodes of these kinds, in turn; None when others are in the way."""
    for kind in kinds:
        node = node and node.input_value(0).get_node()
        while node is not None and node.get_type_name() == "Identity":
            node = node.input_value(0).get_node()
        if node is None or node.get_type_name() != kind:
            return None
    return node
