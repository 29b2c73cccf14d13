"""Grey pictures as PNG in a data address, so that a page can hold them."""

import base64
import struct
import zlib
from collections.abc import Sequence


def png(shades: Sequence[Sequence[int]]) -> str:
    """Return shades from 0 to 255, row by row, as the address of a picture."""
    height, width = len(shades), len(shades[0])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits of grey, nothing else
    lines = b"".join(b"\0" + bytes(row) for row in shades)  # a zero before each line: not filtered
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
