"""Make simd.wasm of simd.wat: `python -m tests.export.wasm_build`."""

from importlib.resources import files

WEB = files("craftmaps.export").joinpath("web")


def built():
    """Return the module that the text stands for, without names, which only debuggers read."""
    from wasmtime import wat2wasm

    content = bytes(wat2wasm(WEB.joinpath("simd.wat").read_text(encoding="utf-8")))
    kept, at = content[:8], 8
    while at < len(content):
        size, start = 0, at + 1
        for shift in range(0, 35, 7):
            byte = content[start]
            size |= (byte & 127) << shift
            start += 1
            if byte < 128:
                break
        if content[at] != 0:
            kept += content[at : start + size]
        at = start + size
    return kept


if __name__ == "__main__":
    with open(str(WEB.joinpath("simd.wasm")), "wb") as file:
        file.write(built())
