"""Files nobody should have to read: damaged, mislabelled and malicious ones, made on the fly."""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from functools import cache
from itertools import count, islice
from pathlib import Path

import pikepdf
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

# --- building blocks --------------------------------------------------------------------------------------


def make_pdf(pages: int = 1, text: str = "Factura", size: tuple[float, float] = (595, 842)) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, invariant=1)
    for page in range(pages):
        canvas.drawString(72, size[1] - 72, f"{text} {page + 1}")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def make_locked_pdf(password: str = "secreto", owner_only: bool = False) -> bytes:
    buffer = io.BytesIO()
    # Revision 3: the later ones draw random keys, and no two files would be the same.
    user = "" if owner_only else password
    encryption = pikepdf.Encryption(user=user, owner="owner", R=3, aes=False, metadata=False)
    with pikepdf.open(io.BytesIO(make_pdf(2))) as pdf:
        pdf.save(buffer, encryption=encryption, static_id=True)
    return buffer.getvalue()


def make_image(kind: str = "PNG", size: tuple[int, int] = (400, 300), **options: object) -> bytes:
    buffer = io.BytesIO()
    # Noise: a plain picture is so small that cutting it would hardly be noticed.
    image = Image.frombytes("RGB", size, random.Random(5).randbytes(size[0] * size[1] * 3))
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def make_tiff(pages: int = 3) -> bytes:
    buffer = io.BytesIO()
    frames = [Image.new("1", (80, 100), page % 2) for page in range(pages)]
    frames[0].save(buffer, "TIFF", save_all=True, append_images=frames[1:], compression="group4")
    return buffer.getvalue()


def make_zip(members: dict[str, bytes] | list[tuple[str, bytes]], level: int = 6) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _settled(mail: EmailMessage) -> bytes:
    """With boundaries that are the same in every run."""
    content = mail.as_bytes()
    for number, boundary in enumerate(dict.fromkeys(re.findall(rb'boundary="(=+[0-9]+==)"', content))):
        content = content.replace(boundary, b"=====%04d==" % number)
    return content


def make_mail(
    attachments: dict[str, bytes], *, html: str = "", images: dict[str, bytes] | None = None
) -> bytes:
    """`images` are shown in the text, by their content id."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.com", "b@example.com", "Facturas de enero"
    mail.set_content("Adjunto las facturas.")
    if html:
        mail.add_alternative(html, subtype="html")
    for content_id, content in (images or {}).items():
        body = mail.get_body(("html",))
        assert body is not None
        body.add_related(content, "image", "png", cid=f"<{content_id}>", filename=f"{content_id}.png")
    for name, content in attachments.items():
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return _settled(mail)


def make_png_header(width: int, height: int) -> bytes:
    """A PNG that promises more pixels than it has."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def make_looping_tiff() -> bytes:
    """Two directories, each naming the other as the next."""

    def directory(next_offset: int) -> bytes:
        tags = [
            (256, 3, 1, 8), (257, 3, 1, 8), (258, 3, 1, 1), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, 1, 8), (277, 3, 1, 1), (278, 3, 1, 8), (279, 4, 1, 8),
        ]  # fmt: skip
        rows = b"".join(struct.pack("<HHII", *tag) for tag in tags)
        return struct.pack("<H", len(tags)) + rows + struct.pack("<I", next_offset)

    first = 16
    second = first + len(directory(0))
    return b"II*\x00" + struct.pack("<I", first) + bytes(8) + directory(second) + directory(first)


def nest_zips(depth: int, core: dict[str, bytes]) -> bytes:
    content = make_zip(core)
    for level in range(depth - 1):
        content = make_zip({f"level{level}.zip": content})
    return content


def nest_mails(depth: int, core: dict[str, bytes]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@example.com", "Reenviado"
    mail.set_content("ver adjunto")
    for name, content in core.items():
        mail.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    for level in range(depth - 1):
        outer = EmailMessage()
        outer["From"], outer["Subject"] = "a@example.com", f"Reenviado {level}"
        outer.set_content("ver adjunto")
        outer.add_attachment(mail)
        mail = outer
    return _settled(mail)


def lock_zip(content: bytes, method: int | None = None) -> bytes:
    """Mark every member as encrypted: what is inside cannot be read without a password, or at all."""
    changed = bytearray(content)
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(signature)
        while place >= 0:
            changed[place + flags] |= 1
            if method is not None:
                changed[place + flags + 2 : place + flags + 4] = struct.pack("<H", method)
            place = changed.find(signature, place + 4)
    return bytes(changed)


@cache
def zip_bomb(megabytes: int = 300) -> bytes:
    return make_zip({"factura.pdf": b"%PDF-1.7\n" + bytes(megabytes * 1024**2)}, level=9)


@cache
def many_small_bombs() -> bytes:
    """Each member is below the size at which one alone is suspicious."""
    content = b"%PDF-1.7\n" + bytes(9 * 1024**2)
    return make_zip({f"{number}.pdf": content for number in range(20)}, level=9)


def endless_page_tree() -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>endobj\n"
        b"trailer<</Root 1 0 R/Size 3>>\n%%EOF"
    )


def many_headers() -> bytes:
    return b"From: a@example.com\r\nSubject: x\r\n" + b"X-A: b\r\n" * 200_000 + b"\r\nbody"


def deep_multipart(depth: int = 2000) -> bytes:
    lines = [b"From: a@example.com", b"Subject: x"]
    for level in range(depth):
        lines += [b"Content-Type: multipart/mixed; boundary=b%d" % level, b"", b"--b%d" % level]
    return b"\r\n".join(lines)


# --- mutations --------------------------------------------------------------------------------------------


def flip_bytes(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 3, 10, 40))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(1, len(content))]


def cut_out(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    return content[:start] + content[start + chance.randrange(1, 500) :]


def put_in(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    return content[:start] + chance.randbytes(chance.randrange(1, 200)) + content[start:]


MUTATIONS = (flip_bytes, cut, cut_out, put_in)

FIXED: dict[str, Callable[[], bytes]] = {
    "empty.pdf": lambda: b"",
    "one-byte.pdf": lambda: b"%",
    "only-header.pdf": lambda: b"%PDF-1.7\n",
    "random.bin": lambda: random.Random(1).randbytes(5000),
    "random.pdf": lambda: b"%PDF-1.7\n" + random.Random(2).randbytes(20_000),
    "text.txt": lambda: b"just some text",
    "program.exe": lambda: b"MZ" + random.Random(3).randbytes(3000),
    "pdf-as.jpg": make_pdf,
    "junk-before.pdf": lambda: b"\r\nHTTP/1.1 200 OK\r\n\r\n" + make_pdf(),
    "png-as.pdf": make_image,
    "locked.pdf": make_locked_pdf,
    "endless-tree.pdf": endless_page_tree,
    "vast-page.pdf": lambda: make_pdf(size=(1e6, 1e6)),
    "vast.png": lambda: make_png_header(60_000, 60_000),
    "no-pixels.png": lambda: make_png_header(0, 0),
    "looping.tiff": make_looping_tiff,
    "many-pages.tiff": lambda: make_tiff(300),
    "bomb.zip": zip_bomb,
    "bomb-in-zip.zip": lambda: make_zip({"inner.zip": zip_bomb()}),
    "small-bombs.zip": many_small_bombs,
    "slip.zip": lambda: make_zip(
        dict.fromkeys(["../../../../tmp/slipped.pdf", "/etc/slipped.pdf", "C:\\x\\y.pdf"], make_pdf())
    ),
    "names.zip": lambda: make_zip([("a" * 300 + ".pdf", make_pdf()), ("a\x07\u202eb.pdf", make_pdf())]),
    "deep.zip": lambda: nest_zips(50, {"a.pdf": make_pdf()}),
    "locked.zip": lambda: lock_zip(make_zip({"a.pdf": make_pdf()})),
    "aes.zip": lambda: lock_zip(make_zip({"a.pdf": make_pdf()}), method=99),
    "rare-method.zip": lambda: make_zip({"a.pdf": make_pdf()}).replace(b"\x08\x00", b"\x0e\x00"),
    "no-members.zip": lambda: make_zip({}),
    "many-members.zip": lambda: make_zip({f"{number}.pdf": b"%PDF-" for number in range(3000)}),
    "deep.eml": lambda: nest_mails(20, {"a.pdf": make_pdf()}),
    "many-headers.eml": many_headers,
    "deep-parts.eml": deep_multipart,
    "no-attachment.eml": lambda: make_mail({}),
    "broken-base64.eml": lambda: make_mail({"a.pdf": make_pdf()}).replace(b"JVBERi", b"!!!!%%"),
    "ole.msg": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + random.Random(4).randbytes(4096),
    "fake.docx": lambda: make_zip({"[Content_Types].xml": b"<x/>", "word/other.xml": b"<x/>"}),
    "fake.heic": lambda: b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(100),
    "vast.bmp": lambda: (
        b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, 2**31 - 1, 1, 1, 24, *[0] * 6)
    ),
}  # fmt: skip


@cache
def _originals() -> dict[str, bytes]:
    """Sound files, to be mutated."""
    return {
        "pdf": make_pdf(5),
        "locked.pdf": make_locked_pdf(),
        "tiff": make_tiff(4),
        "png": make_image("PNG", (60, 40)),
        "jpg": make_image("JPEG", (80, 60)),
        "webp": make_image("WEBP", (80, 60)),
        "gif": make_image("GIF", (60, 40)),
        "bmp": make_image("BMP", (40, 30)),
        "zip": make_zip({"a.pdf": make_pdf(), "b/c.png": make_image("PNG", (60, 40))}),
        "eml": make_mail({"a.pdf": make_pdf(), "b.png": make_image("PNG", (120, 120))}),
    }


def mutated(seed: int, suffixes: tuple[str, ...] = ()) -> Iterator[tuple[str, bytes]]:
    """Endless: names and contents of sound files with something broken."""
    chance = random.Random(seed)
    for number in count():
        suffix = chance.choice(suffixes or tuple(_originals()))
        mutation = chance.choice(MUTATIONS)
        yield f"{mutation.__name__}-{number:03}.{suffix}", mutation(_originals()[suffix], chance)


def hostile_files(total: int = 200, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """The fixed set first, then mutations of sound files; the same for the same seed."""
    fixed = ((name, make()) for name, make in FIXED.items())
    mutations = mutated(seed)
    yield from islice((*islice(fixed, total), *islice(mutations, max(0, total - len(FIXED)))), total)


def write_hostile_files(folder: Path, count: int = 200, seed: int = 1) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in hostile_files(count, seed):
        path = folder / name
        path.write_bytes(content)
        paths.append(path)
    return paths
