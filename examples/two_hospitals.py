"""Two hospitals learn one model together. They share tallies, and no rows.

A third party settles the features on made-up rows, so that no choice depends on a patient. Each hospital tallies its
own rows. The sum of two files is solved by anybody, and is the model of all rows in one place.

A tally is not anonymous. It says how many rows there are of every label, and has the sums of the features and of their
products over all rows. With few rows these sums give the rows away: the tally of one row holds its features. And with
`cv` a tally has raw rows, held out to choose the penalty by. Here `cv` is None, so the penalty must be given. Tallies
add up before anybody looks at them, so share sums of many rows; differential privacy is not built in.
"""

import tempfile
from pathlib import Path

import numpy as np

from craftmaps import CraftClassifier, Polynomial, load_model, load_tally

SETTINGS = {"kernel": Polynomial(2), "n_components": 64, "metric": None, "random_state": 0}
SUMS_ALONE = SETTINGS | {"cv": None, "alphas": 1e-3}


def patients(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make up patients: eight measurements, and whether they fell ill."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    return X, np.where(X[:, 0] * X[:, 1] > 0.5 * rng.normal(size=n_rows), "ill", "well")


NORTH, SOUTH = patients(900, seed=1), patients(400, seed=2)
PUBLIC, TEST = patients(100, seed=3), patients(2000, seed=4)


def learn_together(folder: Path) -> None:
    """Settle on public rows, tally in two places, add up, and compare with all rows in one place."""
    CraftClassifier(**SUMS_ALONE).settle(*PUBLIC).tally_.save(folder / "recipe.craft")
    for place, rows in (("north", NORTH), ("south", SOUTH)):
        load_model(folder / "recipe.craft").tally(*rows).save(folder / f"{place}.tally")
        error = 1 - load_model(folder / f"{place}.tally").score(*TEST)
        print(f"{place}: {len(rows[1])} patients, {100 * error:.1f} % test error")
    both = load_tally(folder / "north.tally") + load_tally(folder / "south.tally")
    model = load_model(folder / "recipe.craft").finish(both)
    print(f"both: {both.n_rows} patients, {100 - 100 * model.score(*TEST):.1f} % test error")
    pooled = CraftClassifier(**SUMS_ALONE).fit(np.vstack([NORTH[0], SOUTH[0]]), np.concatenate([NORTH[1], SOUTH[1]]))
    difference = np.abs(model.coef_ - pooled.coef_).max() / np.abs(pooled.coef_).max()
    print(f"Same model as of all rows in one place: {difference < 1e-8}, largest difference {difference:.0e}.")


def look_into(folder: Path) -> None:
    """Show what the files have of patients."""
    south = load_tally(folder / "south.tally")
    counts = dict(zip(south.classes.tolist(), south.statistic.target_sums.astype(int).tolist(), strict=True))
    print(f"The file of the south tells: labels {counts}, and second moments of {len(south.statistic.cross)} features.")
    print(f"Rows of patients in it: {count_rows(SOUTH[0], folder / 'south.tally')}.")
    careless = CraftClassifier(**SETTINGS).settle(*PUBLIC)
    careless.tally(*SOUTH).save(folder / "careless.tally")
    print(f"Rows of patients in a tally with cv=5: {count_rows(SOUTH[0], folder / 'careless.tally')}.")
    one = careless.tally(SOUTH[0][:1], SOUTH[1][:1])
    is_given_away = np.allclose(one.statistic.feature_sums, careless.features_(SOUTH[0][:1])[0])
    print(f"The tally of one patient gives away their features: {is_given_away}.")


def count_rows(rows: np.ndarray, path: Path) -> int:
    """Count the rows whose numbers stand in a file."""
    content = path.read_bytes()
    return sum(row.tobytes() in content for row in rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        learn_together(Path(name))
        look_into(Path(name))
