"""A model that was saved and loaded predicts the same; a bad file gives one clear error."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.preprocessing import MinMaxScaler

from craftmaps import (
    ArcCosine,
    CraftClassifier,
    CraftMap,
    CraftRegressor,
    Exponential,
    Gaussian,
    Laplace,
    MaclaurinSeries,
    NeuralTangent,
    Polynomial,
    RandomMaclaurin,
    SubsampledHadamard,
    datasets,
    load_model,
)
from craftmaps.learners.persistence.container import ModelFileError, read, write

DIGITS = datasets.load("digits")
X, Y, X_NEW = DIGITS.X_train[:400], DIGITS.y_train[:400].astype(str), DIGITS.X_test[:100]
COMMON = {"n_components": 64, "alphas": [1e-4, 1e-2], "cv": 3, "random_state": 0}
MODELS = {
    "automatic": {},
    "craft": {"kernel": Polynomial(3), "metric": None},
    "covariance": {"kernel": Exponential(1.0), "metric": "covariance"},
    "landmarks": {"kernel": Polynomial(3), "feature_map": "landmarks"},
    "tensorsketch": {"kernel": Polynomial(2), "feature_map": "tensorsketch", "metric": None},
    "maclaurin": {"kernel": MaclaurinSeries([1, 2, 0.5]), "feature_map": "maclaurin", "metric": None},
    "neural tangent": {"kernel": NeuralTangent(2, 12), "metric": None},
    "laplace landmarks": {"kernel": Laplace(0.8), "feature_map": "landmarks", "metric": None},
    "gaussian": {"kernel": Gaussian(0.8), "metric": "covariance"},
    "arc-cosine": {"kernel": ArcCosine(9), "feature_map": "maclaurin", "metric": None},
    "rows at random on the way down": {
        "kernel": Polynomial(3),
        "feature_map": CraftMap(
            Polynomial(3), 64, up=RandomMaclaurin(Polynomial(3), 256, degrees="geometric"), down=SubsampledHadamard()
        ),
        "metric": None,
    },
    "a seed of its own on the way down": {
        "kernel": Polynomial(3),
        "feature_map": CraftMap(Polynomial(3), 64, up="tensorsketch", down=SubsampledHadamard(random_state=7)),
        "metric": None,
    },
    "linear": {"kernel": Polynomial(1), "feature_map": None, "metric": None},
    "random code": {"kernel": Polynomial(3), "metric": None, "code": "random", "decoding": "hamming"},
    "given code": {"kernel": Polynomial(3), "metric": None, "code": 2 * np.eye(10) - 1},
}


@pytest.mark.parametrize("name", MODELS)
def test_double_precision_is_exact(tmp_path, name):
    model = CraftClassifier(**COMMON | MODELS[name]).fit(X, Y)
    model.save(tmp_path / "model.craft", dtype=np.float64)
    again = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(again.decision_function(X_NEW), model.decision_function(X_NEW))
    np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))
    np.testing.assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))
    np.testing.assert_array_equal(again.coef_, model.coef_)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float16, 1e-2)])
def test_less_precision_costs_little_and_saves_bytes(tmp_path, dtype, tolerance):
    model = CraftClassifier(Polynomial(3), metric=None, **COMMON).fit(X, Y)
    model.save(tmp_path / "full.craft", dtype=np.float64)
    model.save(tmp_path / "small.craft", dtype=dtype)
    again = load_model(tmp_path / "small.craft")
    np.testing.assert_allclose(again.decision_function(X_NEW), model.decision_function(X_NEW), atol=tolerance)
    saved = (tmp_path / "full.craft").stat().st_size - (tmp_path / "small.craft").stat().st_size
    assert saved >= 64 * 10 * (8 - np.dtype(dtype).itemsize)


@pytest.mark.parametrize(
    "labels", [Y == "3", Y.astype(int) - 5, Y.astype(float), Y.astype(object)], ids=lambda y: y.dtype
)
def test_labels_keep_their_type(tmp_path, labels):
    model = CraftClassifier(Polynomial(2), metric=None, **COMMON).fit(X, labels)
    model.save(tmp_path / "model.craft")
    again = load_model(tmp_path / "model.craft")
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))


@pytest.mark.parametrize("n_targets", [None, 1, 2])
def test_regressor(tmp_path, n_targets):
    y = X @ np.random.default_rng(0).normal(size=(X.shape[1], n_targets or 1))
    model = CraftRegressor(Polynomial(2), metric=None, **COMMON).fit(X, y[:, 0] if n_targets is None else y)
    model.save(tmp_path / "model.craft", dtype=np.float64)
    np.testing.assert_array_equal(load_model(tmp_path / "model.craft").predict(X_NEW), model.predict(X_NEW))


def test_saving_solves_first_where_that_is_still_to_be_done(tmp_path):
    """Probabilities are calibrated when alpha is chosen, and are in the file too."""
    model = CraftClassifier(**COMMON | MODELS["craft"]).fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])
    model.save(tmp_path / "model.craft", dtype=np.float64)
    again = load_model(tmp_path / "model.craft")
    np.testing.assert_array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))
    whole = CraftClassifier(**COMMON | MODELS["craft"]).fit(X, Y)
    np.testing.assert_allclose(again.predict_proba(X_NEW), whole.predict_proba(X_NEW), rtol=0, atol=1e-6)


def test_a_loaded_model_does_not_go_on_learning(tmp_path):
    CraftClassifier(Polynomial(2), metric=None, **COMMON).fit(X, Y).save(tmp_path / "model.craft")
    with pytest.raises(ValueError, match=r"loaded from a file .* cannot go on learning"):
        load_model(tmp_path / "model.craft").partial_fit(X, Y)


def test_foreign_transformers_are_not_saved(tmp_path):
    model = CraftClassifier(Polynomial(2), metric=MinMaxScaler(), **COMMON).fit(X, Y)
    with pytest.raises(TypeError, match="MinMaxScaler cannot be saved"):
        model.save(tmp_path / "model.craft")
    assert not list(tmp_path.iterdir())


def test_a_projection_of_somebody_else_is_not_saved_as_ours(tmp_path):
    class Doubled(SubsampledHadamard):
        def transform(self, X):
            return 2 * super().transform(X)

    feature_map = CraftMap(Polynomial(2), 64, down=Doubled())
    model = CraftClassifier(Polynomial(2), feature_map=feature_map, metric=None, **COMMON).fit(X, Y)
    with pytest.raises(TypeError, match="its down is 'hadamard' or a SubsampledHadamard"):
        model.save(tmp_path / "model.craft")


@pytest.fixture
def model_path(tmp_path):
    CraftClassifier(Polynomial(2), metric=None, **COMMON).fit(X, Y).save(tmp_path / "model.craft")
    return tmp_path / "model.craft"


@pytest.mark.parametrize("keep", [0, 4, 8, 100, 0.5, -1])
def test_truncated_files(model_path, keep):
    content = model_path.read_bytes()
    model_path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(ModelFileError, match=r"model\.craft is not a model file"):
        load_model(model_path)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(500), b"\xff" * 64, b"text" * 50, b"\x00" * 9])
def test_files_of_another_kind(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ModelFileError, match="other is not a model file"):
        load_model(tmp_path / "other")


def test_safetensors_of_somebody_else(tmp_path):
    save_file({"weights": np.ones(3)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="not a model of craftmaps"):
        load_model(tmp_path / "other")


def test_other_readers_of_safetensors_read_a_model(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3
    model = CraftClassifier(Polynomial(2), 16, metric="covariance", random_state=0).fit(X, y)
    model.save(tmp_path / "model", dtype=np.float64)
    arrays = load_file(tmp_path / "model")
    np.testing.assert_array_equal(arrays["weights"], load_model(tmp_path / "model")._solved.coef)
    with safe_open(tmp_path / "model", framework="numpy") as file:
        assert json.loads(file.metadata()["craftmaps"])["model"] == "CraftClassifier"


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_model(tmp_path / "nothing")


def changed(path, change):
    """Write a model file again with another header."""
    header = read(path)
    change(header)
    write(path, header)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("lift"),
        lambda header: header.update(model="os.system"),
        lambda header: header.update(seed=float("inf")),
        lambda header: header.update(weights=header["weights"][:, 1:]),
        lambda header: header["lift"]["feature_map"].update({"class": "Popen"}),
        lambda header: header["lift"]["feature_map"]["up"]["parameters"].update(n_components=10**12),
        lambda header: header["lift"]["feature_map"]["up"].update(n_features_in_=10**12),
        lambda header: header["lift"]["feature_map"]["parameters"].update(kernel={"class": "eval", "parameters": {}}),
        lambda header: header["classes"].update(dtype="V8"),
    ],
)
def test_hostile_headers_run_nothing_and_allocate_little(model_path, change):
    with pytest.raises(ModelFileError, match=r"model\.craft has a damaged header"):
        load_model(changed(model_path, change))


def test_an_older_version_says_so(model_path):
    with pytest.raises(ModelFileError, match=r"format version 1, .* train the model again"):
        load_model(changed(model_path, lambda header: header.update(version=1)))


def test_a_newer_version_says_so(model_path):
    with pytest.raises(ModelFileError, match="format version 99"):
        load_model(changed(model_path, lambda header: header.update(version=99)))


def test_a_file_from_before_checksums_gives_the_same_numbers():
    """Files that an earlier version wrote are read for good: these numbers are what that version predicted."""
    model = load_model(Path(__file__).parent / "files" / "version_2.craft")
    rows = np.arange(60.0).reshape(15, 4) % 7 - 3
    scores = [
        [0.13290331187600415, 0.18073316439904896, 0.01969685705827999],
        [0.30011579042667447, -0.3074921079242212, 0.34070965083088],
        [0.3455437834636932, 0.09080963519674319, -0.10302008532710305],
    ]
    np.testing.assert_allclose(model.decision_function(rows[:3]), scores, rtol=1e-12)
    assert model.predict(rows[:6]).tolist() == ["no", "yes", "maybe", "no", "maybe", "no"]
    assert model.notes_ == {"from": "before checksums"}


def test_a_changed_number_is_noticed(model_path):
    content = bytearray(model_path.read_bytes())
    for place in (len(content) - 3, content.index(b'\\"alpha\\": 0.') + 13):
        changed_content = bytearray(content)
        changed_content[place] ^= 1
        model_path.write_bytes(changed_content)
        with pytest.raises(
            ModelFileError, match=r"model\.craft is damaged: its content does not agree with its checksum"
        ):
            load_model(model_path)


def test_a_checksum_that_is_gone_is_noticed(model_path):
    model_path.write_bytes(model_path.read_bytes().replace(b'"checksum": "', b'"checksun": "'))
    with pytest.raises(ModelFileError, match="does not agree with its checksum"):
        load_model(model_path)


def test_the_header_is_json_and_names_the_map(model_path):
    size = int.from_bytes(model_path.read_bytes()[:8], "little")
    metadata = json.loads(model_path.read_bytes()[8 : 8 + size])["__metadata__"]
    header = json.loads(metadata["craftmaps"])
    assert header["lift"]["feature_map"]["class"] == "CraftMap"
    assert header["lift"]["feature_map"]["parameters"]["random_state"] >= 0
