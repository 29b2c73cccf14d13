"""
How many features?
==================

The width E is the one choice that is left to the user: a pass costs :math:`E^2` a row, the model has E numbers for each
class. What it buys shows in the error of rows that are held out.
"""

import matplotlib.pyplot as plt
import numpy as np

from craftmaps import CraftClassifier, Polynomial, datasets

digits = datasets.load("digits")
widths = [32, 64, 128, 256, 512, 1024]
held_out, tested = [], []
for width in widths:
    model = CraftClassifier(Polynomial(4), width, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    held_out.append(model.cv_results_["error"])
    tested.append(1 - model.score(digits.X_test, digits.y_test))

# %%
# The held-out error needs no test rows, and tells where the curve flattens.

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(widths, 100 * np.array(held_out), "o-", label=f"{len(digits.y_train)} held-out rows")
ax.plot(widths, 100 * np.array(tested), "s--", label=f"{len(digits.y_test)} test rows")
ax.set(xscale="log", xlabel="features E", ylabel="error in %", xticks=widths, xticklabels=widths)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
