"""Filters do what they say, the same in every process, and refuse what they cannot do."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from docproc.apps.video.errors import VideoError
from docproc.apps.video.filters.chain import Chain, installed, requested
from tests.films import Look, picture

LOOK = Look(width=160, height=120)
FRAMES = [picture(index, LOOK) for index in range(4)]
KINDS: list[dict[str, Any]] = [
    *({"name": name} for name in sorted(installed()) if name not in ("resize", "denoise")),
    {"name": "resize", "width": 64},
    {"name": "denoise", "strength": 3},
    *({"name": "blur", "kind": kind} for kind in ("gaussian", "median", "bilateral")),
    *({"name": "edges", "kind": kind} for kind in ("canny", "sobel", "laplacian")),
    *(
        {"name": "motion", "kind": kind, "show": show}
        for kind in ("diff", "flow")
        for show in ("overlay", "alone")
    ),
    *({"name": "faces", "action": action} for action in ("draw", "blur", "pixelate")),
]


@pytest.mark.parametrize("spec", KINDS, ids=lambda spec: "-".join(map(str, spec.values())))
def test_filter_gives_the_same_again_and_leaves_its_frames_alone(spec: dict[str, Any]) -> None:
    cv2.setNumThreads(1)
    chain = Chain.of([spec])
    before = [frame.copy() for frame in FRAMES]
    first, second = (
        chain.apply(FRAMES[-1 - chain.history :]),
        Chain.of(chain.specs).apply(FRAMES[-1 - chain.history :]),
    )
    assert np.array_equal(first, second)
    assert first.dtype == np.uint8 and first.shape[2] == 3
    assert first.shape[1::-1] == chain.size(LOOK.width, LOOK.height)
    assert all(np.array_equal(one, other) for one, other in zip(before, FRAMES, strict=True))


def test_specified_filters_are_installed() -> None:
    assert {"blur", "edges", "faces", "motion"} <= installed().keys()


def test_motion_sees_what_moved() -> None:
    chain = Chain.of([{"name": "motion", "show": "alone"}])
    assert chain.apply([FRAMES[0], FRAMES[0]]).max() == 0
    moved = chain.apply([FRAMES[0], FRAMES[3]])
    assert 0 < (moved[..., 2] > 0).mean() < 0.5


def test_first_frame_of_a_film_has_not_moved() -> None:
    assert Chain.of([{"name": "motion", "show": "alone"}]).apply(FRAMES[:1]).max() == 0


def test_chain_compares_what_the_filters_before_made_of_the_earlier_frames() -> None:
    """As one process would that goes through the film, filter by filter."""
    chain = Chain.of(
        [{"name": "blur", "size": 5}, {"name": "motion"}, {"name": "grayscale"}, {"name": "motion"}]
    )
    assert chain.history == 2
    blur, motion, gray, last = chain.filters
    blurred = [blur.apply([frame]) for frame in FRAMES]
    moved = [motion.apply(blurred[max(0, i - 1) : i + 1] if i else blurred[:1] * 2) for i in range(4)]
    grayed = [gray.apply([frame]) for frame in moved]
    expected = last.apply(grayed[2:4])
    assert np.array_equal(chain.apply(FRAMES[1:4]), expected)


@pytest.fixture(scope="module")
def portrait() -> Any:
    """A drawn face that the cascade knows: no picture of anybody is needed."""
    image = np.full((240, 320, 3), 210, np.uint8)
    dark = (50, 50, 50)
    cv2.ellipse(image, (160, 112), (70, 90), 0, 0, 360, (40, 40, 45), -1)  # hair
    cv2.ellipse(image, (160, 122), (60, 78), 0, 0, 360, (190, 210, 220), -1)
    cv2.rectangle(image, (152, 86), (168, 140), (210, 230, 240), -1)  # nose
    for x in (136, 184):
        cv2.ellipse(image, (x, 100), (14, 8), 0, 0, 360, dark, -1)
        cv2.ellipse(image, (x, 84), (18, 4), 0, 0, 360, (70, 70, 70), -1)
    for x in (153, 167):
        cv2.ellipse(image, (x, 142), (5, 3), 0, 0, 360, (90, 90, 90), -1)
    cv2.ellipse(image, (160, 165), (26, 7), 0, 0, 360, (60, 60, 100), -1)
    return cv2.GaussianBlur(image, (13, 13), 0)


def test_faces_are_found_and_made_unknowable(portrait: Any) -> None:
    (found,) = requested("faces", [], 8).filters
    (box,) = found.find(portrait)  # type: ignore[attr-defined] # of faces
    x, y, width, height = box
    assert 90 < x + width / 2 < 230 and 60 < y + height / 2 < 180
    drawn = requested("faces", [], 8).apply([portrait])
    assert tuple(drawn[y, x + width // 2]) == (0, 200, 0)
    hidden = requested("anonymise", [], 8).apply([portrait])
    inside = np.s_[y + height // 4 : y + height // 2, x + width // 4 : x + width // 2]
    assert np.abs(hidden[inside].astype(int) - portrait[inside]).mean() > 5
    assert np.array_equal(hidden[:4], portrait[:4])


@pytest.mark.parametrize(
    ("processing", "filters", "code", "said"),
    [
        ("sepia", [], "unknown_filter", "anonymise, blur"),
        ("watermark", [{"name": "watermark", "text": "Señal"}], "bad_parameters", "as in 'Senal'"),
        ("custom", [], "bad_parameters", "names no filters"),
        ("custom", ["blur", "nothing"], "unknown_filter", "'nothing'"),
        ("custom", [3], "bad_parameters", "object with a name"),
        ("custom", ["blur"] * 9, "too_many_filters", "at most 8"),
        ("blur", [{"name": "edges"}], "bad_parameters", "that filter alone"),
        ("blur", [{"name": "blur", "size": 4}], "bad_parameters", "must be odd: 3 or 5"),
        ("blur", [{"name": "blur", "sise": 5}], "bad_parameters", "blur.sise"),
        (
            "edges",
            [{"name": "edges", "low": 200, "high": 100}],
            "bad_parameters",
            "low must not be above high",
        ),
        ("resize", [], "bad_parameters", "give width"),
        ("resize", [{"name": "resize", "width": 10**9}], "bad_parameters", "8192"),
        ("blur", [{"name": "blur", "size": float("inf")}], "bad_parameters", "blur.size"),
    ],
)
def test_what_cannot_be_done_is_refused(processing: str, filters: list[Any], code: str, said: str) -> None:
    with pytest.raises(VideoError) as refused:
        requested(processing, filters, 8)
    assert refused.value.code == code and said in str(refused.value)


def test_values_from_a_command_line_are_texts() -> None:
    chain = requested("blur", [{"name": "blur", "kind": "median", "size": "5"}], 8)
    assert chain.specs == [{"name": "blur", "kind": "median", "size": 5}]


def test_frames_do_not_grow_beyond_the_limit_on_their_way() -> None:
    """A few letters must not make a worker, or the server, ask for gigabytes."""
    chain = requested("custom", [{"name": "resize", "scale": 8}, {"name": "resize", "width": 320}], 8)
    assert chain.size(320, 180, 2560 * 1440) == (320, 180)
    with pytest.raises(VideoError, match="2560 × 1440") as refused:
        chain.size(320, 180, 1920 * 1080)
    assert refused.value.code == "resolution_too_large"
