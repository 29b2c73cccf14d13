"""
What was chosen, and by how much
================================

Kernel, scaling and penalty are chosen on rows that are left out. Everything that was tried is kept.
"""

import matplotlib.pyplot as plt

from craftmaps import CraftClassifier, datasets, plots

digits = datasets.load("digits")
model = CraftClassifier(n_components=256, random_state=0).fit(digits.X_train, digits.y_train)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", width_ratios=(3, 2))
plots.search(model, ax=axes[0])
plots.penalty_curve(model, ax=axes[1])
plt.show()

# %%
# The choices repeat the model without a search, bit for bit.

again = CraftClassifier(n_components=256, random_state=0, **model.choices_.parameters())
again.fit(digits.X_train, digits.y_train)
print("the same weights:", bool((again.coef_ == model.coef_).all()))
