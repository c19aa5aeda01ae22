"""Carry the sound of one file over into another, alongside the pictures as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.packet import Packet

from sightline.files.video_read import open_container

#: What players expect to find in an MP4 or MOV file. Everything else is turned into AAC there.
_MP4_CODECS = frozenset({"aac", "mp3", "ac3", "eac3", "alac", "opus"})

_AAC_RATES = frozenset({8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000})

#: By number of channels: raw sound often names no layout, and an encoder wants one.
_LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}


class AudioTrack:
    """The first sound track of `source`, given packet by packet to `target`; none if it has none.

    Copied as it is where the container can hold the codec, else turned into AAC. Sound before the
    first picture and after the last is cut off, so that both stay in step.

    Args:
        source: file to take the sound from; its times count from its first picture.
        target: container, before anything was written to it.
    """

    def __init__(self, source: str | Path, target: OutputContainer) -> None:
        self._target = target
        self._input = open_container(Path(source))
        self._packets: Iterator[Packet[AudioStream]] = iter(())
        self._waiting: Packet[AudioStream] | None = None
        self._start = _start(self._input)
        if not self._input.streams.audio:
            return
        stream = self._input.streams.audio[0]
        self._copies = _can_hold(target, stream.codec_context.name)
        if self._copies:
            self._stream: AudioStream = target.add_stream_from_template(stream)
        else:
            rate = stream.rate if stream.rate in _AAC_RATES else 48000
            layout = _LAYOUTS.get(stream.layout.nb_channels, "stereo")
            self._stream = target.add_stream("aac", rate=rate, layout=layout)
        self._packets = self._input.demux(stream)

    def close(self) -> None:
        """Give the source back."""
        self._input.close()

    def write_until(self, time: Fraction) -> None:
        """Write all sound that begins before `time`, in [s] since the first picture."""
        while True:
            packet = self._waiting or self._next()
            self._waiting = None
            if packet is None:
                return
            if packet.pts is None or packet.time_base is None:
                continue
            begins = packet.pts * packet.time_base - self._start
            if begins < 0:
                continue
            if begins >= time:
                self._waiting = packet
                return
            self._write(packet)

    def finish(self, time: Fraction) -> None:
        """Write the rest up to `time`, and what an encoder still holds."""
        self.write_until(time)
        if self._input.streams.audio and not self._copies:
            self._target.mux(self._stream.encode(None))

    def _next(self) -> Packet[AudioStream] | None:
        try:
            return next(self._packets, None)
        except av.FFmpegError:  # the sound breaks off; the pictures go on
            return None

    def _write(self, packet: Packet[AudioStream]) -> None:
        base = packet.time_base
        shift = round(self._start / base)
        if self._copies:
            packet.pts = None if packet.pts is None else packet.pts - shift
            packet.dts = None if packet.dts is None else packet.dts - shift
            packet.stream = self._stream
            self._target.mux(packet)
            return
        try:
            frames = packet.decode()
        except av.FFmpegError:  # a damaged packet is a short silence
            return
        for frame in frames:
            if isinstance(frame, av.AudioFrame):
                if frame.pts is not None:
                    frame.pts -= shift
                self._target.mux(self._stream.encode(frame))


def _can_hold(target: OutputContainer, codec: str) -> bool:
    if target.format.name in ("mp4", "mov"):
        return codec in _MP4_CODECS
    return codec in target.supported_codecs


def _start(container: InputContainer) -> Fraction:
    """When the first picture is shown, in [s] on the container's clock."""
    for stream in container.streams.video:
        if stream.start_time is not None and stream.time_base is not None:
            return stream.start_time * stream.time_base
    return Fraction(0)
