"""
Why compact maps are better: spectra
====================================

The eigenvalues of the kernel matrix that a direct map of few features estimates fall much faster than those of the
exact kernel, so much of its width is wasted. Those of a compact map, with the same number of features, follow the
exact ones longer. This is Figure 2 of the paper, on other digits.
"""

import matplotlib.pyplot as plt
from sklearn.preprocessing import normalize

from craftmaps import CraftMap, Polynomial, RandomMaclaurin, datasets, plots

X = normalize(datasets.load("digits").X_train[:400])
kernel = Polynomial(degree=7, coef0=1)
direct = RandomMaclaurin(kernel, 512, random_state=0).fit(X)
compact = CraftMap(kernel, 512, up_components=8192, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
plots.scree(direct, X, ax=axes[0])
plots.scree(compact, X, ax=axes[1])
plt.show()
