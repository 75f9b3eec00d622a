"""Encode frames into a file: with PyAV, with ffmpeg, or as a self-contained page.

Each frame has its own time. This variable rate needs a ninth of the size and a twelfth of the work of a fixed rate.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from reenact.browser.video import matroska
from reenact.browser.video.captions import Chapter
from reenact.errors import RecordingError

if TYPE_CHECKING:
    from reenact.browser.video.overlays import Planes

QUALITY = "28"
"""x264's constant rate factor; at this value text stays sharp."""

PRESET = "veryfast"

BETWEEN = "120"
"""Frames between two key frames.

A seek decodes at most this many, and together they are as large as one key frame.
"""

# JPEG's colour matrix is kept and declared, because converting it would take longer than encoding.
_MATRIX = 6
_LIMITED = 1


class VideoEncoder(Protocol):
    """Writes frames, given in the order of time, into a file."""

    def add(self, ms: int, planes: Planes) -> None:
        """Add a frame that is shown from that millisecond on."""

    def close(self, ms: int) -> None:
        """Set the end of the last frame and complete the file."""

    def abandon(self) -> None:
        """Stop; the written part is of no use."""


class PyAvEncoder:
    """H.264 in MP4, in this process."""

    def __init__(self, path: Path, size: tuple[int, int], title: str, chapters: Sequence[Chapter]) -> None:
        import av  # noqa: PLC0415 - an optional package

        self._av = av
        options = {"movflags": "+faststart", "video_track_timescale": "1000"}
        self._container = av.open(str(path), "w", format="mp4", options=options)
        self._container.metadata["title"] = title
        settings = {"preset": PRESET, "crf": QUALITY, "g": BETWEEN, "bf": "0"}
        stream = self._container.add_stream("libx264", rate=30, options=settings)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        stream.time_base = context.time_base = Fraction(1, 1000)
        context.colorspace, context.color_range = _MATRIX, _LIMITED
        context.color_primaries, context.color_trc = 1, 1
        self._stream = stream
        self._size = size
        self._last: tuple[int, Planes] | None = None
        if chapters:
            self._container.set_chapters([
                {
                    "id": number, "start": one.ms, "end": one.until, "time_base": Fraction(1, 1000),
                    "metadata": {"title": one.title},
                }
                for number, one in enumerate(chapters)
            ])  # fmt: skip

    def add(self, ms: int, planes: Planes) -> None:
        """Add a frame that is shown from that millisecond on."""
        self._encode(ms, planes)
        self._last = (ms, planes)

    def close(self, ms: int) -> None:
        """Set the end of the last frame and complete the file."""
        if self._last is not None and self._last[0] < ms - 1:
            # Repeat the last frame, because players stop at the beginning of the last frame.
            self._encode(ms - 1, self._last[1])
        for packet in self._stream.encode(None):
            if packet.pts == ms - 1:
                packet.duration = 1
            self._container.mux(packet)
        self._container.close()

    def abandon(self) -> None:
        """Stop; the written part is of no use."""
        try:
            self._container.close()
        except Exception:
            return

    def _encode(self, ms: int, planes: Planes) -> None:
        frame = self._av.VideoFrame(*self._size, "yuv420p")
        for plane, image in zip(frame.planes, (planes.y, planes.u, planes.v), strict=True):
            plane.update(image.tobytes("raw", "L", plane.line_size, 1))
        frame.pts, frame.time_base = ms, Fraction(1, 1000)
        for packet in self._stream.encode(frame):
            self._container.mux(packet)


class FfmpegEncoder:
    """H.264 in MP4, by an ffmpeg process that receives raw frames with their times."""

    def __init__(self, path: Path, size: tuple[int, int], title: str, chapters: Sequence[Chapter]) -> None:
        program = ffmpeg()
        assert program is not None
        self._size = size
        self._place = tempfile.TemporaryDirectory(prefix="reenact-")
        self._said = Path(self._place.name, "said.txt")
        facts = Path(self._place.name, "facts.txt")
        facts.write_text(_facts(title, chapters), encoding="utf-8")
        command = [
            program, "-hide_banner", "-loglevel", "error", "-y", "-f", "matroska", "-i", "pipe:0",
            "-f", "ffmetadata", "-i", str(facts), "-map", "0:v", "-map_metadata", "1", "-map_chapters", "1",
            "-c:v", "libx264", "-preset", PRESET, "-crf", QUALITY, "-g", BETWEEN, "-bf", "0", "-pix_fmt", "yuv420p",
            "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-video_track_timescale", "1000",
            "-colorspace", "smpte170m", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
            "-movflags", "+faststart", "-f", "mp4", str(path),
        ]  # fmt: skip
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(  # noqa: S603 - the user's ffmpeg, with arguments of our own
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
            )
        assert self._process.stdin is not None
        self._pipe: IO[bytes] = self._process.stdin
        self._last: tuple[int, Planes] | None = None
        self._write(matroska.head(*size))

    def add(self, ms: int, planes: Planes) -> None:
        """Add a frame that is shown from that millisecond on."""
        self._write(matroska.frame(ms, b"".join(one.tobytes() for one in (planes.y, planes.u, planes.v))))
        self._last = (ms, planes)

    def close(self, ms: int) -> None:
        """Set the end of the last frame and complete the file."""
        if self._last is not None and self._last[0] < ms - 1:
            self.add(ms - 1, self._last[1])
        try:
            self._pipe.close()
        except OSError:
            self._fail()
        if self._process.wait():
            self._fail()
        self._place.cleanup()

    def abandon(self) -> None:
        """Stop; the written part is of no use."""
        self._process.kill()
        try:
            self._pipe.close()
        except OSError:
            pass
        self._process.wait()
        self._place.cleanup()

    def _write(self, data: bytes) -> None:
        try:
            self._pipe.write(data)
        except OSError:
            self._fail()

    def _fail(self) -> None:
        self._process.kill()
        self._process.wait()
        words = self._said.read_text("utf-8", "replace").strip().splitlines()
        raise RecordingError(
            f"ffmpeg could not encode the video: {words[-1] if words else 'it said nothing'}"
        )


def pyav() -> bool:
    """Return True if PyAV is installed with an H.264 encoder."""
    if find_spec("av") is None:
        return False
    try:
        import av  # noqa: PLC0415 - an optional package

        return "libx264" in av.codecs_available
    except ImportError:
        return False


@lru_cache(maxsize=1)
def ffmpeg() -> str | None:
    """Return an ffmpeg that encodes H.264: from PATH, or from the package imageio-ffmpeg."""
    return next(
        (program for find in (_on_path, _in_package) if (program := find()) and _encodes(program)), None
    )


def _on_path() -> str | None:
    return shutil.which("ffmpeg")


def _in_package() -> str | None:
    if find_spec("imageio_ffmpeg") is None:
        return None
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return None


def _encodes(program: str) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - the user's ffmpeg
            [program, "-hide_banner", "-encoders"], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b" libx264 " in done.stdout


def _facts(title: str, chapters: Sequence[Chapter]) -> str:
    lines = [";FFMETADATA1", f"title={_escaped(title)}"]
    for one in chapters:
        lines += ["[CHAPTER]", "TIMEBASE=1/1000", f"START={one.ms}", f"END={one.until}"]
        lines.append(f"title={_escaped(one.title)}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return "".join(f"\\{one}" if one in "=;#\\\n" else one for one in text)
