"""
Would more rows help? A learning curve from tallies
===================================================

Tallies add up, so the models of the first 60 rows, of the first 120 and so on cost one sum and one solution each. No
row is mapped twice.
"""

from itertools import pairwise

import matplotlib.pyplot as plt

from craftmaps import CraftClassifier, Polynomial, datasets, plots

digits = datasets.load("digits")
X, y = digits.X_train, digits.y_train
settled = CraftClassifier(Polynomial(3), 512, metric=None, random_state=0).settle(X, y)
ends = [0, 60, 120, 240, 480, 960, len(y)]
tallies = [settled.tally(X[start:end], y[start:end]) for start, end in pairwise(ends)]

plots.learning_curve(settled, tallies, digits.X_test, digits.y_test)
plt.show()
