"""Run the program in this process, and rows to run it on."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from typer.testing import CliRunner

from craftmaps.cli import app

# A kernel and no metric are given, so that a run does not begin with a search for them.
PLAIN = ("--components", "24", "--kernel", "poly:3:1", "--metric", "none")


def run(*arguments, code=0, stdin=None):
    """Run a command; return what it printed. It must end with a code, and without a traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, f"{result.exit_code}: {result.stderr}\n{result.exception!r}"
    assert "Traceback" not in result.stderr
    return result


def run_json(*arguments, stdin=None):
    """Run a command that prints JSON; return the document."""
    return json.loads(run(*arguments, "--json", stdin=stdin).stdout)


def example_rows(n_rows=240, seed=0):
    """Return rows of five columns, and three classes that can be told apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)) * (rng.random((n_rows, 5)) > 0.3)
    X[0, -1] = 1 / 3  # the last feature is there, so that svmlight has the full width
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.2)


def example_table(n_rows=240, seed=0, label="label", labels=None):
    X, y = example_rows(n_rows, seed)
    return pa.table({f"x_{i}": X[:, i] for i in range(5)} | {label: y if labels is None else labels})


def write_parquet(path, **options):
    """Write rows of the example; return the path."""
    pa.parquet.write_table(example_table(**options), path)
    return path


def trained(folder, *options, **rows):
    """Train a small model; return its path and that of its rows."""
    data = write_parquet(folder / "train.parquet", **rows)
    run("train", data, "--out", folder / "model.craft", *PLAIN, *options)
    return folder / "model.craft", data
