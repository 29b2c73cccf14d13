"""
Plan: which map reaches an error soonest
========================================

`plan` predicts the kernel error of many maps and widths on a sample of the rows, adds what a row costs, measures how
fast the machine is, and ranks them. No map is fitted to all rows, and none of them maps a row to be judged.
"""

import matplotlib.pyplot as plt
from sklearn.preprocessing import normalize

from craftmaps import Polynomial, datasets
from craftmaps.plan import plan

X = normalize(datasets.load("digits").X_train)
choices = plan(X, Polynomial(degree=5), target_error=0.1, n_rows=1_000_000, landmarks=False)
print("\n".join(str(choices).splitlines()[:12]))

# %%
# `op/row` counts arithmetic operations, `byte/row` is the size of the result. `seconds` comes from a short measurement
# on the threads in use at that moment: other work on the machine makes it larger and can change the order.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
groups = {}
for choice in choices:
    groups.setdefault(type(choice.feature_map).__name__, []).append(choice)
for name, some in groups.items():
    ax.scatter([choice.seconds for choice in some], [choice.predicted_error for choice in some], s=14, label=name)
ax.axhline(0.1, color="grey", linestyle="--", linewidth=1)
ax.set(xscale="log", yscale="log", xlabel="seconds for a million rows", ylabel="predicted kernel error")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
