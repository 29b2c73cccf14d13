"""A run that was interrupted and resumed ends in the same model, byte for byte."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MinMaxScaler

from craftmaps import CraftClassifier, CraftMap, CraftRegressor, Polynomial, datasets
from craftmaps.learners.persistence.container import ModelFileError
from tests.faults.fuzzing.containers import Container

DIGITS = datasets.load("digits")
X, Y = DIGITS.X_train, DIGITS.y_train.astype(str)
COMMON = {"n_components": 48, "alphas": [1e-4, 1e-2], "cv": 3, "holdout_rows": 300, "random_state": 0}
EXPLICIT = COMMON | {"kernel": Polynomial(3), "metric": None}


class Interrupted(Exception):  # noqa: N818
    """Stands for whatever ends a run."""


def blocks(rows=X, labels=Y, stop=None, size=100):
    for i, start in enumerate(range(0, len(labels), size)):
        if i == stop:
            raise Interrupted
        yield rows[start : start + size], labels[start : start + size]


def saved(model, path):
    model.save(path, dtype=np.float64)
    return path.read_bytes()


FEW = {"rows": X[:600], "labels": Y[:600], "size": 40}  # the search of kernel and metric looks at all of them
SETTINGS = {
    "explicit": {"kernel": Polynomial(3), "metric": None},
    "automatic": {},
    "landmarks": {"feature_map": "landmarks"},
}


@pytest.fixture(scope="module")
def whole_runs():
    """Return the model file of a run that was not interrupted, made once for all that are."""
    made = {}

    def run(settings, settle_rows, folder):
        if (settings, settle_rows) not in made:
            model = CraftClassifier(**COMMON | SETTINGS[settings]).fit_stream(blocks(**FEW))
            made[settings, settle_rows] = saved(model, folder / "whole")
        return made[settings, settle_rows]

    return run


# Runs that settle on 120 rows are stopped before that by the first stop alone, all other runs by every stop.
@pytest.mark.parametrize("first_rows", [8192, 120])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("stop", [2, 7, 14])
def test_resumed_runs_end_alike(tmp_path, monkeypatch, whole_runs, first_rows, settings, stop):
    monkeypatch.setattr(CraftClassifier, "settle_rows", first_rows)
    checkpoint, parameters = tmp_path / "run.checkpoint", COMMON | SETTINGS[settings]
    whole = whole_runs(settings, first_rows, tmp_path)
    with pytest.raises(Interrupted):
        CraftClassifier(**parameters).fit_stream(blocks(**FEW, stop=stop), checkpoint=checkpoint, every=60)
    assert checkpoint.exists()
    resumed = CraftClassifier(**parameters).fit_stream(blocks(**FEW), checkpoint=checkpoint, every=60)
    assert saved(resumed, tmp_path / "resumed") == whole
    assert not checkpoint.exists()


def test_sparse_rows_and_regression(tmp_path):
    rows, targets = sp.csr_matrix(X), X @ np.random.default_rng(0).normal(size=(X.shape[1], 2))
    checkpoint = tmp_path / "run.checkpoint"
    whole = CraftRegressor(**EXPLICIT).fit_stream(blocks(rows, targets))
    with pytest.raises(Interrupted):
        CraftRegressor(**EXPLICIT).fit_stream(blocks(rows, targets, stop=9), checkpoint=checkpoint, every=100)
    resumed = CraftRegressor(**EXPLICIT).fit_stream(blocks(rows, targets), checkpoint=checkpoint, every=100)
    assert saved(resumed, tmp_path / "resumed") == saved(whole, tmp_path / "whole")


def test_a_checkpoint_of_other_parameters_is_refused(tmp_path):
    checkpoint = tmp_path / "run.checkpoint"
    with pytest.raises(Interrupted):
        CraftClassifier(**EXPLICIT).fit_stream(blocks(stop=5), checkpoint=checkpoint, every=100)
    with pytest.raises(ModelFileError, match="n_components=48, expected 32"):
        CraftClassifier(**EXPLICIT | {"n_components": 32}).fit_stream(blocks(), checkpoint=checkpoint)
    with pytest.raises(ModelFileError, match="not a checkpoint of a CraftRegressor"):
        CraftRegressor(**EXPLICIT).fit_stream(blocks(), checkpoint=checkpoint)


def test_other_blocks_than_those_counted_are_refused(tmp_path):
    checkpoint = tmp_path / "run.checkpoint"
    weighted = [(rows, labels, np.arange(len(labels)) > 9) for rows, labels in blocks()]  # ten of them do not count

    def broken():
        yield from weighted[:5]
        raise Interrupted

    with pytest.raises(Interrupted):
        CraftClassifier(**EXPLICIT).fit_stream(broken(), checkpoint=checkpoint, every=90)
    for others, got in ((weighted[:2], "2 of 180"), (blocks(), "5 of 500"), (blocks(size=50), "5 of 250")):
        with pytest.raises(ValueError, match=rf"run\.checkpoint has counted, 5 of 450 rows, got {got} rows\."):
            CraftClassifier(**EXPLICIT).fit_stream(others, checkpoint=checkpoint)
    resumed = CraftClassifier(**EXPLICIT).fit_stream(weighted, checkpoint=checkpoint)
    assert resumed.n_rows_seen_ == sum(np.count_nonzero(weight) for _, _, weight in weighted)
    assert not checkpoint.exists()


def test_what_a_checkpoint_cannot_hold_is_refused_before_the_first_block(tmp_path):
    def blocks_never_asked_for():
        raise AssertionError
        yield

    for parameters in ({"metric": MinMaxScaler()}, {"feature_map": CraftMap(down="gaussian")}):
        with pytest.raises(TypeError, match=r"cannot be saved|can be saved if"):
            CraftClassifier(**EXPLICIT | parameters).fit_stream(blocks_never_asked_for(), checkpoint=tmp_path / "state")


def test_a_truncated_checkpoint_is_refused(tmp_path):
    checkpoint = tmp_path / "run.checkpoint"
    checkpoint.write_bytes(b"\x10\x00\x00")
    with pytest.raises(ModelFileError, match="not a model file"):
        CraftClassifier(**EXPLICIT).fit_stream(blocks(), checkpoint=checkpoint)


@pytest.fixture
def checkpoint_path(tmp_path):
    with pytest.raises(Interrupted):
        CraftClassifier(**EXPLICIT).fit_stream(blocks(stop=5), checkpoint=tmp_path / "run.checkpoint", every=100)
    return tmp_path / "run.checkpoint"


def test_a_changed_number_is_noticed(checkpoint_path):
    content = checkpoint_path.read_bytes()
    for place in np.linspace(len(content) // 10, len(content) - 1, 12).astype(int):
        changed = bytearray(content)
        changed[place] ^= 4
        checkpoint_path.write_bytes(changed)
        with pytest.raises(ModelFileError, match=r"run\.checkpoint is damaged: its content does not agree"):
            CraftClassifier(**EXPLICIT).fit_stream(blocks(), checkpoint=checkpoint_path)


def test_a_checkpoint_from_before_checksums_is_refused(checkpoint_path):
    file = Container.unpack(checkpoint_path.read_bytes())
    file.text, file.checksum = file.text.replace(', "checksum": "crc32"', ""), None
    checkpoint_path.write_bytes(file.pack())
    with pytest.raises(ModelFileError, match=r"run\.checkpoint has no checksum, .* begin the run again"):
        CraftClassifier(**EXPLICIT).fit_stream(blocks(), checkpoint=checkpoint_path)


RUN = """
import sys, time
from craftmaps import CraftClassifier, Polynomial, datasets
digits = datasets.load("digits")
def blocks():
    for start in range(0, 1400, 20):
        print(start, flush=True)
        time.sleep(0.01)
        yield digits.X_train[start:start + 20], digits.y_train[start:start + 20].astype(str)
model = CraftClassifier(Polynomial(3), 48, metric=None, alphas=[1e-4, 1e-2], cv=3, holdout_rows=300, random_state=0)
model.fit_stream(blocks(), checkpoint=sys.argv[1], every=20)
model.save(sys.argv[2], dtype="float64")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_runs_end_alike(tmp_path):
    def start(name):
        command = [sys.executable, "-c", RUN, str(tmp_path / "run.checkpoint"), str(tmp_path / name)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def finish(name):
        with start(name) as run:
            run.communicate(timeout=600)
        assert run.returncode == 0
        return (tmp_path / name).read_bytes()

    whole = finish("whole")
    rng = np.random.default_rng(0)
    for _ in range(3):
        with start("killed") as run:
            for _ in range(int(rng.integers(5, 20))):
                run.stdout.readline()
            time.sleep(float(rng.uniform(0, 0.01)))
            os.kill(run.pid, signal.SIGKILL)
        assert not (tmp_path / "killed").exists()
    assert finish("killed") == whole
