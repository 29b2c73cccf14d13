"""A table with columns of every kind, and a model of it."""

from functools import cache

import numpy as np

from craftmaps import CraftClassifier, Polynomial, streams

HEADER = "age,income,city,member,since,name,outcome"


def lines(n=300, seed=0):
    """Return rows as lines of text; some values are missing."""
    rng = np.random.default_rng(seed)
    result = []
    for i in range(n):
        age = "" if rng.random() < 0.1 else str(rng.integers(18, 90))
        city = rng.choice(["Berlin", "Paris", '"New York, NY"', "NA", '"the ""Hague"""'])
        since = f"20{rng.integers(10, 24)}-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}"
        since += f" {rng.integers(0, 24):02d}:{rng.integers(0, 60):02d}:07"
        name = f"\N{LATIN SMALL LETTER U WITH DIAERESIS}ser {rng.integers(0, 200)}" if rng.random() < 0.9 else ""
        outcome = "stays" if (i % 3) else "<leaves>"
        income = f"{np.exp(rng.normal(8, 1)):.2f}"
        result.append(f"{age},{income},{city},{rng.choice(['true', 'FALSE', ''])},{since},{name},{outcome}")
    return result


def write(path, rows):
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


@cache
def table_model(folder):
    """Return a model of the table, and the path of a file with rows that it has not seen."""
    stream = streams.open(write(folder / "train.csv", lines()), "outcome", dates="parts")
    model = CraftClassifier(Polynomial(2), 64, metric=None, alphas=1e-2, random_state=0).fit_stream(stream)
    return model, write(folder / "new.csv", lines(60, seed=1))


def matrix(model, path):
    """Return the rows of a file as the model takes them."""
    rule = streams.Columns.from_plain(model.notes_["columns"])
    return np.concatenate([block.X for block in streams.open(path, None, columns=rule).blocks()])
