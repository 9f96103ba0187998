"""What happens to paper on its way into a computer: scanners, telephones, fax machines, stamps and pens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import reportlab
from PIL import Image, ImageDraw, ImageFilter, ImageFont

MOST_SKEW_DEGREES = 1.5
TURNED_SHARE = 0.05  # pages fed sideways or upside down
MARKED_SHARE = 0.18  # pages with a stamp or a pen's marks
NARROW = 0.55  # width by height: below it, paper from a till
STAMP_FACE = Path(reportlab.__file__).parent / "fonts" / "VeraBd.ttf"
STAMPS = ("PAGADO", "RECIBIDO", "CONTABILIZADO", "COPIA", "PAID", "RECEIVED", "ENTRADA")

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Effect = Callable[[Image.Image, Random], Image.Image]


def spoil(image: Image.Image, random: Random) -> Image.Image:
    """One page as it arrives; a person still reads it with ease."""
    if random.random() < MARKED_SHARE:
        image = marked(image, random)
    narrow = image.width < NARROW * image.height or image.width < 700
    effects: tuple[Effect, ...] = (flatbed, flatbed, flatbed, photographed, photographed, faxed)
    if narrow:
        effects = (flatbed, photographed, photographed, thermal, thermal)
    spoilt = random.choice(effects)(image, random)
    if random.random() < TURNED_SHARE:
        spoilt = spoilt.rotate(random.choice((90, 180, 270)), expand=True)
    return spoilt


def flatbed(image: Image.Image, random: Random) -> Image.Image:
    """Askew, a little blurred, unevenly lit, with noise and specks."""
    paper = random.randint(236, 250)
    skew = random.uniform(-MOST_SKEW_DEGREES, MOST_SKEW_DEGREES)
    fill = paper if image.mode == "L" else (paper, paper, paper - 6)
    image = image.rotate(skew, Image.Resampling.BICUBIC, fillcolor=fill)
    image = image.filter(ImageFilter.GaussianBlur(random.uniform(0.25, 0.85)))
    pixels = _pixels(image)
    height, width = pixels.shape[:2]
    ink, light = random.uniform(10, 45), random.uniform(0.93, 1.0)
    pixels = ink + pixels * ((255 - ink) / 255 * light)
    pixels *= _light(height, width, random)[:, :, None]
    chance = np.random.default_rng(random.getrandbits(64))
    specks = int(height * width * random.uniform(0, 0.00006))
    pixels[chance.integers(0, height, specks), chance.integers(0, width, specks)] = random.uniform(60, 130)
    return _noisy(pixels, chance, random.uniform(2, 7))


def photographed(image: Image.Image, random: Random) -> Image.Image:
    """On a table, from an angle, in warm light, with a soft shadow."""
    margin = int(min(image.size) * random.uniform(0.02, 0.07))
    table = random.choice(((120, 96, 74), (70, 72, 78), (188, 182, 172), (150, 140, 128)))
    fill = table if image.mode == "RGB" else (table[1],)
    size = (image.width + 2 * margin, image.height + 2 * margin)
    wide = Image.new(image.mode, size, fill if len(fill) == 3 else fill[0])
    wide.paste(image, (margin, margin))
    wide = _tilted(wide, random, fill).filter(ImageFilter.GaussianBlur(random.uniform(0.3, 0.8)))
    pixels = _pixels(wide)
    ink = random.uniform(8, 36)
    pixels *= (245 - ink) / 255
    pixels += ink
    if image.mode == "RGB":
        pixels *= np.array([1.0, random.uniform(0.95, 1.0), random.uniform(0.86, 0.98)], dtype=np.float32)
    pixels *= _shadow(pixels.shape[0], pixels.shape[1], random)[:, :, None]
    return _noisy(pixels, np.random.default_rng(random.getrandbits(64)), random.uniform(2, 6))


def faxed(image: Image.Image, random: Random) -> Image.Image:
    """Black and white only, slightly thickened or thinned."""
    image = image.convert("L").rotate(random.uniform(-0.8, 0.8), Image.Resampling.BICUBIC, fillcolor=255)
    pixels = _pixels(image.filter(ImageFilter.GaussianBlur(0.6)))
    chance = np.random.default_rng(random.getrandbits(64))
    pixels += chance.standard_normal(pixels.shape, dtype=np.float32) * 9
    bilevel = np.where(pixels > random.uniform(185, 222), 255, 0).astype(np.uint8)
    return Image.fromarray(bilevel.squeeze())


def thermal(image: Image.Image, random: Random) -> Image.Image:
    """Faded print on greyish paper, paler in stripes where the head is worn."""
    pixels = _pixels(image.convert("L").filter(ImageFilter.GaussianBlur(random.uniform(0.3, 0.7))))
    height, width = pixels.shape[:2]
    paper, ink = random.uniform(205, 235), random.uniform(70, 115)
    chance = np.random.default_rng(random.getrandbits(64))
    worn = np.zeros((1, width, 1), dtype=np.float32)
    for _ in range(random.randint(0, 3)):
        at = random.randrange(width)
        worn[:, at : at + random.randint(2, 5)] = 0.35
    faded = np.linspace(0, random.uniform(0, 0.2), height, dtype=np.float32)[:, None, None]
    strength = (1 - pixels / 255) * (1 - np.clip(worn + faded, 0, 0.5))
    return _noisy(paper - strength * (paper - ink), chance, random.uniform(2, 6))


def marked(image: Image.Image, random: Random) -> Image.Image:
    """A rubber stamp or a pen's ticks and strokes over the page."""
    layer = Image.new("RGBA", image.size, (255, 255, 255, 0))
    ink = random.choice(((40, 60, 150), (170, 35, 45), (30, 30, 60)))
    if random.random() < 0.6:
        _stamp(layer, random, ink)
    else:
        _strokes(layer, random, ink)
    return Image.alpha_composite(image.convert("RGBA"), layer).convert(image.mode)


# --- parts


def _pixels(image: Image.Image) -> Pixels:
    return np.atleast_3d(np.asarray(image, dtype=np.float32)).copy()


def _noisy(pixels: Pixels, chance: np.random.Generator, strength: float) -> Image.Image:
    height, width = pixels.shape[:2]
    pixels += chance.standard_normal((height, width, 1), dtype=np.float32) * np.float32(strength)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8).squeeze())


def _light(height: int, width: int, random: Random) -> Pixels:
    """Brightness that falls off to one side, and a shadow along one edge as of an open lid."""
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    light = 1 - random.uniform(0, 0.06) * (1 + across * random.choice((-1, 1))) / 2
    light = light - random.uniform(0, 0.05) * (1 + down * random.choice((-1, 1))) / 2
    if random.random() < 0.4:
        light = light - 0.35 * np.exp(-(1 + across) * random.uniform(60, 160))
    return light.astype(np.float32)


def _shadow(height: int, width: int, random: Random) -> Pixels:
    """A hand's or telephone's soft shadow from one corner."""
    across = np.linspace(0, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    across = 1 - across if random.random() < 0.5 else across
    down = 1 - down if random.random() < 0.5 else down
    edge = random.uniform(0.5, 1.3)
    dark = 1 / (1 + np.exp((across + down * random.uniform(0.4, 1.2) - edge) * random.uniform(6, 14)))
    return (1 - random.uniform(0.05, 0.28) * dark).astype(np.float32)


def _tilted(image: Image.Image, random: Random, fill: tuple[int, ...]) -> Image.Image:
    """Seen from an angle: every corner is moved a little."""
    width, height = image.size
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    most = 0.022
    seen = [
        (x + random.uniform(-most, most) * width, y + random.uniform(-most, most) * height)
        for x, y in corners
    ]
    rows, wanted = [], []
    for (x, y), (u, v) in zip(corners, seen, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        wanted += [u, v]
    solved = np.linalg.solve(np.array(rows, dtype=float), np.array(wanted, dtype=float))
    return image.transform(
        image.size,
        Image.Transform.PERSPECTIVE,
        [float(value) for value in solved],
        Image.Resampling.BICUBIC,
        fillcolor=fill if len(fill) == 3 else fill[0],
    )


def _stamp(layer: Image.Image, random: Random, ink: tuple[int, int, int]) -> None:
    """In the lower half, askew and not quite opaque."""
    size = max(16, layer.width // 26)
    face = ImageFont.truetype(str(STAMP_FACE), size)
    words = random.choice(STAMPS)
    wide = int(face.getlength(words)) + size
    stamp = Image.new("RGBA", (wide, size * 2), (255, 255, 255, 0))
    drawing = ImageDraw.Draw(stamp)
    color = (*ink, random.randint(110, 165))
    drawing.rounded_rectangle(
        (2, 2, wide - 3, size * 2 - 3), size // 3, outline=color, width=max(2, size // 10)
    )
    drawing.text((size // 2, size * 0.38), words, font=face, fill=color)
    stamp = stamp.rotate(random.uniform(-22, 22), Image.Resampling.BICUBIC, expand=True)
    x = random.randint(0, max(0, layer.width - stamp.width))
    y = random.randint(layer.height // 2, max(layer.height // 2, layer.height - stamp.height))
    layer.alpha_composite(stamp, (x, y))


def _strokes(layer: Image.Image, random: Random, ink: tuple[int, int, int]) -> None:
    """Scribbles in the margin, ticks, a line under something."""
    drawing = ImageDraw.Draw(layer)
    thick = max(2, layer.width // 500)
    for _ in range(random.randint(1, 4)):
        x, y = random.uniform(0.05, 0.85) * layer.width, random.uniform(0.1, 0.95) * layer.height
        points = [(x, y)]
        for _ in range(random.randint(3, 9)):
            x += random.uniform(0.005, 0.025) * layer.width
            points.append((x, y + random.uniform(-0.012, 0.012) * layer.height))
        drawing.line(points, fill=(*ink, 170), width=thick, joint="curve")
