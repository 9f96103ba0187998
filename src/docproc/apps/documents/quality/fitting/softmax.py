"""Multinomial logistic regression with numpy alone: the same input always gives the same weights."""

from __future__ import annotations

import numpy
import numpy.typing

Floats = numpy.typing.NDArray[numpy.float32]


def fit(
    vectors: Floats,
    targets: Floats,
    weights: Floats,
    *,
    penalty: float = 1e-4,
    steps: int = 250,
) -> Floats:
    """One row of weights for each class; `targets` has a row of probabilities for each vector.

    Nesterov's accelerated descent over all examples, each counted by its weight.
    """
    share = (weights / weights.sum())[:, None].astype(numpy.float32)
    # Step 1/L: the gradient of the cross-entropy is Lipschitz with L = λmax/2 of the weighted second moments,
    # plus the penalty's own.
    step = numpy.float32(1.0 / (0.5 * _largest_eigenvalue(vectors, share) + penalty))
    fitted = numpy.zeros((targets.shape[1], vectors.shape[1]), dtype=numpy.float32)
    ahead = fitted.copy()
    for turn in range(steps):
        gradient = (share * (probabilities(vectors @ ahead.T) - targets)).T @ vectors + penalty * ahead
        nearer = ahead - step * gradient
        ahead = nearer + numpy.float32(turn / (turn + 3)) * (nearer - fitted)
        fitted = nearer
    return fitted


def _largest_eigenvalue(vectors: Floats, share: Floats) -> float:
    """λmax of the weighted second moments, by power iteration; a little more, as it is reached from below."""
    direction = numpy.ones(vectors.shape[1], dtype=numpy.float32)
    length = 1.0
    for _ in range(30):
        direction = vectors.T @ (share[:, 0] * (vectors @ (direction / numpy.float32(length))))
        length = float(numpy.linalg.norm(direction))
    return 1.05 * length


def probabilities(logits: Floats) -> Floats:
    raised = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    made: Floats = raised / raised.sum(axis=1, keepdims=True)
    return made


def temperature(logits: Floats, truth: numpy.typing.NDArray[numpy.intp]) -> float:
    """The divisor of the logits under which the truth is likeliest: calibration in one number."""
    tried = numpy.geomspace(0.4, 6.0, 120)
    rows = numpy.arange(len(truth))
    losses = [-numpy.log(probabilities(logits / number)[rows, truth] + 1e-9).mean() for number in tried]
    return float(tried[int(numpy.argmin(losses))])
