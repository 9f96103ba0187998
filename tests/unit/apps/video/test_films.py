"""Films keep their times, their sound and their size; what is no film is refused."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from docproc.apps.video.errors import VideoError
from docproc.apps.video.film.apart import TakenApart
from docproc.apps.video.film.info import Limits
from docproc.apps.video.film.reading import probe, read_frames
from docproc.apps.video.film.sound import join
from docproc.apps.video.film.writing import CODECS, FilmWriter, codec_named
from docproc.apps.video.frames.files import Originals
from tests.films import Look, clicks, decoded, draw, number_of

LIMITS = Limits(seconds=600, pixels=1 << 24)


def rewrite(film: Path, folder: Path, codec: str = "h264") -> tuple[Path, str]:
    """Every frame through reader and writer, unchanged."""
    info = probe(film)
    with FilmWriter(folder / "pictures.mp4", info, (info.width, info.height), codec) as writer:
        for when, image in read_frames(film, info):
            writer.write(image, when)
    said = join(folder / "pictures.mp4", film, folder / "out.mp4")
    return folder / "out.mp4", said


@pytest.mark.parametrize("codec", sorted(CODECS))
def test_variable_frame_rate_is_kept(codec: str, tmp_path: Path) -> None:
    times = draw(tmp_path / "film.mp4", Look(frames=40, variable=True))
    out, _ = rewrite(tmp_path / "film.mp4", tmp_path, codec)
    found = decoded(out)
    assert [number_of(image) for _, image in found] == list(range(40))
    assert [when.seconds for when, _ in found] == pytest.approx(times, abs=1e-4)
    # How long the last frame is shown is a matter of its codec's order.
    assert probe(out).seconds == pytest.approx(probe(tmp_path / "film.mp4").seconds, abs=0.07)


def test_odd_frame_rate_stays_odd(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=30, fps=30000 / 1001))
    out, _ = rewrite(tmp_path / "film.mp4", tmp_path)
    assert probe(out).fps == pytest.approx(30000 / 1001, abs=0.01)


@pytest.mark.parametrize(("sound", "said"), [("aac", "copied"), ("mp3", "copied"), (None, "none")])
def test_sound_is_copied(sound: str | None, said: str, tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=75, sound=sound))
    out, found = rewrite(tmp_path / "film.mp4", tmp_path)
    assert found == said
    if sound:
        assert (
            clicks(out) == pytest.approx(clicks(tmp_path / "film.mp4"), abs=0.001) and len(clicks(out)) == 3
        )


def test_sound_that_browsers_do_not_play_is_converted(tmp_path: Path) -> None:
    draw(tmp_path / "film.mkv", Look(frames=75, sound="pcm_s16le"))
    out, said = rewrite(tmp_path / "film.mkv", tmp_path)
    assert said == "converted" and probe(out).audio_codec == "aac"
    assert clicks(out) == pytest.approx(clicks(tmp_path / "film.mkv"), abs=0.05)


def test_pictures_that_begin_after_the_sound_stay_late(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=30, late=0.5))
    out, _ = rewrite(tmp_path / "film.mp4", tmp_path)
    assert decoded(out)[0][0].seconds == pytest.approx(0.5, abs=0.03)
    assert clicks(out) == pytest.approx(clicks(tmp_path / "film.mp4"), abs=0.03)


@pytest.mark.parametrize("rotation", [90, 180, -90])
def test_films_are_turned_upright(rotation: int, tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=3, rotation=rotation))
    info = probe(tmp_path / "film.mp4")
    sideways = rotation in (90, -90)
    assert (info.width, info.height) == ((180, 320) if sideways else (320, 180))
    _, image = decoded(tmp_path / "film.mp4")[2]
    straight = np.rot90(image, -rotation // 90)
    assert number_of(np.ascontiguousarray(straight)) == 2
    out, _ = rewrite(tmp_path / "film.mp4", tmp_path)
    assert probe(out).rotation == 0 and (probe(out).width, probe(out).height) == (info.width, info.height)


def test_odd_sizes_are_made_even(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=3))
    info = probe(tmp_path / "film.mp4")
    with FilmWriter(tmp_path / "odd.mp4", info, (161, 91)) as writer:
        for when, image in read_frames(tmp_path / "film.mp4", info):
            writer.write(image[:91, :161], when)
    assert decoded(tmp_path / "odd.mp4")[0][1].shape == (92, 162, 3)


def test_broken_off_writing_leaves_nothing(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=3))
    info = probe(tmp_path / "film.mp4")
    with pytest.raises(RuntimeError), FilmWriter(tmp_path / "out.mp4", info, (320, 180)):
        raise RuntimeError
    assert not (tmp_path / "out.mp4").exists()


def test_index_stands_before_the_pictures(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=10))
    out, _ = rewrite(tmp_path / "film.mp4", tmp_path)
    content = out.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no film",
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
    ],
)
def test_what_is_no_film_is_refused(content: bytes, tmp_path: Path) -> None:
    """Playlists, too: they would make the reader open other files."""
    (tmp_path / "film").write_bytes(content)
    with pytest.raises(VideoError) as refused:
        probe(tmp_path / "film")
    assert refused.value.code == "corrupt_video"


def test_playlist_is_not_followed(tmp_path: Path) -> None:
    draw(tmp_path / "secret.ts", Look(frames=5, sound=None))
    (tmp_path / "film").write_text(
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.ts\n#EXT-X-ENDLIST\n"
    )
    with av.open(str(tmp_path / "film"), format="hls") as open_to_anything:
        assert open_to_anything.streams.video, "else this shows nothing"
    with pytest.raises(VideoError):
        probe(tmp_path / "film")


def test_unknown_codec_is_refused() -> None:
    assert codec_named("H265") == "hevc"
    with pytest.raises(VideoError, match="h264"):
        codec_named("divx")


# --- in a process of its own ------------------------------------------------------------------------------


def test_frames_are_written_as_far_as_there_is_room(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=12))
    (tmp_path / "originals").mkdir()
    apart = TakenApart(tmp_path / "film.mp4", tmp_path / "originals", LIMITS, 8192)
    try:
        assert apart.info().frames == 12
        apart.begin([1])
        apart.allow(3)
        assert [one.index for one in (apart.next() for _ in range(3)) if one] == [0, 1, 2]
        names = sorted(path.name for path in (tmp_path / "originals").iterdir())
        assert names == ["frame_000000.bmp", "frame_000002.bmp"], "the second one nobody needs"
        assert number_of(Originals(tmp_path / "originals").read(2)) == 2  # type: ignore[arg-type] # 8 bits
        apart.allow(100)
        rest = []
        while (when := apart.next()) is not None:
            rest.append(when.index)
        assert rest == list(range(3, 12))
    finally:
        apart.close()


def test_limits_hold_before_a_frame_is_decoded(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=30))
    for limits, code in ((Limits(0.5, 1 << 24), "film_too_long"), (Limits(60, 1000), "resolution_too_large")):
        apart = TakenApart(tmp_path / "film.mp4", tmp_path, limits, 8192)
        with pytest.raises(VideoError) as refused:
            apart.info()
        assert refused.value.code == code
        apart.close()


def test_death_of_the_decoder_is_an_error_of_the_film(tmp_path: Path) -> None:
    draw(tmp_path / "film.mp4", Look(frames=30))
    apart = TakenApart(tmp_path / "film.mp4", tmp_path, LIMITS, 8192)
    apart.info()
    apart._process.kill()
    apart.begin([])
    with pytest.raises(VideoError, match="its reader died"):
        apart.next()
    apart.close()
