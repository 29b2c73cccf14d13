"""A tally whose sums no rows have ends in one sentence, or in a model: never in an error of an index or of LAPACK."""

import numpy as np
import pytest

from craftmaps import load_model
from tests.faults.fuzzing.bases import TALLIES, learner
from tests.faults.fuzzing.containers import Container


@pytest.fixture(params=["tally", "tally, gradient"])
def tally(request, tmp_path):
    """Return the path of a good tally, and its rows."""
    parameters, rows, y = TALLIES[request.param]
    path = tmp_path / "day.tally"
    learner(parameters, y).fit(rows, y).tally_.save(path)
    return path, rows, y


def change(path, name, changed):
    """Change an array of a file, and its checksum."""
    container = Container.unpack(path.read_bytes())
    dtype, shape, data = container.arrays[name]
    container.arrays[name] = (dtype, shape, changed(np.frombuffer(data).reshape(shape)).tobytes())
    container.seal()
    path.write_bytes(container.pack())


def solved(path, rows, y):
    model = load_model(path)
    return model.finish(model.tally_ + model.tally(rows, y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("factor", [1e40, 1e300])
def test_outputs_that_overflow_for_every_alpha(tally, factor):
    path, rows, y = tally
    change(path, "tally.statistic.cross", lambda cross: factor * cross)
    with pytest.raises(ValueError, match=r"^Outputs are not finite for any alpha: the sums are not those of rows\.$"):
        solved(path, rows, y)


@pytest.mark.parametrize("tally", ["tally, gradient"], indirect=True)
@pytest.mark.parametrize("factor", [1e12, 1e30])
def test_huge_scores_that_tie_are_calibrated_without_a_matrix(tally, factor):
    """All classes are equally likely, so rows count, and their scores dwarf the penalty in a matrix of rank one."""
    path, rows, y = tally
    change(path, "tally.statistic.cross", lambda cross: np.tile(factor * cross[:, :1], 3))
    change(path, "tally.statistic.target_sums", lambda sums: np.tile(sums[:1], 3))
    model = solved(path, rows, y)
    assert model.calibration_.name == "temperature"
    assert np.isfinite(model.predict_proba(rows)).all()
