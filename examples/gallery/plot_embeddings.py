"""
A probe on the embeddings of a network
======================================

A network that was trained on the digits 0 to 4 embeds the digits 5 to 9, which it has never seen. A linear model on
these embeddings is a linear probe; a map goes beyond it where that helps.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from craftmaps import CraftClassifier, Polynomial

X, y = load_digits(return_X_y=True)
network = MLPClassifier((128,), max_iter=40, tol=0, random_state=0)
with warnings.catch_warnings():  # the network is not trained to the end
    warnings.simplefilter("ignore")
    network.fit(X[y < 5] / 16, y[y < 5])
embeddings = np.maximum(X / 16 @ network.coefs_[0] + network.intercepts_[0], 0)
rows, labels = embeddings[y >= 5], y[y >= 5]

# %%
# Few labels first: the same test rows for every number of training rows.

sizes = [40, 80, 160, 320, 590]
models = {
    "linear probe": CraftClassifier(Polynomial(1), feature_map=None, metric=None, random_state=0),
    "degree 3": CraftClassifier(Polynomial(3), 512, metric=None, random_state=0),
    "automatic": CraftClassifier(n_components=512, random_state=0),
}
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for title, model in models.items():
    errors = [1 - model.fit(rows[:size], labels[:size]).score(rows[600:], labels[600:]) for size in sizes]
    ax.plot(sizes, 100 * np.array(errors), "o-", label=title)
ax.set(xscale="log", xlabel="labelled rows", ylabel="error in %", xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
