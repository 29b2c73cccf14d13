"""What the command line says of columns: their kinds, text that should have been numbers, dates, decimal marks."""

import subprocess
import sys

import numpy as np
import pytest

from craftmaps import load_model
from tests.cli.running import PLAIN, run, run_json


@pytest.fixture
def sales(tmp_path):
    """A CSV file with decimal commas, dates and text."""
    rng = np.random.default_rng(0)
    lines = ["price;when;shop;label"]
    for i in range(200):
        price = f"{rng.normal(i % 2):.2f}".replace(".", ",")
        lines.append(f"{price};2024-0{1 + i % 9}-1{i % 7};shop {i % 4};{'yes' if i % 2 else 'no'}")
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_dates_and_decimal_commas(sales, tmp_path):
    arguments = ["train", sales, "--out", tmp_path / "m.craft", "--decimal", ",", "--dates", "parts", *PLAIN]
    printed = run(*arguments).stdout
    assert "columns          1 number, 1 date (when), 1 category (shop)" in printed
    summary = run_json(*arguments, "--test-share", 0.3)
    assert [line["kind"] for line in summary["kinds"]] == ["number", "date", "category"]
    assert load_model(tmp_path / "m.craft").n_features_in_ == 1 + 4 + 4  # year, month, day, weekday
    # The model knows both, and needs no options to read such files again.
    assert run_json("evaluate", tmp_path / "m.craft", sales)["rows"] == 200


def test_dates_are_refused_with_the_option_that_takes_them(sales, tmp_path):
    message = run("train", sales, "--out", tmp_path / "m.craft", "--decimal", ",", code=1).stderr
    assert "--dates parts" in message
    assert "dates=" not in message


def test_text_that_should_have_been_numbers_is_told_in_one_line(sales, tmp_path):
    # In a process of its own: here warnings are errors.
    arguments = ["train", sales, "--out", tmp_path / "m.craft", "--drop", "when", *PLAIN]
    code = "from craftmaps.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    [warning] = [line for line in result.stderr.splitlines() if line.startswith("craftmaps: ")]
    assert "'price'" in warning
    assert "--decimal ," in warning
    assert "decimal=" not in warning
    assert "hashed (price)" in result.stdout


def test_numbers_that_are_names(tmp_path):
    rng = np.random.default_rng(0)
    weekday, x = rng.integers(0, 7, 300), rng.normal(size=300)
    delay = np.array([3.0, -1, 2, 0, 4, -2, 1])[weekday] + x**2
    lines = ["weekday,x,delay", *(f"{a},{b:.6f},{c:.6f}" for a, b, c in zip(weekday, x, delay, strict=True))]
    path, model = tmp_path / "rows.csv", tmp_path / "m.craft"
    path.write_text("\n".join(lines) + "\n")
    arguments = ["train", path, "--target", "delay", "--regression", "--out", model, "--components", 32]
    assert "categories" in run_json(*arguments)["model"]["metric"]
    assert load_model(model).choices_.categories == (0,)
    page = tmp_path / "page.html"
    assert "categories" not in run_json(*arguments, "--no-try-categories", "--report", page)["model"]["metric"]
    assert load_model(model).choices_.categories is None
    run(*arguments, "--report", page)
    assert "categories" in page.read_text()
