"""Files of this library taken apart, and put together again with other contents."""

import json
import zlib
from dataclasses import dataclass
from typing import Any


@dataclass
class Container:
    """A safetensors file: the text of our header, our checksum, and arrays as (type, shape, bytes)."""

    text: str
    checksum: str | None
    arrays: dict[str, tuple[str, list[int], bytes]]

    @classmethod
    def unpack(cls, content: bytes) -> "Container":
        """Take a good file apart."""
        size = int.from_bytes(content[:8], "little")
        entries = json.loads(content[8 : 8 + size])
        metadata, data = entries.pop("__metadata__"), content[8 + size :]
        arrays = {
            name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in entries.items()
        }
        return cls(metadata["craftmaps"], metadata.get("checksum"), arrays)

    def pack(self) -> bytes:
        """Return the file."""
        metadata = {"craftmaps": self.text} | ({} if self.checksum is None else {"checksum": self.checksum})
        entries: dict[str, Any] = {"__metadata__": metadata}
        start = 0
        for name, (dtype, shape, data) in self.arrays.items():
            entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + len(data)]}
            start += len(data)
        head = json.dumps(entries).encode()
        head += b" " * (-len(head) % 8)
        return len(head).to_bytes(8, "little") + head + b"".join(data for _, _, data in self.arrays.values())

    def seal(self) -> None:
        """Compute the checksum again, as whoever changes a file on purpose would; files of before stay without."""
        if self.checksum is None:
            return
        types = {"BOOL": "|b1", "I8": "|i1", "U8": "|u1"}
        value = zlib.crc32(self.text.encode("utf-8", "surrogatepass"))
        for name in sorted(self.arrays):
            dtype, shape, data = self.arrays[name]
            numpy_type = types.get(dtype, f"<{dtype[0].lower()}{int(dtype[1:]) // 8}" if dtype[1:].isdigit() else dtype)
            value = zlib.crc32(f"{name} {numpy_type} {tuple(shape)}".encode("utf-8", "surrogatepass"), value)
            value = zlib.crc32(data, value)
        self.checksum = f"{value:08x}"
