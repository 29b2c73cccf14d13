"""The learners under one roof, and how they come back from a file."""

import os

from craftmaps._system.fields import Fields
from craftmaps.learners.classifier import CraftClassifier
from craftmaps.learners.persistence import container as model_file
from craftmaps.learners.persistence import saved_model as saved
from craftmaps.learners.regressor import CraftRegressor

__all__ = ["CraftClassifier", "CraftRegressor", "load_model"]


def load_model(path: str | os.PathLike) -> "CraftClassifier | CraftRegressor":
    """Read a model that `save` wrote; it predicts, but does not go on learning.

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
    header = model_file.read(path)
    with model_file.named(path):
        name = Fields(header).one_of("model", ("CraftClassifier", "CraftRegressor"))
        model = CraftClassifier() if name == "CraftClassifier" else CraftRegressor()
        saved.from_plain(model, header)
    return model
