"""CSV text is cut at row ends, and its first line may name the columns."""

import io

import numpy as np
import pytest

from craftmaps import streams
from craftmaps.streams.formats.lines import whole_lines
from craftmaps.streams.limits import DEFAULT_LIMITS, Limits
from craftmaps.streams.opening import open_files
from craftmaps.streams.request import Request
from tests.streams.formats import collect

QUOTED = b'a,"x\ny"\nb,"say ""\n"" twice"\nc,d\n"e\n\n",f\n'
ROWS = [b'a,"x\ny"\n', b'b,"say ""\n"" twice"\n', b"c,d\n", b'"e\n\n",f\n']


@pytest.mark.parametrize("size", range(1, len(QUOTED) + 1))
def test_pieces_end_where_rows_end(size):
    pieces = list(whole_lines(io.BytesIO(QUOTED), "t", size, DEFAULT_LIMITS, has_quotes=True))
    assert b"".join(pieces) == QUOTED
    ends = set(np.cumsum([len(row) for row in ROWS]).tolist())
    assert set(np.cumsum([len(piece) for piece in pieces]).tolist()) <= ends


@pytest.mark.parametrize("size", [1, 3, 100])
def test_pieces_end_where_lines_end(size):
    pieces = list(whole_lines(io.BytesIO(b"ab\nc\n\nlast"), "t", size, DEFAULT_LIMITS))
    assert b"".join(pieces) == b"ab\nc\n\nlast\n"
    assert all(piece.endswith(b"\n") for piece in pieces)


SHORT = Limits(longest_line=1000)


def test_a_line_that_is_too_long():
    with pytest.raises(ValueError, match="t must have lines of at most"):
        list(whole_lines(io.BytesIO(b"x" * 5000), "t", 100, SHORT))


def test_an_unclosed_quote_is_an_ordinary_character():
    text = b'5" wide,1\n' + b"2,3\n" * 1000
    assert b"".join(whole_lines(io.BytesIO(text), "t", 100, SHORT, has_quotes=True)) == text


def test_cells_with_line_ends_across_pieces(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,word,label\n" + "".join(f'{i},"w\n{i % 3}",{i % 2}\n' for i in range(200)))
    stream = open_files(path, Request(limits=Limits(text_block=64)))
    X, y = collect(stream)
    assert stream.columns.feature_names == ["a", "word=w\n0", "word=w\n1", "word=w\n2"]
    np.testing.assert_array_equal(X[:, 0], np.arange(200))
    np.testing.assert_array_equal(y, np.arange(200) % 2)


FIRST_LINES = {
    "names": ("a,b,label\n1,2,3\n", "label", ["a", "b"]),
    "names that are numbers": ("label,0,1\n3,1,2\n", "label", ["0", "1"]),
    "names in quotes": ('"a,b",c,label\n1,2,3\n', "label", ["a,b", "c"]),
    "blank lines before": ("\n\na,b,label\n1,2,3\n", "label", ["a", "b"]),
    "numbers": ("1,2,3\n1,2,3\n", -1, ["x_0", "x_1"]),
    "a line end in a name": ('"a\nb",c,label\n1,2,3\n', "label", ["a\nb", "c"]),
    "a line end of Windows in a name": ('"a\r\nb",c,label\r\n1,2,3\r\n', "label", ["a\r\nb", "c"]),
    "a line end in a later name": ('a,"c\n""d""",label\n1,2,3\n', "label", ["a", 'c\n"d"']),
    "a line end after a byte order mark": ('\ufeff"a\nb",c,label\n1,2,3\n', "label", ["a\nb", "c"]),
    "a quote within a name": ('5" a,b,label\n1,2,3\n', "label", ['5" a', "b"]),
    "two returns a line": ("a,b,label\r\r\n1,2,3\r\r\n", "label", ["a", "b"]),
    "no name for the first": ("\ta\tlabel\nx\t2\t3\n", "label", ["=x", "a"]),
    "numbers with underscores": ("1_1,1_2,y\n1,2,3\n", -1, ["1_1", "1_2"]),
    "a word among numbers": ("cat,2,3\ndog,2,3\n", 0, ["x_0", "x_1"]),
}


@pytest.mark.parametrize("case", FIRST_LINES)
def test_the_first_line(tmp_path, case):
    text, target, names = FIRST_LINES[case]
    (tmp_path / "t.csv").write_bytes(text.encode())
    stream = streams.open(tmp_path / "t.csv", target=target)
    assert stream.columns.feature_names == names
    assert collect(stream)[0].shape[0] == 1 + (names[0] == "x_0")


def read(tmp_path, text, **settings):
    """Return the rows, the labels and the names of a CSV file."""
    (tmp_path / "t.csv").write_text(text)
    stream = streams.open(tmp_path / "t.csv", **settings)
    return *collect(stream), stream.columns.feature_names


@pytest.mark.parametrize("cells", [(" true", "false "), ("tRue", "FALSE"), ("\tTRUE", '"false"'), ("true", " 0")])
def test_booleans_with_blanks_and_in_any_case(tmp_path, cells):
    X, y, names = read(tmp_path, "flag,label\n{0},{1}\n{1},{0}\n{0},{0}\n,{0}\n".format(*cells))
    assert names == ["flag"]
    np.testing.assert_array_equal(X[:, 0], np.array([1, 0, 1, 2 / 3], np.float32))
    assert y.tolist() == [False, True, True, True]


def test_a_word_among_booleans_after_the_first_look(tmp_path):
    text = "a,label\n" + "true,1\n" * 100_400 + "NA,1\n maybe,1\n"
    with pytest.raises(ValueError, match=r"Column 'a' of .* must hold booleans, got ' maybe' in line 100403\."):
        read(tmp_path, text)


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b"])
def test_the_first_look_and_the_reader_agree_on_numbers(tmp_path, space):
    assert read(tmp_path, f"a,label\n1{space},1\n2,1\n")[2] == [f"a=1{space}", "a=2"]


def test_line_numbers_after_a_name_with_a_line_end(tmp_path):
    with pytest.raises(ValueError, match=r"Line 4 of .* must have 3 cells, got 2"):
        read(tmp_path, '"a\nb",c,label\n1,2,3\n4,5\n')


@pytest.mark.parametrize(
    "text", ["a,b,label\r1,2,3\r", "1,2,3\r4,5,6\r", '"a\rb",c,label\r1,2,3\r', "a,label\r1,2\n3,4\r", "\ra,b\r1,2"]
)
def test_lines_that_end_with_a_carriage_return_alone(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    with pytest.raises(ValueError, match=r"t\.csv must end its lines with a line feed, got carriage returns alone\."):
        streams.open(tmp_path / "t.csv", target=-1)
