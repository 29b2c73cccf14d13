"""The learners under one roof, and how they come back from a file."""

import os

from craftmaps import model_file, saved
from craftmaps.classifier import CraftClassifier
from craftmaps.regressor import CraftRegressor

__all__ = ["CraftClassifier", "CraftRegressor", "load_model"]


def load_model(path: str | os.PathLike) -> "CraftClassifier | CraftRegressor":
    """Read a model that `save` wrote; it predicts, but does not go on learning.

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
    try:
        model_class = {"CraftClassifier": CraftClassifier, "CraftRegressor": CraftRegressor}[header["model"]]
        model = model_class()
        saved.from_plain(model, header)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise model_file.ModelFileError(f"{path} has a damaged header: {error}.") from None
    return model
