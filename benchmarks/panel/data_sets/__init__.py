"""Data sets of the panel: a function of a seed each, which returns a `Table`; generated ones depend on the seed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.panel.data_sets import files, generated, texts, toys
from benchmarks.panel.splits import Table


class DataSet(NamedTuple):
    """A data set: how to read it, whether targets are classes or numbers, and the folder it needs, if any.

    One that `is_pooled` compares cross-validated with test errors. It is run with the methods that report both, never
    in development, and is no part of the comparison of methods.
    """

    read: Callable[[int], Table]
    task: str = "classes"
    folder: str | None = None
    is_pooled: bool = False

    @property
    def is_found(self) -> bool:
        """Whether it can be read here."""
        root = os.environ.get("CRAFTMAPS_DATA")
        return self.folder is None or bool(root and (Path(root) / self.folder).is_dir())


# Smallest first: `run` goes through them in this order.
DATA_SETS = {
    "iris": DataSet(toys.iris),
    "wine": DataSet(toys.wine),
    "breast_cancer": DataSet(toys.breast_cancer),
    "diabetes": DataSet(toys.diabetes, "numbers"),
    "digits": DataSet(toys.digits),
    "friedman1": DataSet(generated.friedman1, "numbers"),
    "friedman2": DataSet(generated.friedman2, "numbers"),
    "friedman3": DataSet(generated.friedman3, "numbers"),
    "friedman1_heavy": DataSet(generated.friedman1_heavy, "numbers"),
    "friedman2_heavy": DataSet(generated.friedman2_heavy, "numbers"),
    "friedman3_heavy": DataSet(generated.friedman3_heavy, "numbers"),
    "pendigits": DataSet(files.pendigits, folder="pendigits"),
    "pendigits_pooled": DataSet(files.pendigits_pooled, folder="pendigits", is_pooled=True),
    "usps": DataSet(files.usps, folder="usps"),
    "usps_pooled": DataSet(files.usps_pooled, folder="usps", is_pooled=True),
    "letter": DataSet(files.letter, folder="letter"),
    "a9a": DataSet(files.a9a, folder="a9a"),
    "isolet": DataSet(files.isolet, folder="isolet"),
    "text": DataSet(texts.standard_library),
    "text_pooled": DataSet(texts.standard_library_pooled, is_pooled=True),
    "sign_of_product": DataSet(generated.sign_of_product),
    "flights": DataSet(files.flights, "numbers", folder="flights"),
    "covtype": DataSet(files.covtype, folder="covtype"),
    "cifar10_features": DataSet(files.cifar10_features, folder="cifar10_features"),
    "mnist": DataSet(files.mnist, folder="mnist"),
}
