"""Models and tallies from files."""

import os

from craftmaps._system.fields import Fields
from craftmaps.learners.classifier import CraftClassifier
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence import saved_model
from craftmaps.learners.persistence.container import ModelFileError
from craftmaps.learners.regressor import CraftRegressor
from craftmaps.learners.tally import Tally

ESTIMATORS = {"CraftClassifier": CraftClassifier, "CraftRegressor": CraftRegressor}


def load_model(path: str | os.PathLike) -> "CraftClassifier | CraftRegressor":
    """Read a model that `save` wrote. It predicts, and has the parameters that it was made with.

    A model that was saved with its tally goes on learning; from a file of a tally alone comes an estimator that is
    settled, and solved when it is asked to predict.

    A file need not be trusted: nothing that it names is run, and one that is damaged, that contradicts itself or that
    asks for more memory or work than a model of its size can need is refused with a `ModelFileError`.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, load_model
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "digits.craft"))
    ...     again = load_model(os.path.join(folder, "digits.craft"))
    >>> bool((again.predict(digits.X_test) == model.predict(digits.X_test)).all())
    True
    """
    fields = Fields(model_file.read(path))
    with model_file.named(path):
        model = ESTIMATORS[fields.one_of("model", tuple(ESTIMATORS))]()
        saved_model.from_plain(model, fields)
    return model


def load_tally(path: str | os.PathLike) -> Tally:
    """Read a tally that `Tally.save` wrote, or the tally of a model that was saved with it.

    As with models, a file need not be trusted.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, load_tally
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 64, metric=None, random_state=0).settle(digits.X_train, digits.y_train)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "monday.tally")
    ...     model.tally(digits.X_train, digits.y_train).save(path)
    ...     monday = load_tally(path)
    >>> bool(model.finish(monday).score(digits.X_test, digits.y_test) > 0.9)
    True
    """
    estimator = load_model(path)
    if estimator._pass is None:
        raise ModelFileError(f"{os.fspath(path)} is a model without its tally: save it with tally=True.")
    return estimator._pass.tally
