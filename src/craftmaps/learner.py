"""The learners under one roof, and how they come back from a file."""

import os

import numpy as np

from craftmaps import model_file
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
        model._restore(header)
        if isinstance(model, CraftClassifier):
            model._targets_from_plain(header["classes"])
            code = header["code"] if isinstance(header["code"], str) else np.array(header["code"])
            model.set_params(code=code, code_size=header["code_size"], decoding=header["decoding"])
            temperature = header["temperature"]
        else:
            model._is_flat, temperature = bool(header["is_flat"]), None
        model._alpha_choice = None
        model._set_solution(model._target_coef, model._target_intercept)
        if temperature is not None:
            model._temperature = float(temperature)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise model_file.ModelFileError(f"{path} has a damaged header: {error}.") from None
    return model
