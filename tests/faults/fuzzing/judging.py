"""What becomes of a file: refused in one sentence, or something that works; everything else is a failure."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from craftmaps import load_model, streams
from craftmaps.cli.learning import CheckpointFolder
from craftmaps.learners.persistence.container import ModelFileError
from tests.faults.fuzzing import bases
from tests.streams import formats

GOOD = ("accepted", "refused", "refused later")
# A learner may have such a kernel and `normalize=False`, so a file may multiply rows by any number: it is the rows of
# the judge that are too long then.
_OF_ROWS = "is a kernel for rows of unit length"
_DENSE = 4096
_LONGEST = 2000


def judged(kind: str, name: str, path: Path, expected: str | None) -> tuple[str, str]:
    """Return what became of a file, and in which words; with `expected` it may only be accepted with these outputs."""
    judges = {"model": _model, "tally": _tally, "checkpoint": _checkpoint, "run": _run, "data": _data}
    try:
        outputs = judges[kind](name, path)
    except _REFUSALS[kind] as error:
        if not _is_sentence(str(error), kind, path):
            return f"{type(error).__name__}, no sentence that names the file", str(error)[:300]
        return ("refused" if isinstance(error, _AT_ONCE[kind]) else "refused later"), str(error)
    except MemoryError as error:
        return "out of memory", repr(error)
    except BaseException as error:
        if kind == "model" and isinstance(error, ValueError) and _OF_ROWS in str(error):
            return "refused later", str(error)
        return f"{type(error).__name__}", repr(error)[:300]
    if expected is not None and outputs != expected:
        return "accepted with other numbers", ""
    return "accepted", outputs


_REFUSALS: dict[str, Any] = {"model": ModelFileError, "tally": ValueError, "checkpoint": ValueError, "run": ValueError}
_REFUSALS["data"] = (ValueError, OSError, TypeError)
_AT_ONCE: dict[str, Any] = _REFUSALS | {"tally": ModelFileError, "checkpoint": ModelFileError}


def _is_sentence(words: str, kind: str, path: Path) -> bool:
    """Tell whether a refusal is one sentence on one line, and names the file where there is no other place to do so."""
    is_named = kind not in ("model", "run") or path.name in words or "run.checkpoint" in words
    return is_named and "\n" not in words and 1 < len(words) <= _LONGEST and words.endswith(".")


def _digest(*outputs: Any) -> str:
    return json.dumps([np.asarray(output).tolist() for output in outputs])


def _outputs(model: Any) -> str:
    """Predict rows, dense and CSR, in both precisions, and look at the shapes."""
    width = model.n_features_in_
    rows = csr_matrix(np.resize(bases.X, (5, min(width, _DENSE))).astype(np.float32))
    rows.resize(5, width)
    samples = [rows, rows.astype(np.float64)]
    if width <= _DENSE:
        samples += [rows.toarray(), rows.toarray().astype(np.float64), np.zeros((1, width))]
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    found = []
    for sample in samples:
        predicted = model.predict(sample)
        assert predicted.shape[0] == sample.shape[0], predicted.shape
        found.append(predicted)
        if hasattr(model, "classes_"):
            probabilities = model.predict_proba(sample)
            assert probabilities.shape == (sample.shape[0], model.classes_.size), probabilities.shape
            found.append(probabilities)
    return _digest(*found)


def _model(name: str, path: Path) -> str:
    return _outputs(load_model(path))


def _tally(name: str, path: Path) -> str:
    """Predict, unless it is a recipe; count rows, add them up with what is there, solve, and predict again."""
    model = load_model(path)
    before = _outputs(model) if model.n_rows_seen_ else ""
    _, rows, y = bases.TALLIES[bases.tally_name(name)]
    model.finish(model.tally_ + model.tally(rows, y))
    return before + _outputs(model)


def _checkpoint(name: str, path: Path) -> str:
    """Resume the run, end it and predict."""
    parameters, rows, y = bases.CHECKPOINTS[name]
    return _outputs(bases.learner(parameters, y).fit_stream(bases.blocks(rows, y), checkpoint=path))


def _run(name: str, path: Path) -> str:
    CheckpointFolder(path.parent, bases.RUN, is_resumed=True)
    return ""


def _data(name: str, path: Path) -> str:
    n_rows = 0
    for X, y in streams.open(path, formats.FORMATS[name][2]):
        assert y is None or X.shape[0] == y.shape[0]
        n_rows += X.shape[0]
    return str(n_rows)


def case_folder(base: Path, folder: Path) -> Path:
    """Return where a mutated copy of a file stands, with the files beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base.parent, folder)
    return folder / base.name
