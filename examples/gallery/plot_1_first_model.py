"""
A first model, and where it errs
================================

Fit a classifier to handwritten digits with all choices left to the library, and look at its mistakes and at its
probabilities.
"""

import matplotlib.pyplot as plt

from craftmaps import CraftClassifier, datasets, plots

digits = datasets.load("digits")
model = CraftClassifier(n_components=512, random_state=0).fit(digits.X_train, digits.y_train)
print(f"{100 * (1 - model.score(digits.X_test, digits.y_test)):.1f} % of {len(digits.y_test)} test rows are wrong")

# %%
# The held-out error was measured during the fit, on training rows that were left out; it comes with every model.

print(f"{100 * model.cv_results_['error']:.1f} % of {model.cv_results_['n_rows']} held-out rows are wrong")
print(model.choices_.kernel, "loss:", model.loss_)

# %%
# Mistakes are coloured, the diagonal is grey. In the calibration plot, dots on the dashed line mean that of the
# predictions with probability 0.9 nine in ten are right.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
plots.confusion(model, digits.X_test, digits.y_test, ax=axes[0])
plots.calibration(model, digits.X_test, digits.y_test, ax=axes[1])
plt.show()
