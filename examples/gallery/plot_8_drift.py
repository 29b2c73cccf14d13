"""
Let old rows count less
=======================

What is right changes a little from day to day. With decay every day counts a little less than the next:
``total = decay * total + today``, one tally of one size.
"""

import matplotlib.pyplot as plt
import numpy as np

from craftmaps import CraftRegressor, Polynomial


def day(number, n_rows=50):
    """Return rows of a day and their targets: a product of two directions that turn by four degrees a day."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    angle = np.radians(4 * number)
    turned = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]
    return X, 8 * turned * X[:, 2] + 0.5 * rng.normal(size=n_rows)


learner = CraftRegressor(Polynomial(2), 64, metric=None, random_state=0).settle(*day(0))
errors = {decay: [] for decay in (1.0, 0.75, 0.0)}
totals = dict.fromkeys(errors, learner.tally_.emptied())
for number in range(24):
    today = learner.tally(*day(number))
    X_next, y_next = day(number + 1, 1000)
    for decay in errors:
        totals[decay] = decay * totals[decay] + today if decay else today
        residuals = learner.finish(totals[decay]).predict(X_next) - y_next
        errors[decay].append(np.sqrt(np.mean(residuals**2)))

# %%
# A model of all days is of the past, one of the last day has too few rows.

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for decay, title in ((1.0, "all days alike"), (0.0, "the last day alone"), (0.75, "decay 0.75")):
    ax.plot(range(1, 25), errors[decay], label=title)
ax.axhline(0.5, color="grey", linestyle=":", linewidth=1)
ax.text(24, 0.5, "noise", ha="right", va="bottom", color="grey")
ax.set(xlabel="days learned", ylabel="error on the next day", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
