"""Pictures and sound together: the new pictures, and the sound of the film they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.audio.resampler import AudioResampler
from av.container import InputContainer, OutputContainer
from av.packet import Packet

from docproc.apps.video.film.opening import opened

# What browsers play from an MP4 file as it is; other sound becomes AAC.
COPIED = frozenset({"aac", "mp3", "mp3float", "opus", "libopus", "flac", "ac3", "eac3", "alac"})

# A packet, when it is to be played, and how it is written.
Timed = tuple[float, "Packet[Any]"]


def join(pictures: Path, film: Path, out: Path) -> str:
    """Write the film that begins to play before it is loaded whole; says what became of the sound:
    `copied`, `converted` or `none`.

    The sound's packets keep their times: pictures were written with times since the same beginning.
    """
    with ExitStack() as held:
        new = held.enter_context(opened(pictures))
        old = held.enter_context(opened(film))
        written = held.enter_context(av.open(str(out), "w", format="mp4", options={"movflags": "faststart"}))
        tracks = [_copied(new, new.streams.video[0], written, Fraction(0))]
        said = "none"
        if old.streams.audio:
            sound = old.streams.audio[0]
            start = Fraction(old.start_time or 0, av.time_base)
            codec = sound.codec_context.name if sound.codec_context else ""
            said = "copied" if codec in COPIED else "converted"
            track: Callable[..., Iterator[Timed]] = _copied if said == "copied" else _converted
            tracks.append(track(old, sound, written, start))
        for packet in _interleaved(tracks):
            written.mux(packet)
    return said


def _copied(source: InputContainer, stream: Any, out: OutputContainer, start: Fraction) -> Iterator[Timed]:
    """The track's packets as they are. Made before the first is read: all tracks are known by then."""
    target = out.add_stream_from_template(stream)
    tick = stream.time_base
    shift = round(start / tick)

    def packets() -> Iterator[Timed]:
        try:
            for packet in source.demux(stream):
                if packet.dts is None:
                    continue
                packet.dts -= shift
                if packet.pts is not None:
                    packet.pts -= shift
                packet.stream = target
                yield float(packet.dts * tick), packet
        except av.FFmpegError:
            return  # a file that breaks off has sound up to there

    return packets()


def _converted(source: InputContainer, stream: Any, out: OutputContainer, start: Fraction) -> Iterator[Timed]:
    rate = stream.rate if stream.rate in (44100, 48000, 32000, 24000, 22050, 16000) else 48000
    layout = "mono" if stream.channels == 1 else "stereo"
    target: Any = out.add_stream("aac", rate=rate, layout=layout)
    resampler = AudioResampler(format="fltp", layout=layout, rate=rate, frame_size=1024)

    def packets() -> Iterator[Timed]:
        try:
            for frame in source.decode(stream):
                yield from encoded(frame)
        except av.FFmpegError:
            pass  # as above
        yield from encoded(None)
        yield from timed(target.encode(None))

    def encoded(frame: Any) -> Iterator[Timed]:
        if frame is not None and frame.pts is not None:
            frame.pts -= round(start / frame.time_base)
        for piece in resampler.resample(frame):
            yield from timed(target.encode(piece))

    def timed(found: list[Packet[Any]]) -> Iterator[Timed]:
        for packet in found:
            yield float((packet.dts or 0) * packet.time_base), packet

    return packets()


def _interleaved(tracks: list[Iterator[Timed]]) -> Iterator[Packet[Any]]:
    """In the order of time, so that nothing has to be held back until the other track catches up."""
    waiting = [(first, track) for track in tracks if (first := next(track, None)) is not None]
    while waiting:
        first, track = min(waiting, key=lambda one: one[0][0])
        waiting.remove((first, track))
        yield first[1]
        if (following := next(track, None)) is not None:
            waiting.append((following, track))
