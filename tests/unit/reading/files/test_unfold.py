"""What a file holds: kinds by content, members in order, limits, and problems that stop nobody else."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pillow_heif
import pytest
from PIL import Image

from docproc.errors import PermanentError, UnreadableFileError
from docproc.reading.files.unfold import Limits
from tests.hostile import (
    lock_zip,
    make_image,
    make_locked_pdf,
    make_mail,
    make_pdf,
    make_png_header,
    make_tiff,
    make_zip,
    nest_zips,
    zip_bomb,
)
from tests.unit.reading.files.conftest import Unfold

PDF = make_pdf()
PNG = make_image()


def make_heic(size: tuple[int, int] = (64, 48)) -> bytes:
    buffer = io.BytesIO()
    pillow_heif.from_pillow(Image.effect_noise(size, 80).convert("RGB")).save(buffer)
    return buffer.getvalue()


def code_of(unfolded: Unfold, content: bytes, name: str = "sent.bin", **options: object) -> str:
    with pytest.raises(UnreadableFileError) as caught:
        unfolded(content, name, **options)
    assert caught.value.remedy
    return caught.value.code


# --- kinds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "media_type", "pages"),
    [
        (make_pdf(3), "application/pdf", 3),
        (b"junk\r\n" * 100 + PDF, "application/pdf", 1),
        (make_tiff(7), "image/tiff", 7),
        (PNG, "image/png", 1),
        (make_image("JPEG"), "image/jpeg", 1),
        (make_image("JPEG", progressive=True), "image/jpeg", 1),
        (make_image("WEBP"), "image/webp", 1),
        (make_image("GIF"), "image/gif", 1),
        (make_image("BMP"), "image/bmp", 1),
        (make_image("TIFF", big_tiff=True), "image/tiff", 1),
        (make_heic(), "image/heic", 1),
    ],
)
def test_kind_is_told_by_content(unfolded: Unfold, content: bytes, media_type: str, pages: int) -> None:
    (found,) = unfolded(content, "misleading.xyz")
    assert (found.media_type, found.page_count) == (media_type, pages)
    assert found.name == "misleading.xyz"
    assert (found.notes, found.problem, found.skipped) == ((), None, False)


def test_file_that_needs_no_change_stays_where_it_is(unfolded: Unfold, tmp_path: Path) -> None:
    assert unfolded(PDF)[0].path == tmp_path / "upload"
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"hello", "unsupported_type"),
        (b"MZ" + bytes(2000), "unsupported_type"),
        (b"%PDF-1.7\n", "damaged"),
        (make_png_header(60_000, 60_000), "too_large_image"),
        (make_mail({}), "no_pages"),
        (make_zip({}), "no_pages"),
        (make_zip({"a.txt": b"hello"}), "no_pages"),
        (make_locked_pdf(), "encrypted"),
    ],
)
def test_unreadable_file_says_why_and_what_to_do(unfolded: Unfold, content: bytes, code: str) -> None:
    assert code_of(unfolded, content) == code


def test_unreadable_file_error_comes_whole_out_of_a_child_process() -> None:
    error = UnreadableFileError("x", code="damaged", remedy="r")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, PermanentError) and isinstance(copy, UnreadableFileError)
    assert (str(copy), copy.code, copy.remedy) == ("x. r", "damaged", "r")


# --- PDF --------------------------------------------------------------------------------------------------


def test_right_password_gives_an_open_copy(unfolded: Unfold, tmp_path: Path) -> None:
    (found,) = unfolded(make_locked_pdf("clave ñ"), password="clave ñ")
    assert found.page_count == 2
    assert found.path == tmp_path / "work" / "0001.pdf"
    assert b"/Encrypt" not in found.path.read_bytes()
    assert found.notes == ("decrypted with the password that was sent",)


def test_wrong_password_is_told_from_none(unfolded: Unfold) -> None:
    assert code_of(unfolded, make_locked_pdf(), password="otra") == "wrong_password"
    assert code_of(unfolded, make_locked_pdf(), password="o\x00tra") == "wrong_password"


def test_protection_against_changes_only_is_no_obstacle(unfolded: Unfold) -> None:
    (found,) = unfolded(make_locked_pdf(owner_only=True))
    assert (found.page_count, found.notes) == (2, ())


def test_needless_password_is_ignored(unfolded: Unfold) -> None:
    assert unfolded(PDF, password="x")[0].page_count == 1


def test_pdf_with_broken_cross_references_is_read(unfolded: Unfold) -> None:
    content = make_pdf(4)
    start = content.rfind(b"startxref")
    assert unfolded(content[:start] + b"startxref\n12\n%%EOF")[0].page_count == 4


def test_pdf_that_only_repair_can_open_is_repaired_in_a_copy(unfolded: Unfold, tmp_path: Path) -> None:
    content = make_pdf(2)
    (found,) = unfolded(content[: content.rfind(b"xref\n0")])
    assert (found.page_count, found.path) == (2, tmp_path / "work" / "0001.pdf")
    assert found.notes[0] == "repaired: the cross-reference table was damaged"
    assert "end of the file is missing" in found.notes[1]


def test_pages_that_are_counted_but_lost_are_noted(unfolded: Unfold) -> None:
    (found,) = unfolded(make_pdf(3).replace(b"/Kids [ 3 0 R 4 0 R", b"/Kids [ 3 0 R 99 0 R"))
    assert found.page_count == 3
    assert found.notes == ("damaged: of these pages nothing is left: 2",)


# --- images -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_cut_pictures_are_recognised(unfolded: Unfold, kind: str, share: float) -> None:
    content = make_image(kind)
    assert code_of(unfolded, content[: int(len(content) * share)]) == "damaged"


def test_cut_heic_is_recognised(unfolded: Unfold) -> None:
    content = make_heic()
    assert code_of(unfolded, content[: len(content) * 9 // 10]) == "damaged"


def test_pixels_of_every_tiff_page_are_limited(unfolded: Unfold) -> None:
    assert code_of(unfolded, make_tiff(3), limits=Limits(page_pixels=7999)) == "too_large_image"
    assert unfolded(make_tiff(3), limits=Limits(page_pixels=8000))[0].page_count == 3


def test_own_pixel_limit_may_exceed_that_of_pillow(unfolded: Unfold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    assert unfolded(PNG)[0].page_count == 1
    assert Image.MAX_IMAGE_PIXELS == 100


def test_lost_tiff_pages_are_noted(unfolded: Unfold) -> None:
    buffer = io.BytesIO()
    frames = [Image.effect_noise((200, 200), 90) for _ in range(3)]
    frames[0].save(buffer, "TIFF", save_all=True, append_images=frames[1:])
    (found,) = unfolded(buffer.getvalue()[:-100])
    assert found.notes and found.notes[0].startswith("damaged:")


# --- archives ---------------------------------------------------------------------------------------------


def test_members_come_in_natural_order_under_numbered_names(unfolded: Unfold, tmp_path: Path) -> None:
    names = ["b/scan 10.pdf", "b/scan 9.pdf", "a.png", "B/scan 1.pdf"]
    found = unfolded(make_zip({name: PNG if name.endswith("png") else PDF for name in names}), "docs.zip")
    assert [file.name for file in found] == [
        "docs.zip/a.png", "docs.zip/B/scan 1.pdf", "docs.zip/b/scan 9.pdf", "docs.zip/b/scan 10.pdf",
    ]  # fmt: skip
    assert {file.path.parent for file in found} == {tmp_path / "work"}
    assert all(file.path.stem.isdigit() and file.path.exists() for file in found)
    assert sorted(file.path for file in found) == [file.path for file in found]
    assert len(list((tmp_path / "work").iterdir())) == 4


def test_unreadable_member_does_not_stop_its_siblings(unfolded: Unfold, tmp_path: Path) -> None:
    members = {
        "1.pdf": PDF,
        "2.pdf": b"%PDF-1.4 broken",
        "3.txt": b"hola",
        "4.pdf": make_locked_pdf(),
        "5": b"",
    }
    found = unfolded(make_zip(members))
    assert [(file.page_count, file.problem is None, file.skipped) for file in found] == [
        (1, True, False), (0, False, False), (0, False, True), (0, False, False), (0, False, False),
    ]  # fmt: skip
    assert "password" in str(found[3].problem)
    assert found[3].media_type == "application/pdf"
    assert [path.name for path in (tmp_path / "work").iterdir()] == [found[0].path.name]


def test_password_opens_pdfs_in_archives(unfolded: Unfold, tmp_path: Path) -> None:
    (found,) = unfolded(make_zip({"1.pdf": make_locked_pdf("x")}), password="x")
    assert found.page_count == 2
    assert list((tmp_path / "work").iterdir()) == [found.path]


def test_junk_is_left_out(unfolded: Unfold) -> None:
    junk = [
        "__MACOSX/._1.pdf",
        ".DS_Store",
        "a/Thumbs.db",
        "folder/",
        "a/.hidden.pdf",
        "a/~$1.docx",
        "desktop.ini",
    ]
    found = unfolded(make_zip({name: b"" if name.endswith("/") else PDF for name in [*junk, "a/1.pdf"]}))
    assert [file.name for file in found] == ["sent.bin/a/1.pdf"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/x.pdf", "etc/x.pdf"),
        ("/etc/x.pdf", "etc/x.pdf"),
        ("C:\\facturas\\x.pdf", "facturas/x.pdf"),
        ("a\x1bb\u202ec.pdf", "a\ufffdb\ufffdc.pdf"),
        ("x" * 300 + ".pdf", "x" * 75 + "….pdf"),
        ("../..", "unnamed"),
    ],
)
def test_strange_names_are_harmless(unfolded: Unfold, tmp_path: Path, name: str, shown: str) -> None:
    (found,) = unfolded(make_zip({name: PDF}), "z.zip")
    assert found.name == f"z.zip/{shown}"
    assert found.path.parent == tmp_path / "work"
    assert unfolded(PDF, name)[0].name == shown


def test_archives_in_archives_are_opened_to_a_depth(unfolded: Unfold, tmp_path: Path) -> None:
    (found,) = unfolded(nest_zips(3, {"a.pdf": PDF}), "z.zip")
    assert found.name == "z.zip/level1.zip/level0.zip/a.pdf"
    assert list((tmp_path / "work").iterdir()) == [found.path]
    assert code_of(unfolded, nest_zips(4, {"a.pdf": PDF})) == "archive_too_deep"


def test_archive_too_deep_does_not_stop_its_siblings(unfolded: Unfold) -> None:
    found = unfolded(make_zip({"1.pdf": PDF, "2.zip": nest_zips(3, {"a.pdf": PDF})}))
    assert [file.page_count for file in found] == [1, 0]


@pytest.mark.parametrize("content", [zip_bomb(30), make_zip({"a.zip": zip_bomb(30), "b.pdf": PDF})])
def test_bombs_are_refused_whole(unfolded: Unfold, tmp_path: Path, content: bytes) -> None:
    assert code_of(unfolded, content) == "archive_bomb"


def test_locked_archives_ask_for_the_password(unfolded: Unfold) -> None:
    locked = lock_zip(make_zip({"a.pdf": PDF}))
    assert code_of(unfolded, locked) == "encrypted"
    assert code_of(unfolded, locked, password="x") == "wrong_password"
    assert code_of(unfolded, lock_zip(make_zip({"a.pdf": PDF}), method=99), password="x") == "encrypted"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(pages=5), "too_many_pages"),
        (Limits(members=2), "too_many_files"),
        (Limits(unpacked_bytes=3000), "archive_too_large"),
    ],
)
def test_limits_of_the_request_refuse_it_whole(unfolded: Unfold, limits: Limits, code: str) -> None:
    content = make_zip({"1.pdf": make_pdf(2), "2.pdf": make_pdf(2), "3.tiff": make_tiff(2)})
    assert code_of(unfolded, content, limits=limits) == code
    assert len(unfolded(content, limits=Limits(pages=6, members=3))) == 3


def test_no_page_left_means_no_picture_either(unfolded: Unfold) -> None:
    assert (
        code_of(unfolded, make_zip({"1.pdf": PDF, "2.png": PNG}), limits=Limits(pages=1)) == "too_many_pages"
    )


def test_container_without_readable_pages_names_the_first_problems(unfolded: Unfold) -> None:
    with pytest.raises(UnreadableFileError, match=r"z\.zip/a\.pdf: The PDF is damaged") as caught:
        unfolded(make_zip({"a.pdf": b"%PDF-1.4 broken", "b.pdf": b""}), "z.zip")
    assert caught.value.code == "no_pages"


def test_repeating_gives_the_same(unfolded: Unfold) -> None:
    content = make_zip({"b.pdf": PDF, "a.zip": make_zip({"x.png": PNG})})
    assert unfolded(content) == unfolded(content)
