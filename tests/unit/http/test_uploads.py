"""Multipart, byte by byte: names, order, limits, and everything that can be wrong with it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from docproc.http.problems import Problem
from docproc.http.uploads import MultipartStream

TYPE = "multipart/form-data; boundary=XX"


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def part(disposition: str, content: bytes, more: str = "") -> bytes:
    return f"--XX\r\nContent-Disposition: {disposition}\r\n{more}\r\n".encode() + content + b"\r\n"


async def read(body: bytes, size: int = 65536, kind: str = TYPE) -> list[tuple[str, str | None, bytes]]:
    stream = MultipartStream(kind, pieces(body, size))
    return [
        (one.name, one.filename, b"".join([chunk async for chunk in one.chunks()]))
        async for one in stream.parts()
    ]


END = b"--XX--\r\n"
FORM = (
    part('form-data; name="channel"', b"web")
    + part(
        'form-data; name="file"; filename="a.pdf"', b"one\r\n--X two\r\n", "Content-Type: application/pdf\r\n"
    )
    + part('form-data; name="file"; filename="b.pdf"', b"")
    + END
)


@pytest.mark.parametrize("size", [1, 2, 7, 65536])
async def test_parts_are_the_same_however_the_network_cuts_them(size: int) -> None:
    assert await read(FORM, size) == [
        ("channel", None, b"web"),
        ("file", "a.pdf", b"one\r\n--X two\r\n"),
        ("file", "b.pdf", b""),
    ]


@pytest.mark.parametrize(
    ("disposition", "filename"),
    [
        ('form-data; name="file"; filename="ñandú.pdf"', "ñandú.pdf"),
        ("form-data; name=\"file\"; filename*=UTF-8''%C3%B1and%C3%BA.pdf", "ñandú.pdf"),
        ('form-data; name="file"; filename="x"; filename*=utf-8\'\'%C3%B1.pdf', "ñ.pdf"),
        ('form-data; name="file"; filename="x"; filename*=nonsense\'\'%41', "x"),
        ('form-data; name="file"; filename=""', ""),
        ('form-data; name="file"; filename="a;b.pdf"', "a;b.pdf"),
        ('form-data; name="file"', None),
    ],
)
async def test_file_names_of_all_kinds_of_clients(disposition: str, filename: str | None) -> None:
    ((_, found, _),) = await read(part(disposition, b"x") + END)
    assert found == filename


async def test_a_part_that_nobody_reads_is_skipped() -> None:
    stream = MultipartStream(TYPE, pieces(FORM, 5))
    assert [one.name async for one in stream.parts()] == ["channel", "file", "file"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        FORM[:30],
        FORM[: FORM.index(b"two")],
        FORM[: -len(END)],
        b'--XX\r\nContent-Disposition: form-data; filename="x"\r\n\r\nx\r\n' + END,
        b"--XX\r\n" + b"X" * 100_000 + b": y\r\n\r\nx\r\n" + END,
        b"--XX\r\n" + b"X-A: y\r\n" * 1000 + b"\r\nx\r\n" + END,
    ],
)
async def test_truncated_or_malformed_is_refused(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        await read(body, 11)
    assert caught.value.status_code == 400


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data", "multipart/form-data; boundary=", f"multipart/form-data; boundary={'x' * 999}"],
)
async def test_boundary_that_cannot_be_used_is_refused(kind: str) -> None:
    with pytest.raises(Problem) as caught:
        await read(FORM, kind=kind)
    assert caught.value.status_code == 400


async def test_fields_have_a_size_and_an_encoding() -> None:
    async def text(content: bytes) -> str:
        stream = MultipartStream(TYPE, pieces(part('form-data; name="channel"', content) + END, 9))
        async for one in stream.parts():
            return await one.text(10)
        raise AssertionError

    assert await text("ñ".encode() * 5) == "ñ" * 5
    with pytest.raises(Problem, match="larger than 10 bytes"):
        await text(b"x" * 11)
    with pytest.raises(Problem, match="not UTF-8"):
        await text(b"\xff")


async def test_endless_parts_are_refused() -> None:
    body = part('form-data; name="x"', b"") * 1001 + END
    with pytest.raises(Problem, match="more than 1000 parts"):
        await read(body)
