"""
Instead of SVC: the same boundary, another cost
===============================================

A support vector machine and a compact map with the same kernel, on two spirals of points, a tenth of whose labels are
wrong. The machine keeps every row that is near the boundary or on its wrong side; the map keeps 512 weights.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

from craftmaps import CraftClassifier, Polynomial

rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 4000)
turn = 3 * np.sqrt(rng.random(4000))
angle = turn + np.pi * labels
X = turn[:, None] / 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.12 * rng.normal(size=(4000, 2))

seen = labels ^ (rng.random(4000) < 0.1)  # what the models learn from

kernel = Polynomial(degree=9, coef0=1)
exact = SVC(kernel="poly", degree=9, gamma=1, coef0=1, C=10)
compact = CraftClassifier(kernel, 512, metric=None, normalize=1.0, random_state=0)
compact.fit(X[:100], seen[:100])  # the loops are compiled at the first call

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for model, title, ax in ((exact, "SVC", axes[0]), (compact, "CraftClassifier, 512 features", axes[1])):
    started = time.process_time()
    model.fit(X[::2], seen[::2])
    fitted = time.process_time()
    error = 100 * (1 - model.score(X[1::2], labels[1::2]))
    predicted = time.process_time()
    DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, eps=0.1, response_method="predict", alpha=0.25, cmap="coolwarm"
    )
    ax.scatter(*X[1:800:2].T, c=labels[1:800:2], s=4, cmap="coolwarm")
    ax.set(title=title, xlabel=f"{error:.1f} % of 2,000 true labels are wrong", xticks=[], yticks=[])
    print(f"{title:30} fit {fitted - started:6.2f} s, predict {predicted - fitted:6.2f} s")
print(f"support vectors: {exact.support_vectors_.shape[0]}, weights: {compact.coef_.size}")
plt.show()
