"""Pictures of charts: they stay small, and every pixel stays."""

from __future__ import annotations

import struct
import zlib

from harness_nb.frames.charts import packed

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def test_a_picture_is_packed_again_with_the_same_pixels_and_chunks() -> None:
    head = struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)  # 64 by 64, greys
    pixels = bytes(64 * 65)  # a filter byte, and 64 black pixels, a row
    loose = zlib.compress(pixels, 0)
    picture = SIGNATURE + chunk(b"IHDR", head) + chunk(b"pHYs", bytes(9))
    picture += chunk(b"IDAT", loose[:100]) + chunk(b"IDAT", loose[100:]) + chunk(b"IEND", b"")
    close = chunk(b"IDAT", zlib.compress(pixels, 9))
    assert packed(picture) == SIGNATURE + chunk(b"IHDR", head) + chunk(b"pHYs", bytes(9)) + close + chunk(b"IEND", b"")
