"""
Forget a bad day
================

The labels of one day are wrong. Its tally is subtracted, and what is left is the model that never saw that day: the
same weights, without a second look at any other row.
"""

import matplotlib.pyplot as plt
import numpy as np

from craftmaps import CraftClassifier, Polynomial, datasets

digits = datasets.load("digits")
days = np.array_split(np.arange(len(digits.y_train)), 6)
labels = digits.y_train.copy()
labels[days[3]] = (labels[days[3]] + 1) % 10  # what went wrong on the fourth day

learner = CraftClassifier(Polynomial(3), 512, metric=None, random_state=0).settle(digits.X_train, labels)
tallies = [learner.tally(digits.X_train[day], labels[day]) for day in days]
everything = sum(tallies)


def error(tally):
    """Return the test error of the model of a tally, in percent."""
    return 100 * (1 - learner.finish(tally).score(digits.X_test, digits.y_test))


# %%
# Which day is it? The model of all other days is one subtraction away, for each of them.

without = [error(everything - tally) for tally in tallies]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.bar(range(1, 7), without, color=["#b22222" if i == 3 else "#9aa5b1" for i in range(6)])
ax.axhline(error(everything), color="black", linestyle="--", linewidth=1)
ax.text(4, error(everything), "all days", ha="center", va="bottom")
ax.set(xlabel="day left out", ylabel="test error in %")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The model without that day is the model of the other days.

rest = learner.finish(everything - tallies[3]).coef_
others = np.concatenate([day for i, day in enumerate(days) if i != 3])
never = CraftClassifier(Polynomial(3), 512, metric=None, random_state=0).fit(digits.X_train[others], labels[others])
difference = np.abs(rest - never.coef_).max() / np.abs(never.coef_).max()
print(f"largest difference of a weight: {difference:.0e} of the largest weight")
