"""
The error of a map, predicted and measured
==========================================

The error of every random map is known in closed form. The line is computed from a sample of the rows, before any
feature is; the dots are five draws of the map each.
"""

import matplotlib.pyplot as plt
from sklearn.preprocessing import normalize

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, TensorSketch, datasets, plots

X = normalize(datasets.load("digits").X_train[:300])
kernel = Polynomial(degree=5, coef0=1)
maps = [
    TensorSketch(kernel, random_state=0),
    RandomMaclaurin(kernel, complex_weights=True, random_state=0),
    CraftMap(kernel, random_state=0),
]

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained", sharey=True)
for feature_map, ax in zip(maps, axes, strict=True):
    plots.kernel_error(feature_map, X, widths=(64, 128, 256, 512), ax=ax)
    ax.set_title(type(feature_map).__name__)
plt.show()

# %%
# High powers of few features have heavy tails: most draws do better than the root mean square that the line is, and a
# few do much worse. A compact map has the high powers over its wide up-projection, and so less of both.
