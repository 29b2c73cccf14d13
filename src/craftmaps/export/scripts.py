"""JavaScript and WebAssembly that predict, put together for one model."""

import base64
import re
from collections.abc import Iterator
from importlib.resources import files

from craftmaps.export.portable import Recipe

_FEATURES = {
    "rows": ["rows.js"],
    "maclaurin": ["maclaurin.js", "simd.js"],
    "tensorsketch": ["tensorsketch.js"],
    "landmarks": ["landmarks.js"],
}
_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<space>\s+)"""
    r"""|(?P<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?P<word>[\w$]+)|(?P<mark>\+\+|--|=>|[^'"`])"""
)
# What a slash begins a regular expression after, and not a division.
_BEFORE_PATTERN = (*"(,=:[!&|?{};", "=>", "return")
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n])+/[a-z]*")


def web_file(name: str) -> str:
    """Return a file of the page."""
    return files("craftmaps.export").joinpath("web", name).read_text(encoding="utf-8")


def predictor_script(recipe: Recipe) -> str:
    """Return the functions that predict with a model: no more than it needs."""
    has_words = recipe.classes is not None and recipe.classes.decoding is not None
    is_drawn = "seed" in recipe.features or recipe.down is not None or recipe.columns is not None
    names = [
        "arrays.js",
        *(["random.js"] if is_drawn else []),
        "model.js",
        *(["words.js"] if has_words else []),
        *sorted({f"step_{step['kind']}.js" for step in recipe.steps}),
        *_FEATURES[recipe.features["kind"]],
    ]
    return "\n".join(map(web_file, names))


def simd_module() -> str:
    """Return the WebAssembly module in base 64."""
    return base64.b64encode(files("craftmaps.export").joinpath("web", "simd.wasm").read_bytes()).decode()


def small_script(script: str) -> str:
    """Return a script without comments, blanks and marks that it can do without, and with `let` for `const`.

    Statements must end with semicolons, as lines are joined, and loops must have bodies.

    Examples
    --------
    >>> small_script("const f = (a) => { return a + +b; }; // sum")
    'let f=a=>{return a+ +b};'
    """
    kept: list[str] = []
    for token in _tokens(script):
        if token == "}" and kept[-1:] == [";"]:
            kept.pop()
        kept.append("let" if token == "const" else token)
        # The brackets of a single parameter, but after a word, which would grow together with it.
        if kept[-4:-3] == ["("] and kept[-2:] == [")", "=>"] and not _is_word(kept[-5][-1]):
            kept[-4:-1] = kept[-3:-2]
    pairs = zip(["", *kept], kept, strict=False)
    return "".join((" " if _would_merge(before, token) else "") + token for before, token in pairs)


def _tokens(script: str) -> Iterator[str]:
    """Yield words, numbers, strings, regular expressions and marks of one letter."""
    at, before = 0, ";"
    while at < len(script):
        begins = script[at] == "/" and script[at + 1] not in "/*" and before in _BEFORE_PATTERN
        match = (_PATTERN if begins else _TOKENS).match(script, at)
        assert match is not None, f"the script cannot be read from {script[at : at + 40]!r}"
        at = match.end()
        if match.lastgroup not in ("comment", "space"):
            before = match[0]
            yield before


def _would_merge(before: str, token: str) -> bool:
    """Tell whether two tokens would be another one without a blank between them."""
    last, first = before[-1:], token[0]
    return bool(last) and ((_is_word(last) and _is_word(first)) or (last == first and first in "+-"))


def _is_word(letter: str) -> bool:
    """Tell whether a letter may stand in a name."""
    return letter.isalnum() or letter in "_$"


def small_style(style: str) -> str:
    """Return a style sheet without the blanks that it can do without.

    Examples
    --------
    >>> small_style("a { color: red; }")
    'a{color:red}'
    """
    style = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", style))
    return re.sub(r" ?([{};,>]) ?|(:) ", r"\1\2", style).replace(";}", "}").strip()
