"""Text columns that are perhaps misread: numbers in another notation, and values that nearly all differ."""

import re
from typing import Any

from craftmaps.tables.coded_text import CodedText
from craftmaps.tables.column_names import shortened
from craftmaps.tables.lazy_arrow import import_arrow

# Cells that are inspected, and the characters of each that are compared.
_CELLS, _CHARACTERS = 8192, 64
_FEWEST, _LEAST_SHARE = 5, 0.9
_FEWEST_DIFFERENT = 100
_DIGITS = r"\d+(?:[.,]\d+)?|[.,]\d+"
_GROUPED = r"\d{1,3}(?:[., '\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
_CURRENCY = r"[$€£¥₹]"
_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(rf"[-+]?(?:{_GROUPED}|{_DIGITS})")
_SIGN = re.compile(
    rf"[-+]?\s*(?P<before>{_CURRENCY}?)\s*[-+]?(?:{_GROUPED}|{_DIGITS})"
    rf"\s*(?P<after>[%‰°]|{_CURRENCY}|°?[A-Za-zµμ²³/]{{1,6}})?"
)


class TextFindings:
    """Distinct values of a text column, and the notation they share."""

    def __init__(self, name: str, file: str, is_typed: bool):
        self._name, self._file, self._is_typed = name, file, is_typed
        self._values: dict[str, None] = {}  # in the order of the file
        self._n_cells, self._is_plain = 0, False

    def add(self, text: CodedText) -> None:
        """Inspect cells, until there were enough of them."""
        if self._n_cells < _CELLS and not self._is_plain:
            self._n_cells += text.codes.size - text.n_missing
            beginnings = import_arrow("pyarrow.compute").utf8_slice_codeunits(text.values, 0, _CHARACTERS)
            self._values.update(dict.fromkeys(beginnings.to_pylist()))
            # The first batch settles most text columns.
            is_different = len(self._values) >= _LEAST_SHARE * self._n_cells
            self._is_plain = self._n_cells > _CELLS // 16 and not (is_different or _are_like_numbers([*self._values]))

    def warning(self, is_hashed: bool, is_target: bool = False) -> str | None:
        """Return a sentence if the column is perhaps misread as text."""
        values = [value.strip() for value in self._values]
        found = self._notation(values, is_hashed) if self._n_cells >= _FEWEST else None
        what = "The target" if is_target else "Column"
        if found is not None:
            matching, notation, remedy = found
            names = "" if is_target else f", or read it as categories with categories=[{self._name!r}]"
            return (
                f"{what} {self._name!r} of {self._file} is read as text, but {len(matching):,} of its {len(values):,} "
                f"values are numbers {notation}, such as {shortened(matching[-1])}: {remedy}{names}."
            )
        is_different = len(values) >= max(_FEWEST_DIFFERENT, _LEAST_SHARE * self._n_cells)
        if not is_hashed or is_target or not is_different:
            return None
        return (
            f"{what} {self._name!r} of {self._file} is text with {len(values):,} different values in {self._n_cells:,} "
            f"cells, such as {shortened(values[0])}, which tells rows apart and little else: leave it out with "
            f"drop=[{self._name!r}], or keep it with categories=[{self._name!r}]."
        )

    def _notation(self, values: list[str], is_hashed: bool) -> tuple[list[str], str, str] | None:
        """Return the values in a common notation of numbers, if nearly all are, the notation and the remedy."""
        if not _are_like_numbers(values):
            return None
        rewritten = [value for value in values if not _PLAIN.fullmatch(value)]
        commas = [value for value in rewritten if _COMMA.fullmatch(value)]
        grouped = [value for value in rewritten if _THOUSANDS.fullmatch(value) and not _COMMA.fullmatch(value)]
        if not rewritten:
            # Codes are digits alone. In a CSV file, fractions are text if the comma is the decimal mark.
            fractions = [value for value in values if "." in value]
            remedy = "cast it to numbers" if self._is_typed else "read it with decimal='.'"
            return (fractions, "with a decimal point", remedy) if fractions else None
        if _nearly_all(rewritten, commas) and not _are_thousands(commas):
            remedy = "write it with a decimal point" if self._is_typed else "read it with decimal=','"
            return commas, "with a decimal comma", remedy
        if _nearly_all(rewritten, [*commas, *grouped]):
            return [*commas, *grouped], "with thousands separators", "write it without the separators"
        return self._signed(values, rewritten, is_hashed)

    def _signed(self, values: list[str], rewritten: list[str], is_hashed: bool) -> Any:
        """Return the values that are numbers with one common sign or unit, if nearly all are, and the remedy."""
        matches = [match for match in map(_SIGN.fullmatch, rewritten) if match]
        signs = [(match["before"], match["after"] or "") for match in matches]
        if not signs:
            return None
        sign = max(set(signs), key=signs.count)
        signed = [match[0] for match, one in zip(matches, signs, strict=True) if one == sign]
        # Few values with letters are more likely names, such as 10s and 20s, and so are codes, such as 007A.
        is_name = sign[1][:1].isalpha() and (not is_hashed or any(re.match(r"0\d", value) for value in values))
        if is_name or not _nearly_all(values, [*signed, *({*values} - {*rewritten})]):
            return None
        return signed, f"with the sign {(sign[0] or sign[1])!r}", "write it without the sign"


def _are_like_numbers(values: list[str]) -> bool:
    """Tell whether the first values are numbers, with or without signs."""
    first = values[:100]
    return _nearly_all(first, [value for value in first if _SIGN.fullmatch(value.strip())])


def _nearly_all(values: list[str], some: list[str]) -> bool:
    """Tell whether some values are nearly all of them."""
    return len(some) >= max(_LEAST_SHARE * len(values), 1)


def _are_thousands(commas: list[str]) -> bool:
    """Tell whether every comma is followed by three digits, as a thousands separator is."""
    return all(re.fullmatch(r"[-+]?\d{1,3},\d{3}", value) for value in commas if "," in value)
