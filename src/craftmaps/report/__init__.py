"""One self-contained HTML page about a training run: numbers, charts, and how to repeat it.

`gather` turns a run into plain numbers, `html` turns those numbers into a page. The page needs no network and no
script, so it can be mailed, archived and printed.
"""

import os
from pathlib import Path
from typing import Any

from craftmaps._system.atomic_files import new_file
from craftmaps.report.gather import gather
from craftmaps.report.html.page import render
from craftmaps.report.run import Run

__all__ = ["Run", "write"]


def write(path: str | os.PathLike, run: Run) -> dict[str, Any]:
    """Write the page of a run and return the numbers on it, as plain data that JSON can hold.

    The write is atomic: after an error a page of this name is as it was.

    Examples
    --------
    >>> import os, tempfile
    >>> from craftmaps import CraftClassifier, Polynomial, datasets, report
    >>> digits = datasets.load("digits")
    >>> model = CraftClassifier(Polynomial(3), 128, metric=None, random_state=0).fit(digits.X_train, digits.y_train)
    >>> run = report.Run(model=model, data="digits", X_test=digits.X_test, y_test=digits.y_test)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     numbers = report.write(os.path.join(folder, "digits.html"), run)
    >>> numbers["test"]["rows"]
    359
    """
    path = Path(path)
    # Checked first: to gather the numbers may take a while.
    if not path.parent.is_dir() or path.is_dir():
        raise FileNotFoundError(f"path must be a file in a folder that exists, got {str(path)!r}.")
    numbers = gather(run)
    with new_file(path) as new:
        new.write_text(render(numbers), encoding="utf-8", newline="\n")
    return numbers
