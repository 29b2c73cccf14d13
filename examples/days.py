"""A folder of tallies answers for any subset of days, and no row is read again.

Every day leaves one small file. A model of the last week, of all Mondays or of everything but a bad day is the sum of
some files, solved in a moment. The days here are parts of the digits that scikit-learn ships.
"""

import tempfile
from pathlib import Path

import numpy as np

from craftmaps import CraftClassifier, Polynomial, datasets, load_model, load_tally

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat")
SUBSETS = {"the first day": DAYS[:1], "the weekdays": DAYS[:5], "all days": DAYS, "all but tue": DAYS[:1] + DAYS[2:]}


def main() -> None:
    """Tally six days, forget their rows, and make four models."""
    digits = datasets.load("digits")
    rows = dict(zip(DAYS, np.array_split(np.arange(len(digits.y_train)), len(DAYS)), strict=True))
    learner = CraftClassifier(Polynomial(3), 256, metric=None, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learner.settle(digits.X_train, digits.y_train).tally_.save(folder / "recipe.craft")
        for day, some in rows.items():  # on that day, perhaps on another machine
            recipe = load_model(folder / "recipe.craft")
            recipe.tally(digits.X_train[some], digits.y_train[some]).save(folder / f"{day}.tally")

        for title, subset in SUBSETS.items():
            tally = sum(load_tally(folder / f"{day}.tally") for day in subset)
            model = load_model(folder / "recipe.craft").finish(tally)
            error = 1 - model.score(digits.X_test, digits.y_test)
            print(f"{title:14} {tally.n_rows:5} rows  {100 * error:4.1f} % test error")

        # The rows are still here, so the last model can be compared with that of a fit.
        some = np.concatenate([rows[day] for day in subset])
        fitted = learner.fit(digits.X_train[some], digits.y_train[some])
        difference = np.abs(model.coef_ - fitted.coef_).max() / np.abs(fitted.coef_).max()
        print(f"Same model as a fit on these rows: {difference < 1e-8}, largest difference {difference:.0e}.")


if __name__ == "__main__":
    main()
