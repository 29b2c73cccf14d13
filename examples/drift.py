"""Data that drifts: let old days count less.

What is right changes a little from day to day. A model of all days is of the past, and one of the last day has too few
rows. With decay every day counts a little less than the next: `total = decay * total + today`, one file of one size.
"""

import numpy as np

from craftmaps import CraftRegressor, Polynomial

N_DAYS, N_ROWS = 20, 50


def day(number: int, n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a day and their targets: a product of two directions that turn by four degrees a day."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    angle = np.radians(4 * number)
    turned = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    return X, 8 * turned * X[:, 2] + 0.5 * rng.normal(size=n_rows)


def main() -> None:
    """Keep three running tallies of twenty days and test their models on the next day."""
    learner = CraftRegressor(Polynomial(2), 64, metric=None, random_state=0).settle(*day(0))
    every = fading = learner.tally_.emptied()
    for number in range(N_DAYS):
        today = learner.tally(*day(number))
        every, fading = every + today, 0.75 * fading + today
    X_test, y_test = day(N_DAYS, 2000)
    errors = {}
    for title, tally in (("all days alike", every), ("decay 0.75", fading), ("the last day alone", today)):
        errors[title] = float(np.sqrt(np.mean((learner.finish(tally).predict(X_test) - y_test) ** 2)))
        print(f"{title:18}  {tally.n_rows:4} rows  root mean square error {errors[title]:.2f}")
    print(f"The least error has: {min(errors, key=errors.get)}.")


if __name__ == "__main__":
    main()
