"""Greyscale PNG pictures as data URLs, which a page can embed."""

import base64
import struct
import zlib
from collections.abc import Sequence


def png(shades: Sequence[Sequence[int]]) -> str:
    """Return the data URL of a picture, from its shades of 0 to 255, row by row."""
    height, width = len(shades), len(shades[0])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8-bit greyscale
    lines = b"".join(b"\0" + bytes(row) for row in shades)  # each line begins with its filter: none
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
