"""A seed determines the features, in this and in any other process."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from tests.catalogue import MAPS, SEEDED

PROJECT = Path(__file__).parents[2]


def fingerprints(X):
    """Return a digest of the features of every map."""
    return {name: hashlib.sha256(clone(m).fit_transform(X).tobytes()).hexdigest() for name, m in MAPS.items()}


@pytest.mark.parametrize("name", SEEDED)
def test_same_seed_same_features(rows, seed, name):
    first, second = (clone(MAPS[name]).set_params(random_state=seed).fit_transform(rows) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", MAPS)
def test_refitting_forgets_the_first_fit(rows, name):
    feature_map = clone(MAPS[name])
    expected = feature_map.fit(rows).transform(rows)
    again = feature_map.fit(rows[:40, :7] * 3).fit(rows).transform(rows)
    np.testing.assert_array_equal(again, expected)


def test_same_features_in_a_fresh_process(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    script = (
        "import json, sys, numpy; from tests.laws.test_same_seed import fingerprints;"
        "print(json.dumps(fingerprints(numpy.load(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "rows.npy")],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == fingerprints(rows)


@pytest.mark.parametrize("name", SEEDED)
def test_other_seed_other_features(rows, name):
    first, second = (clone(MAPS[name]).set_params(random_state=seed).fit_transform(rows) for seed in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", SEEDED)
def test_without_a_seed_every_fit_is_another_draw(rows, name):
    feature_map = clone(MAPS[name]).set_params(random_state=None)
    assert feature_map.fit(rows).seed_ != feature_map.fit(rows).seed_


@pytest.mark.parametrize("name", SEEDED)
def test_a_random_state_is_drawn_from(rows, name):
    state = np.random.RandomState(3)
    first, second = (clone(MAPS[name]).set_params(random_state=state).fit(rows).seed_ for _ in range(2))
    again = clone(MAPS[name]).set_params(random_state=np.random.RandomState(3)).fit(rows).seed_
    assert first == again != second
