"""Encode raw frames with their times as uncompressed Matroska, as ffmpeg's input.

A pipe of raw frames has no times, and a fixed rate would need many times the frames.
"""

from __future__ import annotations

_UNKNOWN = b"\x01\xff\xff\xff\xff\xff\xff\xff"


def head(width: int, height: int) -> bytes:
    """Return the stream's header for planar YCbCr of that size; one tick is a millisecond."""
    video = _number(0xB0, width) + _number(0xBA, height) + _element(0x2EB524, b"I420")
    track = (
        _number(0xD7, 1) + _number(0x73C5, 1) + _number(0x83, 1) + _number(0x9C, 0)
        + _element(0x86, b"V_UNCOMPRESSED") + _element(0xE0, video)
    )  # fmt: skip
    opening = (
        _number(0x4286, 1) + _number(0x42F7, 1) + _number(0x42F2, 4) + _number(0x42F3, 8)
        + _element(0x4282, b"matroska") + _number(0x4287, 4) + _number(0x4285, 2)
    )  # fmt: skip
    info = _number(0x2AD7B1, 1_000_000) + _element(0x4D80, b"reenact") + _element(0x5741, b"reenact")
    segment = _id(0x18538067) + _UNKNOWN
    return (
        _element(0x1A45DFA3, opening) + segment
        + _element(0x1549A966, info) + _element(0x1654AE6B, _element(0xAE, track))
    )  # fmt: skip


def frame(ms: int, data: bytes) -> bytes:
    """Return one frame at its millisecond, in its own cluster."""
    block = _element(0xA3, b"\x81\x00\x00\x80" + data)
    return _element(0x1F43B675, _number(0xE7, ms) + block)


def _id(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _element(id: int, data: bytes) -> bytes:
    return _id(id) + (len(data) | 1 << 56).to_bytes(8, "big") + data


def _number(id: int, value: int) -> bytes:
    return _element(id, value.to_bytes(max((value.bit_length() + 7) // 8, 1), "big"))
