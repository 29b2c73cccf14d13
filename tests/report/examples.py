"""Small runs, of every kind that a report may be about."""

import numpy as np

from craftmaps import CraftClassifier, CraftRegressor, Polynomial, report

QUICK = {
    "kernel": Polynomial(2),
    "n_components": 48,
    "metric": None,
    "alphas": [1e-4, 1e-2],
    "cv": 3,
    "random_state": 0,
}


def labelled(n_rows=300, n_classes=3, width=6, names=None, seed=0):
    """Return rows about as many centres as there are classes, and noisy enough for mistakes."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, width))
    labels = np.arange(n_rows) % n_classes
    X = centres[labels] + 0.8 * rng.normal(size=(n_rows, width))
    return X, labels if names is None else np.array(names)[labels]


def classifier_run(n_classes=3, names=None, width=6, n_test=100, model=None, **changes):
    """Return the run of a small classifier."""
    X, y = labelled(300 + n_test, n_classes, width, names)
    model = CraftClassifier(**QUICK) if model is None else model
    model.fit(X[:300], y[:300])
    settings = {
        "data": "flowers.parquet",
        "command": "craftmaps train flowers.parquet --target kind",
        "X_test": X[300:],
        "y_test": y[300:],
        "phases": {"read": 0.5, "map and add": 1.25, "solve": 0.25},
        "peak_memory": 123_456_789,
        "rows_sample": X[:100],
    }
    return report.Run(model=model, **{**settings, **changes})


def regressor_run(n_targets=1, n_test=100, **changes):
    """Return the run of a small regressor."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300 + n_test, 5))
    Y = np.column_stack([X[:, i % 5] * X[:, 1] + 0.2 * rng.normal(size=len(X)) for i in range(n_targets)])
    Y = Y[:, 0] if n_targets == 1 else Y
    model = CraftRegressor(**QUICK).fit(X[:300], Y[:300])
    return report.Run(model=model, **{"X_test": X[300:], "y_test": Y[300:], **changes})
