"""Small tables that come with scikit-learn; a third of the rows are test rows, by seed."""

from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from benchmarks.panel.splits import Table


def iris(seed: int) -> Table:
    return Table(*load_iris(return_X_y=True))


def wine(seed: int) -> Table:
    return Table(*load_wine(return_X_y=True))


def breast_cancer(seed: int) -> Table:
    return Table(*load_breast_cancer(return_X_y=True))


def digits(seed: int) -> Table:
    return Table(*load_digits(return_X_y=True))


def diabetes(seed: int) -> Table:
    return Table(*load_diabetes(return_X_y=True))
