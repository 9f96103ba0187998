import numpy
import numpy.typing
import pytest

from docproc.reading.ocr import alphabet, rapid

Floats = numpy.typing.NDArray[numpy.float32]


def test_european_symbols_are_kept_and_ideographs_are_not() -> None:
    symbols = ["blank", "a", "Ñ", "中", "€", "：", "あ", "º", "Ω"]
    kept = [symbols[number] for number in alphabet.european(symbols)]
    assert kept == ["blank", "a", "Ñ", "€", "：", "º", "Ω"]


def test_whole_layer_gives_likelihoods() -> None:
    layer = alphabet.Layer(numpy.eye(3, dtype=numpy.float32), numpy.zeros(3, dtype=numpy.float32))
    likely = layer.likelihood(numpy.array([[100.0, 0.0, 0.0], [0.0, 0.0, 0.0]], dtype=numpy.float32))
    assert likely[0] == pytest.approx([1, 0, 0])
    assert likely[1] == pytest.approx([1 / 3] * 3)


class Request:
    """Stands for an OpenVINO request with fixed outputs."""

    def __init__(self, likely: Floats, features: Floats) -> None:
        self.outputs = [likely[None], features[None]]

    def create_infer_request(self) -> "Request":
        return self

    def infer(self, inputs: list[Floats]) -> None: ...

    def get_output_tensor(self, number: int) -> "Tensor":
        return Tensor(self.outputs[number])


class Tensor:
    def __init__(self, data: Floats) -> None:
        self.data = data


@pytest.mark.parametrize(("sure", "read"), [(0.9, "a"), (0.6, "中")])
def test_doubtful_line_is_compared_with_all_symbols(sure: float, read: str) -> None:
    likely = numpy.array([[1 - sure, sure]], dtype=numpy.float32)
    features = numpy.array([[0.0, 0.0, 9.0]], dtype=numpy.float32)  # the whole layer sees the third symbol
    layer = alphabet.Layer(numpy.eye(3, dtype=numpy.float32), numpy.zeros(3, dtype=numpy.float32))
    narrow = rapid.NarrowRecognizer(Request(likely, features), layer, ["blank", "a", "中"], [0, 1])
    line = numpy.zeros((1, 3, 48, 64), dtype=numpy.float32)
    assert [character[0] for character in narrow.characters(line, 1.0)] == [read]


def characters(text: str, sure: float) -> list[tuple[str, float, float]]:
    return [(sign, place / len(text), sure) for place, sign in enumerate(text)]


@pytest.mark.parametrize(
    ("narrow", "whole", "read"),
    [
        # An ideograph in a Spanish line is a misreading, however sure it is.
        (characters("Importe 6 total", 0.6), characters("Importe 音 total", 0.95), "Importe 6 total"),
        # A line of ideographs is one, if it is read more surely so.
        (characters("FETE", 0.55), characters("发票号码", 0.9), "发票号码"),
        (characters("FETE", 0.65), characters("发票号码", 0.6), "FETE"),
    ],
)
def test_line_is_read_in_the_script_it_is_written_in(
    narrow: list[tuple[str, float, float]], whole: list[tuple[str, float, float]], read: str
) -> None:
    assert "".join(sign for sign, _, _ in rapid.in_script(narrow, whole)) == read
